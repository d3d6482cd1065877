"""A fake Messages API of Anthropic on loopback, for Claude Code. The script is described in fake_core."""

import json
from collections.abc import Iterator
from typing import Any

from tests.fakes.fake_core import FakeServer, Handler, Request, estimate_tokens, new_id, pieces, usage_of


def text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = []
    for block in content or []:
        if isinstance(block, str):
            parts.append(block)
        elif block.get("type") == "text":
            parts.append(block.get("text", ""))
        elif block.get("type") == "tool_result":
            parts.append(text_of(block.get("content")))
    return "\n".join(parts)


def parse(path: str, body: dict[str, Any]) -> Request:
    items: list[tuple[str, str]] = []
    for message in body.get("messages") or []:
        content = message.get("content")
        if message.get("role") == "assistant":
            items.append(("assistant", text_of(content)))
            continue
        results = (
            [b for b in content or [] if isinstance(b, dict) and b.get("type") == "tool_result"]
            if isinstance(content, list)
            else []
        )
        rest = content if not results else [b for b in content if b not in results]
        if text_of(rest):
            items.append(("user", text_of(rest)))
        items += [("tool_result", text_of(b.get("content"))) for b in results]
    names = [t.get("name", "") for t in body.get("tools") or []]
    return Request(path, body, items, text_of(body.get("system")), names)


def blocks_of(turn: dict[str, Any]) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if turn.get("thinking"):
        blocks.append({"type": "thinking", "thinking": turn["thinking"], "signature": "ZmFrZQ=="})
    if turn.get("text"):
        blocks.append({"type": "text", "text": turn["text"]})
    for tool in turn.get("tools") or []:
        blocks.append(
            {
                "type": "tool_use",
                "id": tool.get("id") or new_id("toolu_"),
                "name": tool["name"],
                "input": tool.get("input") or {},
            }
        )
    return blocks


def api_usage(turn: dict[str, Any], request: Request) -> dict[str, Any]:
    u = usage_of(turn, request)
    return {
        "input_tokens": u["input"],
        "cache_creation_input_tokens": u["cache_write"],
        "cache_read_input_tokens": u["cache_read"],
        "output_tokens": u["output"],
        "service_tier": "standard",
    }


def message(turn: dict[str, Any], request: Request) -> dict[str, Any]:
    stop = turn.get("stop") or ("tool_use" if turn.get("tools") else "end_turn")
    return {
        "id": new_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": turn.get("model") or request.model,
        "content": blocks_of(turn),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": api_usage(turn, request),
    }


def events(turn: dict[str, Any], request: Request) -> Iterator[tuple[str, dict[str, Any]]]:
    size = int(turn.get("chunk") or 12)
    whole = message(turn, request)
    usage = whole["usage"]
    yield (
        "message_start",
        {
            "type": "message_start",
            "message": {**whole, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}},
        },
    )
    yield "ping", {"type": "ping"}
    for index, block in enumerate(whole["content"]):
        kind = block["type"]
        empty = {
            "text": {"type": "text", "text": ""},
            "thinking": {"type": "thinking", "thinking": "", "signature": ""},
            "tool_use": {**block, "input": {}},
        }[kind]
        yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": empty}
        if kind == "text":
            deltas = [{"type": "text_delta", "text": p} for p in pieces(block["text"], size)]
        elif kind == "thinking":
            deltas = [{"type": "thinking_delta", "thinking": p} for p in pieces(block["thinking"], size)]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        else:
            raw = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": p} for p in pieces(raw, size)]
        for delta in deltas:
            yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    if turn.get("stream_error"):
        yield (
            "error",
            {"type": "error", "error": {"type": "overloaded_error", "message": "fake", **turn["stream_error"]}},
        )
        return
    yield (
        "message_delta",
        {
            "type": "message_delta",
            "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None},
            "usage": usage,
        },
    )
    yield "message_stop", {"type": "message_stop"}


class AnthropicHandler(Handler):
    def error_body(self, kind: str, message: str) -> dict[str, Any]:
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": new_id("req_")}

    def route(self, method: str, path: str, body: dict[str, Any]) -> None:
        if method == "POST" and path == "/v1/messages":
            request = parse(path, body)
            turn = self.begin(request)
            if turn is None:
                return
            if request.stream:
                self.send_sse(events(turn, request), turn)
            else:
                self.send_json(200, message(turn, request))
        elif method == "POST" and path == "/v1/messages/count_tokens":
            self.send_json(200, {"input_tokens": estimate_tokens(body)})
        elif method == "GET" and path == "/v1/models":
            self.send_json(
                200,
                {
                    "data": [
                        {
                            "type": "model",
                            "id": "fake-model",
                            "display_name": "Fake",
                            "created_at": "2026-01-01T00:00:00Z",
                        }
                    ],
                    "has_more": False,
                    "first_id": "fake-model",
                    "last_id": "fake-model",
                },
            )
        elif path == "/":
            self.send_json(200, {"fake": "anthropic"})
        else:
            self.send_json(404, self.error_body("not_found_error", f"no route {method} {path}"))


class FakeAnthropic(FakeServer):
    handler = AnthropicHandler
