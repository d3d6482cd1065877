"""Every error a caller can meet, by name.

    Error
    ├── Invalid                  the request itself is wrong                       422, exit 2
    │   ├── UnknownWord              a value outside a closed vocabulary
    │   ├── InvalidContent           content or metadata that is not JSON
    │   ├── InvalidRequest           any other argument that cannot be used
    │   ├── InvalidFile              a file that says what cannot be done; lists each problem with its line
    │   └── PlayGraphCycle           plays that wait for each other
    ├── NotFound                 what was asked for does not exist                 404, exit 1
    │   ├── SessionNotFound  BranchNotFound  MessageNotFound  ProgressionNotFound
    │   └── ShowNotFound  PlayNotFound  TeamNotFound
    ├── Conflict                 the request is fine, the state of things is not   409, exit 1
    │   ├── IllegalTransition        a status change the lifecycle does not allow
    │   ├── SessionIsHealthy         an operator tried to end a run that is well
    │   ├── ProcessIsAlive           … or one that is quiet, while its process lives
    │   ├── CannotKill               a run's process that cannot be ended from here
    │   ├── SessionIsRunning         something that only an ended run may be asked for
    │   ├── SessionIsNeeded          a run that a play or another run still refers to
    │   ├── CannotCleanUp            leftovers that must not be removed from here
    │   ├── CannotRepair             a run that is not broken, as far as anyone can tell
    │   ├── Refused                  several runs, some of which cannot be changed; lists each with its reason
    │   ├── Ambiguous                what was typed may mean several things
    │   ├── ForkOutOfRange           a fork position the branch does not have
    │   ├── AlreadyExists            an id or a name that is taken
    │   └── AppendOnly               a change to rows that are kept as written
    ├── Unauthorized             who asks is not known or not allowed              401, exit 1
    └── Unavailable              the database cannot serve this now                503, exit 1
        ├── DatabaseBusy             other writers kept it locked for too long; try again
        ├── DatabaseFull             no room left on the disk
        ├── DatabaseReadOnly         the file, its folder or the server refuses writing
        ├── DatabaseGone             the file or the server cannot be reached
        │   ├── NoDatabaseYet            the place is fine, and empty
        │   └── UnusablePlace            … and never can be, at that place
        ├── DatabaseDamaged          the file is not a whole database
        ├── ForeignDatabase          a file or schema that belongs to another program
        └── NewerDatabase            written by a newer version of this program

The family decides the HTTP status and the exit code; `code` is for programs, the message says what happened and why,
`hint` says what to do next.
"""

from __future__ import annotations

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Error(Exception):
    """Something a person can act on."""

    code = "error"
    hint: str | None = None
    problems: Sequence[str] = ()  # one sentence for each, where several things are wrong at once

    def __init__(self, message: str = "", *, hint: str | None = None) -> None:
        super().__init__(message or (self.__doc__ or "").strip())
        if hint is not None:
            self.hint = hint
        if self.hint is not None:
            self.add_note(self.hint)  # so that a traceback says it too

    @property
    def message(self) -> str:
        return str(self.args[0])


class Invalid(Error):
    """The request cannot be understood."""

    code = "invalid"


class UnknownWord(Invalid):
    """A value outside a closed vocabulary."""

    code = "unknown_word"


class InvalidContent(Invalid):
    """Content or metadata that is not JSON."""

    code = "invalid_content"


class InvalidRequest(Invalid):
    """An argument that cannot be used."""

    code = "invalid_request"


