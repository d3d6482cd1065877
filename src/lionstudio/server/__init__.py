"""FRONT DOOR: HTTP. Translate requests to use cases; every rule is below."""
