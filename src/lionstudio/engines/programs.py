"""The programs that engines run: where each is, and how to get it."""

import os
from typing import NamedTuple

from lionstudio.domain.errors import NotFound


class Program(NamedTuple):
    """A program that has to be installed."""

    command: str
    title: str  # as people know it
    variable: str  # of the environment: a path, where it is not found by its name
    install: str

    @property
    def path(self) -> str:
        """Where it is, or its name if it is nowhere."""
        return os.environ.get(self.variable) or self.command

    def require(self) -> None:
        """Raise NotFound, which says how to install it, if it is not here."""
        from shutil import which

        if which(self.path) is None:
            told = os.environ.get(self.variable)
            where = (
                f"{self.variable} says {told!r}, and no program is there" if told else f"no {self.command} was found"
            )
            raise NotFound(
                f"{self.title} is not installed: {where}.",
                hint=f"Install it with {self.install}, or set {self.variable} to its path.",
            )