class InvalidFile(Invalid):
    """A file that a person wrote says something that cannot be done."""

    code = "invalid_file"

    def __init__(self, message: str, *, problems: Sequence[str], hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.problems = problems  # each with its file, and with line and column where it has them


class PlayGraphCycle(Invalid):
    """Plays that wait for each other."""

    code = "play_graph_cycle"


class NotFound(Error):
    """What was asked for does not exist."""

    code = "not_found"


class SessionNotFound(NotFound):
    """No run has this id."""

    code = "session_not_found"


class BranchNotFound(NotFound):
    """No branch has this id."""

    code = "branch_not_found"


class MessageNotFound(NotFound):
    """No message has this id."""

    code = "message_not_found"


class ProgressionNotFound(NotFound):
    """No progression has this id."""

    code = "progression_not_found"


class ShowNotFound(NotFound):
    """No show has this topic."""

    code = "show_not_found"


class PlayNotFound(NotFound):
    """The show has no play of this name."""

    code = "play_not_found"


class TeamNotFound(NotFound):
    """No team has this id or name."""

    code = "team_not_found"


class Conflict(Error):
    """The request is fine, the state of things does not allow it."""

    code = "conflict"


class IllegalTransition(Conflict):
    """A status change the lifecycle does not allow."""

    code = "illegal_transition"


class SessionIsHealthy(Conflict):
    """The run is well and must not be ended by hand."""

    code = "session_is_healthy"


class ProcessIsAlive(Conflict):
    """The run is quiet, but its process lives and may still write."""

    code = "process_is_alive"


class CannotKill(Conflict):
    """The process of the run cannot be ended from here."""

    code = "cannot_kill"


class SessionIsRunning(Conflict):
    """The run has not ended, and only an ended run may be asked for this."""

    code = "session_is_running"


class SessionIsNeeded(Conflict):
    """A play or another run still refers to the run."""

    code = "session_is_needed"


class CannotCleanUp(Conflict):
    """What the run left behind must not be removed from here."""

    code = "cannot_clean_up"


class CannotRepair(Conflict):
    """The run is not broken, as far as anyone can tell."""

    code = "cannot_repair"


class Refused(Conflict):
    """Some of the runs cannot be changed, so none was."""

    code = "refused"

    def __init__(self, message: str, *, refusals: Mapping[str, Error], hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.refusals = refusals  # why, for the id of each that cannot be changed


class Ambiguous(Conflict):
    """What was typed may mean several things."""

    code = "ambiguous"


class ForkOutOfRange(Conflict):
    """A fork position the branch does not have."""

    code = "fork_out_of_range"


class AlreadyExists(Conflict):
    """An id or a name that is taken."""

    code = "already_exists"


class AppendOnly(Conflict):
    """History is kept as it was written."""

    code = "append_only"


class Unauthorized(Error):
    """Who asks is not known or not allowed."""

    code = "unauthorized"


class Unavailable(Error):
    """The database cannot serve this now."""

    code = "unavailable"


class DatabaseBusy(Unavailable):
    """Other writers kept the database locked for too long."""

    code = "database_busy"
    hint = "Try again. If it stays busy, look for a long import or vacuum: li state stats"


class DatabaseFull(Unavailable):
    """No room is left for the database."""

    code = "database_full"
    hint = "Free some space on that disk, then try again."


class DatabaseReadOnly(Unavailable):
    """The database may only be read."""

    code = "database_read_only"
    hint = "Check who owns the file and its folder, or choose another database with LIONAGI_DB."


class DatabaseGone(Unavailable):
    """The database cannot be reached."""

    code = "database_gone"
    hint = "Check LIONAGI_DB, and that the server or the disk behind it is there."


class NoDatabaseYet(DatabaseGone):
    """The place is fine, and empty."""

    code = "no_database_yet"
    hint = "Recording a run makes one: lionstudio.record(…). So does bringing runs in: li state import"


class UnusablePlace(DatabaseGone):
    """No database can ever be at this place."""

    code = "unusable_place"
    hint = "Give the path of a file on a local disk, or the address of a server: LIONAGI_DB=…"


class DatabaseDamaged(Unavailable):
    """The file is not a whole database."""

    code = "database_damaged"
    hint = "Restore a backup, or move the file away to start a new one."


class ForeignDatabase(Unavailable):
    """The database belongs to another program and is never written."""

    code = "foreign_database"


class NewerDatabase(Unavailable):
    """The database was written by a newer version of this program."""

    code = "newer_database"
    hint = "Upgrade this installation: pip install --upgrade lionstudio"
