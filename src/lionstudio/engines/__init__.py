"""Agents run: each kind of agent behind one small interface, alone, in steps, or many at once."""
