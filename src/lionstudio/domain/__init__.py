"""WHAT IS TRUE. Vocabularies and rules as pure functions: standard library only, no I/O, clock or random."""
