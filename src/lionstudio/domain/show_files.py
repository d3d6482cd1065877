"""What the files of a show folder mean: their names, how to read them, how to write them. Pure.

The importer reads them and the director writes them, by the same rules. Files come half written, from other programs
and from people: whatever cannot be read becomes a complaint, and everything else in the file still counts.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from lionstudio.domain.drafts import EXIT_CODES
from lionstudio.domain.show import Play, PlayStatus
from lionstudio.domain.words import find_word

PLAN, FINAL_VERDICT, ABORT = "_show.md", "_final_verdict.json", "_ABORT"
META, VERDICT = "_meta.json", "_verdict.json"
INTENT, PROMPT, ESCALATION = "_intent.md", "_prompt.md", "_escalation.md"
PID, LOG, EXIT_CODE = ".pid", ".log", ".exit_code"
SHOW_MARKS = (PLAN, FINAL_VERDICT, ABORT)  # a folder with one of these is a show …
PLAY_MARKS = (META, VERDICT, INTENT, PROMPT, ESCALATION, PID, EXIT_CODE)  # … and with one of these a play
LONGEST_NAME = 255  # bytes that a file system takes for one name
HIGHEST_ATTEMPT = 1_000_000
LATEST = datetime(9999, 1, 1, tzinfo=UTC).timestamp()


class Told(NamedTuple):
    """What a file tells, by the names of a play's fields. None: it says nothing. Missing: it cannot be read."""

    facts: Mapping[str, Any]
    complaints: tuple[str, ...] = ()


class FinalVerdict(NamedTuple):
    """How the final gate judged a show."""

    show_passed: bool | None  # None: it cannot be read
    summary: str | None = None
    blockers: tuple[str, ...] = ()
    complaints: tuple[str, ...] = ()


def session_name(topic: str, play: str) -> str:
    """What the run of a play is called (R61)."""
    return f"show_{topic}_{play}"


def check_name(name: str) -> str | None:
    """Why a topic or a play cannot have this name; None if it can."""
    if not name.strip() or name.startswith((".", "_")):
        return "A name begins with a letter or a digit: files of a show begin with a dot or an underscore."
    if "/" in name or "\0" in name:
        return "A name is that of one folder, without slashes."
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return "Its name is not UTF-8."
    return f"Its name is longer than {LONGEST_NAME} bytes." if size > LONGEST_NAME else None


def parse_meta(text: str) -> Told:
    """What `_meta.json` tells about its play."""
    found, complaint = parse_object(text)
    if complaint:
        return Told({}, (complaint,))
    facts: dict[str, Any] = {}
    complaints = []
    for name, read in META_FACTS.items():
        value = found.get(name)
        try:
            facts[name] = None if value is None else read(value)
        except ValueError as error:
            complaints.append(f"{name}: {error}")
    return Told(facts, tuple(complaints))


def parse_verdict(text: str) -> Told:
    """What `_verdict.json` tells: `gate_passed` and `gate_feedback`."""
    found, complaint = parse_object(text)
    if complaint:
        return Told({}, (complaint,))
    if not isinstance(found.get("gate_passed"), bool):
        return Told({}, ("gate_passed: It is neither true nor false.",))
    facts: dict[str, Any] = {"gate_passed": found["gate_passed"]}
    try:
        facts["gate_feedback"] = None if found.get("feedback") is None else _text(found["feedback"])
    except ValueError as error:
        return Told(facts, (f"feedback: {error}",))
    return Told(facts)


def parse_final_verdict(text: str) -> FinalVerdict:
    """What `_final_verdict.json` tells about its show."""
    found, complaint = parse_object(text)
    if complaint:
        return FinalVerdict(None, complaints=(complaint,))
    if not isinstance(found.get("show_passed"), bool):
        return FinalVerdict(None, complaints=("show_passed: It is neither true nor false.",))
    summary, blockers = found.get("summary"), found.get("blockers")
    return FinalVerdict(
        found["show_passed"],
        summary if isinstance(summary, str) else None,
        tuple(map(str, blockers)) if isinstance(blockers, list) else (),
    )


