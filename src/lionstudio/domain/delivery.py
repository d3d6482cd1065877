"""Delivery: whether the files that a run was expected to leave are there (D4)."""

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

DELIVERY = "delivery"  # the key of a session's node_metadata: {"expected": globs, "found": paths, "invalid": paths}


class Delivery(StrEnum):
    """Whether the files that were promised are there."""

    PASSED = "passed"
    PARTIAL = "partial"
    MISSING = "missing"
    INVALID = "invalid"
    NOT_EXPECTED = "not_expected"


class Delivered(NamedTuple):
    """What came of the files that were expected of a run. Before anybody has looked, nothing was found."""

    delivery: Delivery = Delivery.NOT_EXPECTED
    lacking: tuple[str, ...] = ()  # globs that no file fits
    invalid: tuple[str, ...] = ()  # files that cannot be used
    found: tuple[str, ...] = ()


NOTHING_EXPECTED = Delivered()


def read_delivered(node_metadata: Mapping[str, Any] | None) -> Delivered:
    """What the metadata of a session says about its files."""
    told = node_metadata.get(DELIVERY) if node_metadata else None
    if not isinstance(told, Mapping):
        return NOTHING_EXPECTED
    expected, found, invalid = (_texts(told.get(name)) for name in ("expected", "found", "invalid"))
    lacking = tuple(glob for glob in expected if not any(_matches(name, glob) for name in found))
    return Delivered(derive_delivery(expected, found, invalid), lacking, invalid, found)


def derive_delivery(expected: Collection[str], found: Collection[str], invalid: Collection[str] = ()) -> Delivery:
    """What came of the expected globs, given the files found and those of them that cannot be used."""
    if not expected:
        return Delivery.NOT_EXPECTED
    if any(_matches(name, glob) for name in invalid for glob in expected):
        return Delivery.INVALID
    met = sum(any(_matches(name, glob) for name in found) for glob in expected)
    return Delivery.PASSED if met == len(expected) else Delivery.PARTIAL if met else Delivery.MISSING


def _texts(value: object) -> tuple[str, ...]:
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, Sequence) else ()


def _matches(name: str, glob: str) -> bool:
    """Whether a path fits a glob in which `*` stays within one folder and `**` stands for any number of them."""
    return _parts_match(name.split("/"), glob.split("/"))


def _parts_match(names: Sequence[str], globs: Sequence[str]) -> bool:
    if not globs:
        return not names
    if globs[0] == "**":
        return _parts_match(names, globs[1:]) or (bool(names) and _parts_match(names[1:], globs))
    return bool(names) and fnmatchcase(names[0], globs[0]) and _parts_match(names[1:], globs[1:])
