"""What goes over the wire, one file per noun; the same names as the routes."""
