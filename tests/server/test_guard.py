"""Who may come in, and how much they may bring."""

import gzip
import json
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient

from lionstudio.domain.errors import InvalidRequest
from lionstudio.server.guard import BODY_LIMIT, Door
from lionstudio.server.serving import require_door
from tests.server.conftest import BASE
from tests.server.test_recording import ok

READY = "/api/ready"


@pytest.fixture
def location(sqlite_path: Path) -> str:
    """One database is enough: the door stands before it."""
    return str(sqlite_path)


def test_the_server_is_ready(client: TestClient) -> None:
    answer = client.get(READY)
    assert answer.status_code == 200
    assert answer.json()["feed_problem"] is None


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765", "[::1]:8765", "localhost"])
def test_this_machine_is_known_under_its_own_names(client: TestClient, host: str) -> None:
    assert client.get(READY, headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "192.0.2.1", "[", "localhost:x@evil.example"]
)
def test_a_name_that_was_made_to_point_here_is_refused(client: TestClient, host: str) -> None:
    answer = client.get(READY, headers={"Host": host})
    assert answer.status_code == 403
    assert answer.json()["code"] == "host_not_allowed"
    assert "--allow-host" in answer.json()["hint"]


def test_who_names_two_hosts_is_refused(client: TestClient) -> None:
    answer = client.get("/api/ready", headers=[("Host", "127.0.0.1:8765"), ("Host", "evil.example")])
    assert (answer.status_code, answer.json()["code"]) == (403, "host_not_allowed")


FOREIGN = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:9999"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-User": "?1"},
    {"Sec-Fetch-Site": "same-site"},  # another port of this machine
]


@pytest.mark.parametrize("headers", FOREIGN)
def test_another_site_changes_nothing(client: TestClient, headers: dict[str, str]) -> None:
    answer = client.post("/api/sessions", json={}, headers=headers)
    assert answer.status_code == 403
    assert answer.json()["code"] == "cross_site"


@pytest.mark.parametrize("headers", FOREIGN)
def test_another_site_cannot_make_a_read_do_work(client: TestClient, headers: dict[str, str]) -> None:
    answer = client.get("/api/admin/export", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "cross_site")
    assert client.get("/api/admin/events", params={"action": "export"}).json()["items"] == []


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}, id="the studio's own page"),
        pytest.param({"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}, id="an address that was typed"),
        pytest.param({"Origin": BASE}, id="a browser that knows only Origin"),
        pytest.param({}, id="no browser"),
    ],
)
def test_our_own_pages_and_programs_read_and_write(client: TestClient, headers: dict[str, str]) -> None:
    assert client.get("/api/admin/export", headers=headers).status_code == 200
    assert client.post("/api/sessions", json={}, headers=headers).status_code == 201


def test_a_link_on_another_site_may_lead_to_a_page(client: TestClient) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Accept": "text/html"}
    assert client.get("/", headers=headers).status_code == 200


def test_a_body_that_is_not_json_is_refused_by_its_kind(client: TestClient) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
        answer = client.post("/api/sessions", content=b"{}", headers={"Content-Type": kind})
        assert answer.status_code == 415, kind
        assert answer.json()["hint"] == "Send the header Content-Type: application/json."


def test_a_compressed_body_is_not_taken_for_broken_json(client: TestClient) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    answer = client.post("/api/sessions", content=gzip.compress(b"{}"), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (415, "compressed_body")


def test_a_body_of_more_than_16_mib_is_refused(client: TestClient) -> None:
    answer = client.post("/api/sessions", content=b" " * (BODY_LIMIT + 1), headers={"Content-Type": "application/json"})
    assert answer.status_code == 413
    assert answer.json()["code"] == "body_too_large"


def test_a_body_that_does_not_say_how_long_it_is_is_counted(client: TestClient) -> None:
    part = b" " * (1024 * 1024)
    answer = client.post(
        "/api/sessions", content=(part for _ in range(17)), headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 413


def test_answers_carry_safe_headers(client: TestClient) -> None:
    headers = client.get(READY).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert (policy["default-src"], policy["script-src"], policy["style-src"]) == ("'self'",) * 3  # nothing inline
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert client.get("/nowhere").headers["x-frame-options"] == "DENY"


def test_an_unknown_address_says_so_in_the_one_shape(client: TestClient) -> None:
    for path in ("/api/nothing", "/api/sessions/../etc/passwd", "/assets/nothing.js"):
        answer = client.get(path, headers={"Accept": "text/html"})
        assert answer.status_code == 404
        assert set(json.loads(answer.content)) == {"code", "message", "hint"}


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", ["/api/nothing", "/api/nothing/", "/api/", "/api", "/nothing", "/login/"])
def test_an_unknown_address_is_unknown_for_every_method(client: TestClient, method: str, path: str) -> None:
    answer = client.request(method, path, follow_redirects=False)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_one_slash_at_the_end_of_an_address_changes_nothing(client: TestClient) -> None:
    ok(client.post("/api/sessions/", json={"id": "run-1"}), 201)
    ok(client.post("/api/sessions/run-1/messages/", json={"role": "user", "content": "x"}), 201)
    for path in ("/api/ready", "/api/sessions", "/api/sessions/run-1", "/api/sessions/run-1/messages", "/api/plays"):
        answer = client.get(f"{path}/", follow_redirects=False)
        assert (answer.status_code, answer.json()) == (200, client.get(path).json())
        assert client.get(f"{path}//").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/api/ready", "GET, HEAD"),
        ("DELETE", "/api/sessions", "GET, HEAD, POST"),
        ("PUT", "/api/sessions/one/messages", "GET, HEAD, POST"),
        ("GET", "/api/admin/vacuum", "POST"),
        ("HEAD", "/api/admin/vacuum", "POST"),
        ("HEAD", "/api/events", "GET"),
        ("HEAD", "/api/admin/export", "GET, POST"),
        ("DELETE", "/login", "GET, POST"),
    ],
)
def test_what_cannot_be_done_names_what_can(client: TestClient, method: str, path: str, allowed: str) -> None:
    answer = client.request(method, path)
    assert answer.status_code == 405
    assert method == "HEAD" or answer.json()["code"] == "method_not_allowed"
    assert answer.headers["allow"] == allowed


