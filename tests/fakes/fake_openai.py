"""A fake API of OpenAI on loopback: Responses for Codex, Chat Completions for lionagi and most others, embeddings.

The script is described in fake_core. A tool of a turn may also be {"custom": true, "name", "input": "text"}, which is a
custom tool of Responses, or {"shell": ["bash", "-lc", "echo hi"]}, which is a local shell call.
"""

import json
import time
from collections.abc import Iterator
from typing import Any

from tests.fakes.fake_core import FakeServer, Handler, Request, estimate_tokens, new_id, pieces, usage_of


def text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    out = []
    for part in content or []:
        if isinstance(part, dict):
            out.append(part.get("text") or part.get("refusal") or "")
        else:
            out.append(str(part))
    return "\n".join(out)


def tool_names(body: dict[str, Any]) -> list[str]:
    names = []
    for tool in body.get("tools") or []:
        names.append(tool.get("name") or (tool.get("function") or {}).get("name") or tool.get("type") or "")
        for inner in tool.get("tools") or []:  # Responses "namespace" tools
            names.append(inner.get("name") or "")
    return names


def parse_responses(path: str, body: dict[str, Any]) -> Request:
    given = body.get("input") or []
    items: list[tuple[str, str]] = []
    system = body.get("instructions") or ""
    if isinstance(given, str):
        items.append(("user", given))
        given = []
    for item in given:
        kind, role = item.get("type", "message"), item.get("role")
        if kind == "message" and role in ("developer", "system"):
            system += "\n" + text_of(item.get("content"))
        elif kind == "message":
            items.append(("assistant" if role == "assistant" else "user", text_of(item.get("content"))))
        elif kind.endswith("_output"):
            out = item.get("output")
            items.append(("tool_result", out if isinstance(out, str) else json.dumps(out)))
    return Request(path, body, items, system, tool_names(body))


def output_items(turn: dict[str, Any]) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    if turn.get("thinking"):
        out.append(
            {
                "type": "reasoning",
                "id": new_id("rs_"),
                "status": "completed",
                "summary": [{"type": "summary_text", "text": turn["thinking"]}],
                "encrypted_content": "ZmFrZQ==",
            }
        )
    if turn.get("text"):
        out.append(
            {
                "type": "message",
                "id": new_id("msg_"),
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": turn["text"], "annotations": []}],
            }
        )
    for tool in turn.get("tools") or []:
        call_id = tool.get("id") or new_id("call_")
        if "shell" in tool:
            out.append(
                {
                    "type": "local_shell_call",
                    "id": new_id("lsh_"),
                    "call_id": call_id,
                    "status": "completed",
                    "action": {"type": "exec", "command": tool["shell"]},
                }
            )
        elif tool.get("custom"):
            out.append(
                {
                    "type": "custom_tool_call",
                    "id": new_id("ctc_"),
                    "call_id": call_id,
                    "status": "completed",
                    "name": tool["name"],
                    "input": tool["input"],
                }
            )
        else:
            item = {
                "type": "function_call",
                "id": new_id("fc_"),
                "call_id": call_id,
                "status": "completed",
                "name": tool["name"],
                "arguments": json.dumps(tool.get("input") or {}),
            }
            if tool.get("namespace"):
                item["namespace"] = tool["namespace"]
            out.append(item)
    return out


def response(
    turn: dict[str, Any], request: Request, status: str, items: list[dict[str, Any]], rid: str
) -> dict[str, Any]:
    u = usage_of(turn, request)
    value: dict[str, Any] = {
        "id": rid,
        "object": "response",
        "created_at": int(time.time()),
        "status": status,
        "model": turn.get("model") or request.model,
        "output": items,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": None,
    }
    if status == "completed":
        value["usage"] = {
            "input_tokens": u["input"],
            "input_tokens_details": {"cached_tokens": u["cache_read"]},
            "output_tokens": u["output"],
            "output_tokens_details": {"reasoning_tokens": u["reasoning"]},
            "total_tokens": u["input"] + u["output"],
        }
    return value


