"""What a run was expected to leave: which of it is there when the run ends."""

import os
from collections.abc import Iterator, Sequence
from glob import iglob
from itertools import islice
from typing import Any

MOST_NAMED = 100  # files for each pattern: that some are there is what counts


def look_for(expected: Sequence[str], folder: str) -> dict[str, Any]:
    """The facts about the patterns: which files fit them, and which of those cannot be used."""
    found = list(dict.fromkeys(name for pattern in expected for name in _names(pattern, folder)))
    invalid = [name for name in found if not _is_usable(os.path.join(folder, name))]
    return {"expected": list(expected), "found": found, "invalid": invalid}


def _names(pattern: str, folder: str) -> Iterator[str]:
    return islice(iglob(pattern, root_dir=folder, recursive=True), MOST_NAMED)


def _is_usable(path: str) -> bool:
    """Whether there is something in a file or folder, and it can be read."""
    try:
        if os.path.isdir(path):
            return any(os.scandir(path))
        with open(path, "rb") as file:
            return bool(file.read(1))
    except OSError:
        return False
