"""The play graph: who may start, who waits for whom, cycles, order and the critical path."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionstudio.domain.errors import InvalidRequest, PlayGraphCycle
from lionstudio.domain.play_graph import Obstacle, PlayGraph, UnknownDependency
from lionstudio.domain.show import Play, PlayStatus


def play(name: str, depends_on: str = "", status: str = "pending", **more: object) -> Play:
    return Play(
        id=f"id-{name}",
        show_id="show",
        name=name,
        created_at=1.0,
        updated_at=1.0,
        status=PlayStatus(status),
        depends_on=tuple(depends_on.split()),
        **more,
    )


def names(plays) -> list[str]:
    return [each.name for each in plays]


@st.composite
def graphs(draw, acyclic: bool = False):
    """Any small plan; an acyclic one lets plays depend on earlier ones only, in an order unlike the plan's."""
    count = draw(st.integers(0, 9))
    shuffled = draw(st.permutations([f"p{index}" for index in range(count)]))
    plays = []
    for index, name in enumerate(shuffled):
        allowed = shuffled[:index] if acyclic else [*shuffled, "nobody"]
        wanted = draw(st.lists(st.sampled_from(allowed), max_size=4)) if allowed else []
        status = draw(st.sampled_from(list(PlayStatus)))
        order = draw(st.integers(0, 3))
        ended = draw(st.none() | st.integers(10, 60))
        plays.append(
            play(name, " ".join(wanted), status, sort_order=order, started_at=10.0, ended_at=ended and float(ended))
        )
    return PlayGraph.of(plays)


@pytest.mark.parametrize(
    ("plays", "expected"),
    [
        pytest.param([play("a"), play("b")], ["a", "b"], id="nothing to wait for"),
        pytest.param([play("a", status="merged"), play("b", "a")], ["b"], id="its dependency is merged"),
        pytest.param([play("a", status="gated"), play("b", "a")], [], id="passed is not merged"),
        pytest.param([play("a", status="merged"), play("b"), play("c", "a b")], ["b"], id="one of two is merged"),
        pytest.param([play("a", "nobody")], [], id="a dependency that does not exist is never merged"),
        pytest.param([play("a", status="blocked")], [], id="a blocked play is freed first"),
        pytest.param([play("b", sort_order=1), play("a", sort_order=2)], ["b", "a"], id="in the order of the plan"),
    ],
)
def test_a_pending_play_is_ready_when_all_it_depends_on_is_merged(plays, expected):
    assert names(PlayGraph.of(plays).ready()) == expected


def test_a_dependency_that_names_no_play_is_reported():
    graph = PlayGraph.of([play("a", "nobody b"), play("b", "ghost")])
    assert graph.unknown == (UnknownDependency("a", "nobody"), UnknownDependency("b", "ghost"))


def test_a_dependency_named_twice_counts_once():
    assert PlayGraph.of([play("a"), play("b", "a a")]).dependencies["b"] == ("a",)


def test_two_plays_of_one_name_are_refused():
    with pytest.raises(InvalidRequest, match="same name: a"):
        PlayGraph.of([play("a"), play("a"), play("b")])


@pytest.mark.parametrize(
    ("plays", "cycle"),
    [
        pytest.param([play("a", "a")], ("a",), id="waits for itself"),
        pytest.param([play("b", "a"), play("a", "b")], ("a", "b"), id="two wait for each other"),
        pytest.param([play("c", "a"), play("a", "b"), play("b", "c"), play("d", "a")], ("a", "b", "c"), id="three"),
        pytest.param([play("a", "b"), play("b"), play("c", "a b")], None, id="a triangle that is no cycle"),
    ],
)
def test_a_cycle_is_named_in_order(plays, cycle):
    assert PlayGraph.of(plays).find_cycle() == cycle


@pytest.mark.parametrize("ask", [PlayGraph.order, PlayGraph.blocked_by, PlayGraph.critical_path])
def test_what_needs_an_order_refuses_a_cycle_by_naming_it(ask):
    with pytest.raises(PlayGraphCycle, match="wait for each other: a -> b -> a"):
        ask(PlayGraph.of([play("b", "a"), play("a", "b"), play("c")]))


def test_the_order_keeps_to_the_plan_where_dependencies_allow():
    plays = [
        play("z", sort_order=1),
        play("b", "z", sort_order=2),
        play("a", sort_order=2),
        play("c", "a", sort_order=0),
    ]
    assert names(PlayGraph.of(plays).order()) == ["z", "a", "c", "b"]


def test_what_blocks_a_play_is_named_with_its_root_cause():
    graph = PlayGraph.of(
        [
            play("api", status="escalated"),
            play("docs", "api", status="blocked"),
            play("lint", status="running"),
            play("release", "docs lint"),
            play("site", "nobody"),
        ]
    )
    assert graph.blocked_by() == (
        Obstacle("docs", waits_for=("api",), because_of=("api",), unknown=()),
        Obstacle("release", waits_for=("docs", "lint"), because_of=("api",), unknown=()),
        Obstacle("site", waits_for=(), because_of=(), unknown=("nobody",)),
    )


