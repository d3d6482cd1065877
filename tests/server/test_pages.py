"""The pages of the studio: what is served for which address, and how long a browser may keep it."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from lionstudio.server.app import create_app
from lionstudio.server.guard import Door
from lionstudio.settings import Settings, load_settings
from tests.server.conftest import BASE

INDEX = "<!doctype html><title>The studio</title>"
SCRIPT = "export const lion = 'studio'\n" * 100


def make_pages(folder: Path) -> Path:
    """Pages as the build leaves them, and a secret beside them."""
    web = folder / "web"
    (web / "assets").mkdir(parents=True)
    (web / "index.html").write_text(INDEX)
    (web / "theme.js").write_text("'theme'")
    (web / "favicon.svg").write_text("<svg/>")
    (web / "assets" / "main-1a2b.js").write_text(SCRIPT)
    (web / "assets" / "main-1a2b.js.gz").write_bytes(gzip.compress(SCRIPT.encode()))
    (web / "assets" / "letters-3c.woff2").write_bytes(b"wOF2")
    (folder / "secret.txt").write_text("secret")
    (web / "assets" / "way-out.txt").symlink_to(folder / "secret.txt")
    return web


def settings_in(folder: Path) -> Settings:
    return load_settings({"HOME": str(folder), "LIONSTUDIO_WEB": str(folder / "web")})


@pytest.fixture(scope="module")
def visitor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A client of a server with pages, one for all tests: they only look."""
    folder = tmp_path_factory.mktemp("pages")
    make_pages(folder)
    with TestClient(create_app(settings_in(folder)), base_url=BASE) as client:
        yield client


@pytest.mark.parametrize("path", ["/", "/runs", "/runs/night-1", "/runs/a.b.c", "/shows/ledger/x%2Fy", "/no/such/page"])
def test_every_address_that_is_a_page_is_the_studio(visitor: TestClient, path: str) -> None:
    answer = visitor.get(path)
    assert (answer.status_code, answer.text) == (200, INDEX)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"


def test_a_browser_that_has_the_page_is_sent_nothing(visitor: TestClient) -> None:
    tag = visitor.get("/").headers["etag"]
    answer = visitor.get("/runs", headers={"If-None-Match": tag})
    assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", tag)
    assert visitor.get("/theme.js", headers={"If-None-Match": tag}).status_code == 200


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/assets/main-1a2b.js", "text/javascript; charset=utf-8"),
        ("/assets/letters-3c.woff2", "font/woff2"),
    ],
)
def test_an_asset_is_kept_for_ever(visitor: TestClient, path: str, kind: str) -> None:
    answer = visitor.get(path)
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"] == kind


@pytest.mark.parametrize(
    "path", ["/assets/%2e%2e/index.html", "/assets/..%2findex.html", "/assets/x/%2e%2e/%2e%2e/theme.js"]
)
def test_the_way_to_a_file_does_not_make_it_an_asset(visitor: TestClient, path: str) -> None:
    answer = visitor.get(path)
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache")


@pytest.mark.parametrize(("path", "kind"), [("/theme.js", "text/javascript"), ("/favicon.svg", "image/svg+xml")])
def test_a_file_whose_name_stays_is_asked_for_again(visitor: TestClient, path: str, kind: str) -> None:
    answer = visitor.get(path)
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["content-type"].startswith(kind)


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [("gzip, deflate, br", "gzip"), ("*", "gzip"), ("identity", None), ("gzip;q=0", None), ("br, gzip; q=0.5", "gzip")],
)
def test_an_asset_comes_packed_to_those_who_can_unpack_it(
    visitor: TestClient, accepted: str, coding: str | None
) -> None:
    answer = visitor.get("/assets/main-1a2b.js", headers={"Accept-Encoding": accepted})
    assert (answer.text, answer.headers.get("content-encoding")) == (SCRIPT, coding)
    assert answer.headers["vary"] == "Accept-Encoding"
    assert (int(answer.headers["content-length"]) < len(SCRIPT)) is (coding is not None)


@pytest.mark.parametrize("path", ["/assets/gone-4d.js", "/assets/", "/favicon.ico", "/robots.txt"])
def test_a_file_that_is_not_there_is_not_the_page(visitor: TestClient, path: str) -> None:
    answer = visitor.get(path, headers={"Accept": "text/html"})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
@pytest.mark.parametrize("path", ["/api", "/api/", "/api/nothing", "/api/plays/x/y/z"])
def test_an_unknown_address_of_the_api_is_told_in_json(visitor: TestClient, method: str, path: str) -> None:
    answer = visitor.request(method, path, headers={"Accept": "text/html"})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_what_a_known_address_does_not_do_is_still_said(visitor: TestClient) -> None:
    answer = visitor.delete("/api/stats")
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")


def test_nothing_can_be_sent_to_a_page(visitor: TestClient) -> None:
    assert visitor.post("/runs").status_code == 404


def test_the_head_of_a_page_can_be_asked_for(visitor: TestClient) -> None:
    answer = visitor.head("/")
    assert (answer.status_code, answer.content, int(answer.headers["content-length"])) == (200, b"", len(INDEX))


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../../secret.txt",
        "/assets/%2e%2e/%2e%2e/secret.txt",
        "/assets/..%2f..%2fsecret.txt",
        "/..%2fsecret.txt",
        "/%2e%2e/secret.txt",
        "/assets/way-out.txt",
        "/assets//etc/passwd",
        "//etc/passwd",
        "/assets/%2fetc%2fpasswd",
        "/assets/a%00b",
        f"/assets/{'a' * 5000}",
        f"/runs/{'a' * 5000}",
    ],
)
def test_no_path_leaves_the_folder(visitor: TestClient, path: str) -> None:
    answer = visitor.get(path)
    assert answer.status_code in {200, 404}
    assert "secret" not in answer.text and "root:" not in answer.text
    if answer.status_code == 200:
        assert answer.text == INDEX


def test_a_page_may_run_no_script_but_its_own(visitor: TestClient) -> None:
    policy = visitor.get("/").headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy


def test_without_the_build_a_plain_page_says_what_to_type(tmp_path: Path) -> None:
    with TestClient(create_app(settings_in(tmp_path)), base_url=BASE) as visitor:
        answer = visitor.get("/runs")
        assert answer.status_code == 200
        assert "<code>make web</code>" in answer.text
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["cache-control"] == "no-cache"
        make_pages(tmp_path)
        assert visitor.get("/runs").text == INDEX  # built meanwhile


def test_pages_and_assets_are_for_those_who_have_the_token(tmp_path: Path) -> None:
    make_pages(tmp_path)
    door = Door("0.0.0.0", frozenset(), "secret-of-sixteen")
    with TestClient(create_app(settings_in(tmp_path), door), base_url="http://192.0.2.1:8765") as stranger:
        page = stranger.get("/runs/night-1", headers={"Accept": "text/html"}, follow_redirects=False)
        assert (page.status_code, page.headers["location"]) == (303, "/login")
        assert stranger.get("/assets/main-1a2b.js").status_code == 401
        policy = stranger.get("/login").headers["content-security-policy"]
        assert "style-src 'sha256-" in policy and "unsafe" not in policy
        assert stranger.post("/login", data={"token": "secret-of-sixteen"}).text == INDEX
        assert stranger.get("/assets/main-1a2b.js").text == SCRIPT
