"""One file of routes per noun: parse, call a use case, wrap its answer."""
