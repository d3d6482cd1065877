"""FRONT DOOR: TERMINAL. Translate argv to use cases."""
