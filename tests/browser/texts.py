"""What the agents of the world say: long enough to be believed, with everything a page has to draw."""

PLAN = """I read the module and its tests. Here is the plan:

1. Keep `parse()` as it is and add `parse_many()` beside it.
2. Move the error handling into **one** place, so both raise the same `ParseError`.
3. Extend the tests; see [the notes](https://example.com/notes) for the odd cases.

| step | file | risk |
|---|---|---|
| add | `parser/many.py` | low |
| move | `parser/errors.py` | **medium** |
| test | `tests/test_many.py` | low |

```python
def parse_many(lines: Iterable[str], *, strict: bool = False) -> list[Entry]:
    \"\"\"Every line as an entry; with `strict` the first bad one raises.\"\"\"
    entries: list[Entry] = []
    for number, line in enumerate(lines, start=1):
        try:
            entries.append(parse(line))
        except ValueError as error:
            if strict:
                raise ParseError(number, line) from error
    return entries
```

> The old callers never asked for the line number, so nothing changes for them.
"""

DONE = """All tests pass now.

- `parse_many` is in, with 14 new tests
- errors name the line they come from
- nothing that was public changed

```diff
-    raise ValueError(line)
+    raise ParseError(number, line)
```
"""

PYTEST_FAILED = """============================= test session starts ==============================
collected 87 items

tests/test_parser.py ..................F......                           [ 29%]
tests/test_many.py ..............                                        [ 45%]
tests/test_cli.py ................................................       [100%]

=================================== FAILURES ===================================
______________________________ test_empty_lines ________________________________

    def test_empty_lines():
>       assert parse_many(["", "a=1"]) == [Entry("a", "1")]
E       ValueError: not enough values to unpack (expected 2, got 1)

parser/many.py:14: ValueError
=========================== short test summary info ============================
FAILED tests/test_parser.py::test_empty_lines - ValueError: not enough values
========================= 1 failed, 86 passed in 4.21s =========================
"""

PYTEST_PASSED = "87 passed in 4.02s"

GREP = "\n".join(f"src/parser/part_{number}.py:{number * 7}:    raise ValueError(line)" for number in range(1, 25))

FILE = '''"""One line is one entry: a name, an equals sign, a value."""

from typing import NamedTuple


class Entry(NamedTuple):
    name: str
    value: str


def parse(line: str) -> Entry:
    name, value = line.split("=", 1)
    return Entry(name.strip(), value.strip())
'''

HOSTILE = (
    '<script>window.hacked = true</script><img src=x onerror="window.hacked = true">\n\n'
    "[press me](javascript:window.hacked=true) and ![picture](https://tracker.invalid/pixel.png)\n\n"
    "\x1b[31mred by ANSI\x1b[0m, and \u202egnirts desrever\u202c with a direction of its own.\n\n"
    '<iframe src="https://tracker.invalid"></iframe>\n\n' + "one-very-long-line-without-any-space-" * 200
)

TRACEBACK = """Traceback (most recent call last):
  File "agents/builder.py", line 211, in step
    answer = model.invoke(messages)
  File "agents/provider.py", line 88, in invoke
    raise RateLimited(retry_after=61)
agents.provider.RateLimited: 429 Too Many Requests
"""

SHOW = """# Payments split

## Goal

Split the payments service into a ledger and a gateway, without a minute of downtime.

## Context

- Repo: {repo}
- Base: main
- Integration: show/payments-split/integration

## Plays

**schema**
- Intent: The tables of the ledger, and the migration that fills them.
- deps: []
- Acceptance: migrations run twice without harm

**ledger-api**
- Intent: Write every booking to the ledger first.
- deps: [schema]
- Acceptance: the contract tests pass against both services

**worker**
- Intent: Move settlement into a worker of its own.
- deps: [schema]

**gateway**
- Intent: The gateway asks the ledger, and nobody else.
- deps: [ledger-api, worker]

**docs**
- Intent: Tell operators what changed and how to go back.
- deps: [ledger-api]

**rollout**
- Intent: Shadow traffic for a day, then switch.
- deps: [gateway, docs]

## Decisions

- 09:12 Both services write for a week. Reading switches first.
- 10:40 `worker` gets a second attempt with the retry policy written down.
"""

TEAM = (
    ("lead", "all", "Morning. Today the ledger takes every booking. Say here when you hand something over."),
    ("architect", "all", "The schema is merged. `bookings` is append-only; balances are a view."),
    ("builder", "architect", "Should the view be materialised? The contract test wants an answer in 20 ms."),
    ("architect", "builder", "Not yet. Measure it with a million rows first, then decide."),
    ("builder", "all", "Measured: 4.1 ms at the 99th percentile with a million rows. It stays a plain view."),
    ("tester", "all", "Contract tests are green on both services. 212 passed, 3 wait for `worker`."),
    ("lead", "tester", "Which three?"),
    ("tester", "lead", "The ones about settlement on a holiday. They need the calendar that `worker` brings."),
    ("builder", "all", "`worker` failed its gate: the retry policy is not written down anywhere."),
    ("lead", "builder", "ESCALATION: the gate refused `worker` twice. I decide: three retries, then park it."),
    ("builder", "lead", "Understood. Three retries with backoff, then a person is asked. It starts again."),
    (
        "architect",
        "all",
        "Notes on the gateway, because three people asked me the same thing today. "
        "It must never talk to the old tables: it asks the ledger for a balance, with the booking id as the key, and "
        "it keeps the answer for as long as the ledger says so. When the ledger is away it answers with the last known "
        "balance and marks it as old. Nobody retries inside the gateway, because the worker does that already, and two "
        "who retry make a storm. If you see a retry in a review, ask for its reason and send it back.",
    ),
    ("tester", "all", "Shadow traffic is prepared: 5 percent of yesterday, replayed at double speed."),
    ("system", "all", "lead added tester-2 to the team."),
    ("lead", "all", "Good work. `rollout` waits for `gateway` and `docs`; nothing else is in the way."),
)  # fmt: skip