def test_head_tells_what_get_would_without_the_body(studio_url: str) -> None:
    httpx.post(f"{studio_url}/api/sessions", json={"id": "run-1"}).raise_for_status()
    for path in ("/api/plays", "/api/teams", "/api/sessions/run-1/messages"):
        head, whole = httpx.head(studio_url + path), httpx.get(studio_url + path)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == str(len(whole.content))
    assert httpx.head(f"{studio_url}/api/sessions/none/messages").status_code == 404
    asked = {"If-None-Match": httpx.head(f"{studio_url}/api/plays").headers["etag"]}
    assert httpx.head(f"{studio_url}/api/plays", headers=asked).status_code == 304


def test_without_a_token_only_this_machine_may_come_in() -> None:
    with pytest.raises(InvalidRequest, match="needs a token") as caught:
        require_door("0.0.0.0", frozenset(), None)
    assert "LIONAGI_TOKEN" in str(caught.value.hint)
    assert require_door("127.0.0.1", frozenset(), None).token is None
    assert require_door("0.0.0.0", frozenset(), "0123456789abcdef").token == "0123456789abcdef"
    for host in ("0.0.0.0", "127.0.0.1"):
        with pytest.raises(InvalidRequest, match="LIONAGI_TOKEN does not hold a token"):
            require_door(host, frozenset(), "0123456789abcde")


class TestToken:
    def test_without_it_nobody_comes_in(self, guarded: TestClient) -> None:
        answer = guarded.get(READY)
        assert answer.status_code == 401
        assert answer.json()["code"] == "unauthorized"
        assert answer.headers["www-authenticate"] == "Bearer"

    @pytest.mark.parametrize("header", ["Bearer wrong", "Bearer", "Basic secret", "secret", "Bearer s\u00e9cret"])
    def test_a_wrong_one_is_no_better(self, guarded: TestClient, header: str) -> None:
        assert guarded.get(READY, headers={"Authorization": header.encode()}).status_code == 401

    def test_with_it_programs_come_in(self, guarded: TestClient) -> None:
        assert guarded.get(READY, headers={"Authorization": "Bearer secret"}).status_code == 200

    def test_a_browser_is_sent_to_the_page_that_asks(self, guarded: TestClient) -> None:
        answer = guarded.get("/", headers={"Accept": "text/html"}, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, "/login")
        assert "Token" in guarded.get("/login").text

    def test_a_browser_gets_a_cookie_that_is_not_the_token(self, guarded: TestClient) -> None:
        assert guarded.post("/login", data={"token": "secret", "more": "x" * 5_000}).status_code == 413
        answer = guarded.post("/login", data={"token": "secret"}, follow_redirects=False)
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert "secret" not in cookie
        assert guarded.get(READY).status_code == 200  # the client keeps it

    @pytest.mark.parametrize(
        "others",
        [
            'x={"a": 1}; {}',
            "a=b c; {}",
            "name=Jos\u00e9; {}",
            "pref=a,b[c]; {}; z",
            "{name}=bad; {}",
            "{};{name}=bad",
        ],
    )
    def test_the_cookies_of_others_do_not_log_anybody_out(self, guarded: TestClient, others: str) -> None:
        answer = guarded.post("/login", data={"token": "secret"}, follow_redirects=False)
        ours = answer.headers["set-cookie"].partition(";")[0]
        guarded.cookies.clear()
        cookies = others.replace("{}", ours).replace("{name}", ours.partition("=")[0]).encode()
        assert guarded.get(READY, headers={"Cookie": cookies}).status_code == 200
        assert guarded.get(READY, headers={"Cookie": cookies.replace(ours.encode(), b"")}).status_code == 401

    def test_two_studios_on_one_host_do_not_log_each_other_out(self) -> None:
        one, other = Door(token="secret" * 4), Door(token="another" * 4)
        assert one.cookie_name != other.cookie_name

    def test_a_wrong_token_is_not_let_in(self, guarded: TestClient) -> None:
        answer = guarded.post("/login", data={"token": "wrong"}, follow_redirects=False)
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers
        assert "not the token" in answer.text

    def test_names_need_to_be_known_and_addresses_do_not(self, guarded: TestClient) -> None:
        headers = {"Authorization": "Bearer secret"}
        assert guarded.get(READY, headers={**headers, "Host": "studio.example"}).status_code == 200
        assert guarded.get(READY, headers={**headers, "Host": "evil.example"}).status_code == 403