def parse_pid(text: str) -> int:
    """The number in a `.pid` file; raises ValueError with a sentence."""
    number = _whole(text.split("\n", 1)[0])
    if not 0 < number < 1 << 31:
        raise ValueError(f"{number} is not a process.")
    return number


def parse_exit_code(text: str) -> int:
    """The number in an `.exit_code` file; raises ValueError with a sentence."""
    return _exit_code(text)


def render_meta(play: Play) -> str:
    """A `_meta.json` that says what is known about a play; `parse_meta` reads it back."""
    told = {name: getattr(play, name) for name in META_FACTS}
    return render_object({name: value for name, value in told.items() if value is not None})


def render_verdict(*, gate_passed: bool, feedback: str | None = None, notes: str | None = None) -> str:
    """A `_verdict.json`."""
    return render_object({"gate_passed": gate_passed, "feedback": feedback, "notes": notes})


def render_final_verdict(*, show_passed: bool, summary: str, blockers: Sequence[str] = ()) -> str:
    """A `_final_verdict.json`."""
    return render_object({"show_passed": show_passed, "summary": summary, "blockers": list(blockers)})


def render_object(value: Mapping[str, Any]) -> str:
    """A JSON file as people like to read it."""
    return json.dumps(value, indent=2) + "\n"


def parse_object(text: str) -> tuple[dict[str, Any], str | None]:
    """The JSON object in a text, or why there is none."""
    if not text.strip():
        return {}, "It is empty."
    try:
        found = json.loads(text.lstrip("\ufeff"))
    except RecursionError:
        return {}, "It is nested too deeply."
    except ValueError as error:
        return {}, f"It is not JSON: {error}."
    return (found, None) if isinstance(found, dict) else ({}, "It holds no JSON object.")


def _text(value: object) -> str | None:
    if not isinstance(value, str):
        raise ValueError(f"It is {_kind(value)}, not text.")
    return value if value.strip() else None


def _whole(value: object) -> int:
    if isinstance(value, str):
        text = value.strip()
        try:
            value = int(text)
        except ValueError:
            raise ValueError(f"{text[:40]!r} is not a whole number.") from None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"It is {_kind(value)}, not a whole number.")
    return value


def _exit_code(value: object) -> int:
    number = _whole(value)
    if number not in EXIT_CODES:
        raise ValueError("It is not an exit code.")
    return number


def _attempt(value: object) -> int:
    number = _whole(value)
    if not 1 <= number <= HIGHEST_ATTEMPT:
        raise ValueError(f"The attempts of a play are numbered from 1 to {HIGHEST_ATTEMPT:,}.")
    return number


def _instant(value: object) -> float:
    """Unix seconds from a number or an ISO text; one without a zone is UTC."""
    if isinstance(value, str):
        value = _number_or_date(value.strip())
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"It is {_kind(value)}, not a time.")
    if not 0 <= value < LATEST:  # nor is what is no number at all
        raise ValueError("It is not a time in seconds since 1970.")
    return float(value)


def _number_or_date(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        pass
    try:
        date = datetime.fromisoformat(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise ValueError(f"{text[:40]!r} is not a time.") from None


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError("It is not a list of names.")
    return tuple(dict.fromkeys(name.strip() for name in value if name.strip()))


def _status(value: object) -> PlayStatus | None:
    word = find_word(PlayStatus, value.strip()) if isinstance(value, str) else None
    if word is None and not (isinstance(value, str) and not value.strip()):
        shown = repr(value[:40]) if isinstance(value, str) else _kind(value)
        raise ValueError(f"{shown} is not a status of a play. The words are: {', '.join(PlayStatus)}.")
    return word


def _kind(value: object) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}
    return names.get(type(value), "nothing")


META_FACTS: Mapping[str, Callable[[Any], Any]] = {
    "status": _status,
    "attempt": _attempt,
    "worktree": _text,
    "branch": _text,
    "started_at": _instant,
    "ended_at": _instant,
    "exit_code": _exit_code,
    "merge_sha": _text,
    "merged_at": _instant,
    "depends_on": _names,
    "playbook": _text,
    "effort": _text,
    "session_id": _text,
}
