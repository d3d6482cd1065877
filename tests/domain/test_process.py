import pytest

from lionstudio.domain.process import NOTHING_RECORDED, ProcessRole, ProcessState, combine_looks, judge_process
from tests.domain.factories import HERE, make_look, make_record, make_seen

ALIVE, DEAD, UNKNOWN = ProcessState.ALIVE, ProcessState.DEAD, ProcessState.UNKNOWN


def test_a_process_is_alive_when_place_pid_and_start_time_match():
    look = judge_process(make_record(), here=HERE, seen=make_seen(), could_look=True)
    assert (look.state, look.role, look.pid) == (ALIVE, ProcessRole.AGENT, 123)
    assert look.sentence == "pid 123 is alive on atlas-02, same boot and start time."


@pytest.mark.parametrize(
    ("there", "expected", "sentence"),
    [
        pytest.param(
            {"host": "lion-01"}, UNKNOWN, "pid 123 is on lion-01 and cannot be seen from atlas-02.", id="host"
        ),
        pytest.param({"host": None}, UNKNOWN, "The host of pid 123 is not known.", id="no host"),
        pytest.param({"boot_id": "boot-6"}, DEAD, "atlas-02 was rebooted since pid 123 started.", id="rebooted"),
        pytest.param(
            {"boot_id": None},
            UNKNOWN,
            "Whether atlas-02 was rebooted since pid 123 started is not known.",
            id="no boot",
        ),
        pytest.param(
            {"pid_namespace": "other"},
            UNKNOWN,
            "pid 123 is in another pid namespace of atlas-02 and cannot be seen.",
            id="namespace",
        ),
        pytest.param({"pid_namespace": None}, UNKNOWN, "The pid namespace of pid 123 is not known.", id="no namespace"),
        pytest.param({"host": "lion-01", "boot_id": "boot-6"}, UNKNOWN, None, id="another host has another boot id"),
        pytest.param({"boot_id": "boot-6", "pid_namespace": "other"}, DEAD, None, id="a reboot ends every namespace"),
    ],
)
@pytest.mark.parametrize(
    "seen", [pytest.param(make_seen(), id="pid exists here"), pytest.param(None, id="no such pid")]
)
def test_a_process_recorded_elsewhere_is_unknown_and_one_before_a_reboot_is_dead(there, expected, sentence, seen):
    look = judge_process(make_record(HERE._replace(**there)), here=HERE, seen=seen, could_look=True)
    assert look.state is expected
    assert sentence in (None, look.sentence)


@pytest.mark.parametrize("missing", ["host", "boot_id", "pid_namespace"])
def test_two_unknown_places_are_not_the_same_place(missing):
    nowhere = HERE._replace(**{missing: None})
    assert judge_process(make_record(nowhere), here=nowhere, seen=make_seen(), could_look=True).state is UNKNOWN


@pytest.mark.parametrize(
    ("record", "seen", "expected", "sentence"),
    [
        pytest.param({}, None, DEAD, "pid 123 is gone from atlas-02.", id="no such pid"),
        pytest.param({}, make_seen(start_time=9), DEAD, "pid 123 now belongs to another process.", id="pid reused"),
        pytest.param(
            {}, make_seen(state="Z"), DEAD, "pid 123 has ended and waits to be collected (state Z).", id="zombie"
        ),
        pytest.param({}, make_seen(state="X"), DEAD, None, id="being taken down"),
        pytest.param({}, make_seen(state="T"), ALIVE, None, id="stopped is not ended"),
        pytest.param({}, make_seen(state=None), ALIVE, None, id="state not known"),
        pytest.param({}, make_seen(start_time=5000.0), ALIVE, None, id="start time read back as a float"),
        pytest.param({"start_time": None}, make_seen(), UNKNOWN, None, id="start time not recorded"),
        pytest.param({"start_time": None}, None, DEAD, None, id="start time not recorded and no such pid"),
        pytest.param({}, make_seen(start_time=None), UNKNOWN, None, id="start time not readable"),
        pytest.param({}, make_seen(pid=124), UNKNOWN, None, id="another pid was looked at"),
    ],
)
def test_what_a_look_at_the_pid_proves(record, seen, expected, sentence):
    look = judge_process(make_record(**record), here=HERE, seen=seen, could_look=True)
    assert look.state is expected
    assert sentence in (None, look.sentence)


def test_nothing_recorded_is_unknown_not_dead():
    assert judge_process(None, here=HERE, seen=None, could_look=True) == NOTHING_RECORDED
    assert NOTHING_RECORDED.state is UNKNOWN


def test_a_process_nobody_could_look_at_is_unknown():
    look = judge_process(make_record(), here=HERE, seen=None, could_look=False)
    assert (look.state, look.sentence) == (UNKNOWN, "pid 123 on atlas-02 could not be looked at.")


def test_a_reboot_is_known_without_looking():
    record = make_record(HERE._replace(boot_id="boot-6"))
    assert judge_process(record, here=HERE, seen=None, could_look=False).state is DEAD


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        pytest.param([], UNKNOWN, id="none"),
        pytest.param([("recorder", "alive")], ALIVE, id="only a recorder decides"),
        pytest.param([("recorder", "dead")], DEAD, id="only a dead recorder decides"),
        pytest.param([("agent", "dead"), ("recorder", "alive")], DEAD, id="the agent decides over its recorder"),
        pytest.param([("recorder", "alive"), ("agent", "unknown")], UNKNOWN, id="in any order"),
        pytest.param([("agent", "dead"), ("agent", "alive")], ALIVE, id="one of two agents lives"),
        pytest.param([("agent", "dead"), ("agent", "unknown")], UNKNOWN, id="one of two agents may live"),
    ],
)
def test_the_agents_process_decides_for_the_run(looks, expected):
    assert combine_looks([make_look(state, role) for role, state in looks]).state is expected


def test_a_living_agent_whose_recorder_is_gone_is_alive_and_says_so():
    recorder = make_look("dead", "recorder", pid=9000, sentence="pid 9000 is gone from atlas-02.")
    look = combine_looks([make_look("alive"), recorder])
    assert (look.state, look.pid, look.recorder_gone) == (ALIVE, 9120, True)
    assert look.sentence.endswith("Its recorder is gone: pid 9000 is gone from atlas-02.")


@pytest.mark.parametrize("recorder", ["alive", "unknown"])
def test_a_recorder_that_may_live_is_not_called_gone(recorder):
    assert combine_looks([make_look("alive"), make_look(recorder, "recorder")]) == make_look("alive")