def response_events(turn: dict[str, Any], request: Request) -> Iterator[tuple[str, dict[str, Any]]]:
    size = int(turn.get("chunk") or 12)
    seq = iter(range(1_000_000))
    rid = new_id("resp_")

    def event(kind: str, **fields: Any) -> tuple[str, dict[str, Any]]:
        return kind, {"type": kind, "sequence_number": next(seq), **fields}

    items = output_items(turn)
    yield event("response.created", response=response(turn, request, "in_progress", [], rid))
    yield event("response.in_progress", response=response(turn, request, "in_progress", [], rid))
    for index, item in enumerate(items):
        at = {"output_index": index, "item_id": item["id"]}
        kind = item["type"]
        if kind == "message":
            text = item["content"][0]["text"]
            yield event(
                "response.output_item.added", output_index=index, item={**item, "status": "in_progress", "content": []}
            )
            yield event(
                "response.content_part.added",
                **at,
                content_index=0,
                part={"type": "output_text", "text": "", "annotations": []},
            )
            for part in pieces(text, size):
                yield event("response.output_text.delta", **at, content_index=0, delta=part)
            yield event("response.output_text.done", **at, content_index=0, text=text)
            yield event("response.content_part.done", **at, content_index=0, part=item["content"][0])
        elif kind == "reasoning":
            text = item["summary"][0]["text"]
            yield event(
                "response.output_item.added", output_index=index, item={**item, "status": "in_progress", "summary": []}
            )
            yield event(
                "response.reasoning_summary_part.added",
                **at,
                summary_index=0,
                part={"type": "summary_text", "text": ""},
            )
            for part in pieces(text, size):
                yield event("response.reasoning_summary_text.delta", **at, summary_index=0, delta=part)
            yield event("response.reasoning_summary_text.done", **at, summary_index=0, text=text)
            yield event("response.reasoning_summary_part.done", **at, summary_index=0, part=item["summary"][0])
        elif kind == "function_call":
            yield event(
                "response.output_item.added",
                output_index=index,
                item={**item, "status": "in_progress", "arguments": ""},
            )
            for part in pieces(item["arguments"], size):
                yield event("response.function_call_arguments.delta", **at, delta=part)
            yield event("response.function_call_arguments.done", **at, arguments=item["arguments"])
        else:
            yield event("response.output_item.added", output_index=index, item={**item, "status": "in_progress"})
        yield event("response.output_item.done", output_index=index, item=item)
    if turn.get("stream_error"):
        failed = response(turn, request, "failed", items, rid)
        failed["error"] = {
            "code": turn["stream_error"].get("type", "server_error"),
            "message": turn["stream_error"].get("message", "fake"),
        }
        yield event("response.failed", response=failed)
        return
    yield event("response.completed", response=response(turn, request, "completed", items, rid))


def parse_chat(path: str, body: dict[str, Any]) -> Request:
    items: list[tuple[str, str]] = []
    system = ""
    for m in body.get("messages") or []:
        role, text = m.get("role"), text_of(m.get("content"))
        if role in ("system", "developer"):
            system += text + "\n"
        elif role == "tool":
            items.append(("tool_result", text))
        else:
            items.append(("assistant" if role == "assistant" else "user", text))
    return Request(path, body, items, system, tool_names(body))


def chat_usage(turn: dict[str, Any], request: Request) -> dict[str, Any]:
    u = usage_of(turn, request)
    return {
        "prompt_tokens": u["input"],
        "completion_tokens": u["output"],
        "total_tokens": u["input"] + u["output"],
        "prompt_tokens_details": {"cached_tokens": u["cache_read"]},
        "completion_tokens_details": {"reasoning_tokens": u["reasoning"]},
    }


def chat_calls(turn: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "id": t.get("id") or new_id("call_"),
            "type": "function",
            "function": {"name": t["name"], "arguments": json.dumps(t.get("input") or {})},
        }
        for t in turn.get("tools") or []
    ]


