"""`python -m lionstudio` is the command `lionstudio`."""

from lionstudio.cli.main import entry

entry()
