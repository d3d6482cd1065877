"""Moments as people type them."""

from datetime import UTC, timedelta, timezone

import pytest

from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.moments import parse_since

NOW = 1_790_000_000.0
MAY_FIRST = 1_777_593_600.0  # 2026-05-01T00:00:00Z


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("90s", NOW - 90),
        ("30m", NOW - 1_800),
        ("12h", NOW - 43_200),
        ("7d", NOW - 604_800),
        ("2w", NOW - 1_209_600),
        ("1.5h", NOW - 5_400),
        (" 30 M ", NOW - 1_800),
        ("0d", NOW),
        ("2026-05-01", MAY_FIRST),
        ("2026-05-01T14:30", MAY_FIRST + 14.5 * 3600),
        ("2026-05-01 14:30:10", MAY_FIRST + 14.5 * 3600 + 10),
        ("2026-05-01T02:00+02:00", MAY_FIRST),
        ("2026-05-01T00:00:00Z", MAY_FIRST),
    ],
)
def test_ages_and_dates(typed, expected):
    assert parse_since(typed, now=NOW, zone=UTC) == expected


def test_a_date_without_a_zone_is_of_the_zone_of_who_types():
    assert parse_since("2026-05-01", now=NOW, zone=timezone(timedelta(hours=2))) == MAY_FIRST - 7_200


@pytest.mark.parametrize("typed", ["", "yesterday", "7", "-3d", "3 fortnights", "2026-13-01", "1e999d", "nan", "inf"])
def test_anything_else_is_refused_with_examples(typed):
    with pytest.raises(InvalidRequest, match="neither an age nor a date") as caught:
        parse_since(typed, now=NOW)
    assert caught.value.hint == "Type 30m, 12h, 7d, 2026-05-01 or 2026-05-01T14:30."