def chat_completion(turn: dict[str, Any], request: Request) -> dict[str, Any]:
    calls = chat_calls(turn)
    message: dict[str, Any] = {"role": "assistant", "content": turn.get("text"), "refusal": None}
    if calls:
        message["tool_calls"] = calls
    stop = turn.get("stop") or ("tool_calls" if calls else "stop")
    return {
        "id": new_id("chatcmpl-"),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": turn.get("model") or request.model,
        "choices": [{"index": 0, "message": message, "finish_reason": stop, "logprobs": None}],
        "usage": chat_usage(turn, request),
        "system_fingerprint": "fp_fake",
    }


def chat_events(turn: dict[str, Any], request: Request) -> Iterator[tuple[None, Any]]:
    base = {
        "id": new_id("chatcmpl-"),
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": turn.get("model") or request.model,
        "system_fingerprint": "fp_fake",
    }
    size = int(turn.get("chunk") or 12)

    def chunk(delta: dict[str, Any], finish: str | None = None) -> tuple[None, dict[str, Any]]:
        return None, {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    for part in pieces(turn.get("text") or "", size):
        yield chunk({"content": part})
    calls = chat_calls(turn)
    for i, call in enumerate(calls):
        args = call["function"]["arguments"]
        yield chunk(
            {"tool_calls": [{"index": i, **call, "function": {"name": call["function"]["name"], "arguments": ""}}]}
        )
        for part in pieces(args, size):
            yield chunk({"tool_calls": [{"index": i, "function": {"arguments": part}}]})
    if turn.get("stream_error"):
        yield None, {"error": {"message": "fake", "type": "server_error", **turn["stream_error"]}}
        return
    yield chunk({}, turn.get("stop") or ("tool_calls" if calls else "stop"))
    if (request.body.get("stream_options") or {}).get("include_usage"):
        yield None, {**base, "choices": [], "usage": chat_usage(turn, request)}
    yield None, "[DONE]"


class OpenAIHandler(Handler):
    def error_body(self, kind: str, message: str) -> dict[str, Any]:
        return {"error": {"message": message, "type": kind, "param": None, "code": kind}}

    def route(self, method: str, path: str, body: dict[str, Any]) -> None:
        path = path.removeprefix("/v1") or "/"
        if method == "POST" and path == "/responses":
            request = parse_responses(path, body)
            turn = self.begin(request)
            if turn is None:
                return
            if request.stream:
                self.send_sse(response_events(turn, request), turn)
            else:
                self.send_json(200, response(turn, request, "completed", output_items(turn), new_id("resp_")))
        elif method == "POST" and path == "/chat/completions":
            request = parse_chat(path, body)
            turn = self.begin(request)
            if turn is None:
                return
            if request.stream:
                self.send_sse(chat_events(turn, request), turn)
            else:
                self.send_json(200, chat_completion(turn, request))
        elif method == "POST" and path == "/embeddings":
            texts = body.get("input")
            texts = texts if isinstance(texts, list) else [texts]
            data = [{"object": "embedding", "index": i, "embedding": embed(str(t))} for i, t in enumerate(texts)]
            tokens = sum(estimate_tokens(str(t)) for t in texts)
            self.send_json(
                200,
                {
                    "object": "list",
                    "model": body.get("model"),
                    "data": data,
                    "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
                },
            )
        elif method == "GET" and path == "/models":
            self.send_json(
                200,
                {"object": "list", "data": [{"id": "fake-model", "object": "model", "created": 0, "owned_by": "fake"}]},
            )
        elif path == "/":
            self.send_json(200, {"fake": "openai"})
        else:
            self.send_json(404, self.error_body("invalid_request_error", f"no route {method} {path}"))


def embed(text: str, size: int = 8) -> list[float]:
    """A deterministic unit vector of the text."""
    import hashlib

    raw = [b / 255 - 0.5 for b in hashlib.sha256(text.encode()).digest()[:size]]
    norm = sum(x * x for x in raw) ** 0.5 or 1.0
    return [x / norm for x in raw]


class FakeOpenAI(FakeServer):
    handler = OpenAIHandler