def test_waiting_for_a_running_play_has_no_cause():
    graph = PlayGraph.of([play("a", status="running"), play("b", "a")])
    assert graph.blocked_by() == (Obstacle("b", waits_for=("a",), because_of=(), unknown=()),)


def test_a_merged_play_holds_nobody_back_whatever_stands_behind_it():
    graph = PlayGraph.of([play("a", status="escalated"), play("b", "a", status="merged"), play("c", "b")])
    assert graph.blocked_by() == ()


def test_a_play_that_can_never_start_is_the_cause_for_those_behind_it():
    graph = PlayGraph.of([play("a", "nobody"), play("b", "a")])
    assert graph.blocked_by()[1] == Obstacle("b", waits_for=("a",), because_of=("a",), unknown=())


LONG = {"started_at": 0.0, "ended_at": 100.0}
SHORT = {"started_at": 0.0, "ended_at": 1.0}


@pytest.mark.parametrize(
    ("plays", "seconds", "expected"),
    [
        pytest.param([], {}, [], id="no plays"),
        pytest.param([play("a"), play("b", "a"), play("c")], {}, ["a", "b"], id="most plays, when no time is known"),
        pytest.param([play("a", **LONG), play("b", **SHORT), play("c", "b", **SHORT)], {}, ["a"], id="longest time"),
        pytest.param([play("a"), play("b")], {"b": 9, "a": 5}, ["b"], id="an estimate counts"),
        pytest.param([play("a", **LONG), play("b", **SHORT)], {"b": 500}, ["b"], id="an estimate before a measure"),
        pytest.param(
            [play("a", **LONG), play("b"), play("c", "b")],
            {},
            ["b", "c"],
            id="unknown plays weigh the mean of the known",
        ),
        pytest.param(
            [play("a"), play("b"), play("c", "b a")], {}, ["a", "c"], id="of equal ones the first in the plan"
        ),
        pytest.param([play("a"), play("b", "a")], {"b": 0}, ["a", "b"], id="of equal lengths the one with more plays"),
    ],
)
def test_the_critical_path_is_the_longest_chain(plays, seconds, expected):
    assert names(PlayGraph.of(plays).critical_path(seconds)) == expected


def test_ten_thousand_plays_in_one_chain_are_walked():
    count = 10_000
    chain = [play(f"p{n:05}", f"p{n - 1:05}" if n else "", sort_order=count - n) for n in range(count)]
    graph = PlayGraph.of([*chain])
    expected = [f"p{n:05}" for n in range(count)]
    assert names(graph.order()) == expected
    assert names(graph.critical_path()) == expected
    assert graph.find_cycle() is None
    assert len(graph.blocked_by()) == count - 1


def test_a_cycle_of_ten_thousand_plays_is_found():
    count = 10_000
    ring = [play(f"p{n:05}", f"p{(n + 1) % count:05}") for n in range(count)]
    assert PlayGraph.of(ring).find_cycle() == tuple(f"p{n:05}" for n in range(count))


@given(graphs(acyclic=True))
def test_the_order_respects_every_dependency(graph):
    place = {name: index for index, name in enumerate(names(graph.order()))}
    assert set(place) == set(graph.plays)
    assert all(place[other] < place[name] for name in place for other in graph.dependencies[name])


@given(graphs())
def test_a_reported_cycle_is_one_and_without_one_there_is_an_order(graph):
    cycle = graph.find_cycle()
    if cycle is None:
        assert len(graph.order()) == len(graph.plays)
    else:
        pairs = zip(cycle, (*cycle[1:], cycle[0]), strict=True)
        assert all(following in graph.dependencies[name] for name, following in pairs)
        assert len(set(cycle)) == len(cycle)


@given(graphs())
def test_ready_plays_are_pending_and_wait_for_nothing(graph):
    ready = graph.ready()
    for each in ready:
        assert each.status is PlayStatus.PENDING
        assert all(graph.plays[name].status is PlayStatus.MERGED for name in each.depends_on)
    rest = [each for each in graph.plays.values() if each.status is PlayStatus.PENDING and each not in ready]
    for each in rest:
        assert any(
            name not in graph.plays or graph.plays[name].status is not PlayStatus.MERGED for name in each.depends_on
        )


@given(graphs(acyclic=True))
def test_the_critical_path_is_a_path_and_no_chain_is_longer(graph):
    path = names(graph.critical_path(dict.fromkeys(graph.plays, 1.0)))
    assert all(before in graph.dependencies[after] for before, after in pairwise(path))
    depth: dict[str, int] = {}
    for each in graph.order():
        depth[each.name] = 1 + max((depth[name] for name in graph.dependencies[each.name]), default=0)
    assert len(path) == max(depth.values(), default=0)


@given(graphs(acyclic=True))
def test_every_pending_play_is_either_ready_or_has_an_obstacle(graph):
    pending = {name for name, each in graph.plays.items() if each.status is PlayStatus.PENDING}
    held = {obstacle.play for obstacle in graph.blocked_by()} & pending
    assert set(names(graph.ready())) | held == pending
    assert not set(names(graph.ready())) & held
