"""When a database should be looked after, and by which numbers."""

import pytest

from lionstudio.domain.upkeep import (
    advise_checkpoint,
    advise_vacuum_of_file,
    advise_vacuum_on_server,
    estimate_export,
)

MB = 1_000_000


@pytest.mark.parametrize(
    ("size", "free", "recommended"),
    [
        pytest.param(0, 0, False, id="an empty file"),
        pytest.param(1_000 * MB, 240 * MB, False, id="less than a quarter is unused"),
        pytest.param(1_000 * MB, 250 * MB, True, id="a quarter is unused"),
        pytest.param(100 * MB, 63 * MB, False, id="much of a small file"),
        pytest.param(100 * MB, 64 * MB, True, id="just enough to be worth it"),
    ],
)
def test_a_vacuum_is_recommended_when_it_gives_much_back(size: int, free: int, recommended: bool):
    advice = advise_vacuum_of_file(size=size, free_size=free)
    assert advice.recommended is recommended
    assert f"{free / MB:,.1f} MB of {size / MB:,.1f} MB are unused" in advice.sentence


@pytest.mark.parametrize(
    ("live", "dead", "recommended"),
    [
        (0, 0, False),
        (1_000_000, 200_000, False),
        (10, 99_999, False),
        (100_000, 100_000, True),
    ],
)
def test_a_server_is_helped_when_its_own_vacuum_does_not_keep_up(live: int, dead: int, recommended: bool):
    advice = advise_vacuum_on_server(live_rows=live, dead_rows=dead)
    assert advice.recommended is recommended
    assert f"{dead:,} of {live + dead:,} rows are dead" in advice.sentence


def test_a_checkpoint_is_recommended_when_the_log_did_not_stay_small():
    assert advise_checkpoint(log_size=4 * MB) == (
        False,
        "4.0 MB are in the log; it is moved by itself every few megabytes.",
    )
    assert advise_checkpoint(log_size=64 * MB).recommended


def test_an_export_takes_about_as_much_as_is_in_use():
    assert estimate_export(size=847, log_size=4, free_size=10) == 841
    assert estimate_export(size=500, log_size=None, free_size=None) == 500
