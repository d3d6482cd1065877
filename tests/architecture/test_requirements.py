"""docs/requirements.md is honest: it names every requirement once, and only tests that exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NUMBERS = [*(f"R{number}" for number in range(1, 197)), *(f"D{number}" for number in range(1, 13))]
ROW = re.compile(r"(?m)^\| ([RD]\d+) \| ([^|]+) \| ([^|]+) \|$")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
NOT_YET = "not yet"

ROWS = ROW.findall((ROOT / "docs" / "requirements.md").read_text())


@cache
def names_in(path: str) -> frozenset[str]:
    file = ROOT / path
    if not file.exists():
        return frozenset()
    nodes = ast.walk(ast.parse(file.read_text()))
    return frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_every_requirement_is_named_exactly_once():
    assert [number for number, _, _ in ROWS] == NUMBERS


@pytest.mark.parametrize(("number", "proof"), [(number, proof) for number, _, proof in ROWS])
def test_the_proof_of_a_requirement_exists(number, proof):
    named = TEST.findall(proof)
    assert named or NOT_YET in proof, "name a test, or say: not yet"
    assert [f"{path}::{test}" for path, test in named if test not in names_in(path)] == []
    # Nothing else may stand there that looks like a proof and is none.
    assert proof.count("`") == 2 * len(named)
