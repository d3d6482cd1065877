"""The page that describes every route, made from the OpenAPI document, which is checked in beside it."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from lionstudio.server.app import create_app
from lionstudio.server.errors import STATUS_BY_FAMILY, TOLD
from lionstudio.settings import load_settings

METHODS = ("get", "post", "put", "patch", "delete")
INTRO = """\
# HTTP

JSON under `/api`. The whole of it is in `openapi.json` beside this page, which every server gives out at
`/api/openapi.json`; [the guide](../http.md) shows it with `curl`.

- Times are unix seconds. Ids are text. A session is what people call a run.
- Lists answer `{"items": […], "next_cursor": …}`; ask again with `cursor=` until that is null.
- Errors answer `{"code", "message", "hint"}`. Where several runs are meant, `refusals` says why for each.
- Streams are server-sent events. Their ids are numbers that only grow: send the last one as `Last-Event-ID`, or as
  `?after=`, and nothing is missed. A comment comes every 5 seconds, so that you know that the line is up.
- On anything but this machine, send `Authorization: Bearer TOKEN`.
"""


@cache
def openapi() -> dict[str, Any]:
    """The description that the server gives out."""
    return create_app(load_settings({"HOME": "/nonexistent"})).openapi()


def openapi_json() -> str:
    return json.dumps(openapi(), indent=1, ensure_ascii=False) + "\n"


def http_page() -> str:
    """Every route with its parameters, its body and its answers."""
    document = openapi()
    lines = INTRO.splitlines()
    by_tag: dict[str, list[tuple[str, str, Mapping[str, Any]]]] = {}
    for path, operations in document["paths"].items():
        for method in METHODS:
            if method in operations:
                operation = operations[method]
                by_tag.setdefault(operation["tags"][0], []).append((method, path, operation))
    for tag, found in by_tag.items():
        lines += ["", f"## {tag.capitalize()}"]
        for method, path, operation in found:
            lines += ["", *_operation(method, path, operation)]
    schemas = document["components"]["schemas"]
    lines += ["", "## Schemas"]
    for name in sorted(schemas):
        if not name.startswith(("HTTPValidationError", "ValidationError")):
            lines += ["", *_schema(name, schemas[name])]
    return "\n".join([*lines, "", *_errors()]) + "\n"


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"### {method.upper()} {path}", "", " ".join(operation.get("description", "").split()))
    parameters = [one for one in operation.get("parameters", ()) if one["in"] != "path"]
    if parameters:
        yield from ("", "| parameter | type | meaning |", "|---|---|---|")
        yield from (_parameter(one) for one in parameters)
    body = operation.get("requestBody")
    if body:
        yield from ("", f"Body: {_type(body['content']['application/json']['schema'])}")
    for code, answer in operation["responses"].items():
        if code.startswith("2"):
            for kind, content in answer.get("content", {}).items():
                shape = "" if kind == "text/event-stream" else f": {_type(content['schema'])}"
                yield from ("", f"Answer {code}, {kind}{shape}")


def _parameter(one: Mapping[str, Any]) -> str:
    name = f"`{one['name']}`" + (" (header)" if one["in"] == "header" else "")
    said = one.get("description", "")
    default = one["schema"].get("default")
    more = f" (default: {default})" if default is not None else ""
    return f"| {name} | {_type(one['schema'])} | {said}{more} |"


def _schema(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"### {name}", "", " ".join(schema.get("description", "").split()))
    if "enum" in schema:
        yield from ("", ", ".join(f"`{word}`" for word in schema["enum"]))
    if "properties" in schema:
        required = schema.get("required", ())
        yield from ("", "| field | type | meaning |", "|---|---|---|")
        for field, about in schema["properties"].items():
            optional = "" if field in required else ", may be left out"
            yield f"| `{field}` | {_type(about)}{optional} | {about.get('description', '')} |"


def _type(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(_type(one) for one in choices)
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"])
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'])}"
    return str(schema.get("type", "any"))


def _errors() -> Iterator[str]:
    yield from (
        "## Errors",
        "",
        "What a use case refuses has the status of its family; [errors](errors.md) lists them.",
    )
    yield from ("", "| family | status |", "|---|---|")
    yield from (f"| {family.__name__} | {status} |" for family, status in STATUS_BY_FAMILY.items())
    yield from ("", "Before a use case is reached:", "", "| code | status | message | hint |", "|---|---|---|---|")
    yield from (f"| `{code}` | {told.status} | {told.message} | {told.hint} |" for code, told in TOLD.items())
