"""A studio that serves a world, and a browser to look at it."""

import shutil
import threading
from types import TracebackType
from typing import Any, ClassVar

from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Playwright, Request

from lionstudio.server.app import create_app
from lionstudio.server.guard import Door
from lionstudio.server.serving import StudioServer, listen
from lionstudio.settings import Settings

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium")
# Sandboxes and shared memory are what a container lacks; the size of a scroll bar is what machines disagree about.
ARGUMENTS = ("--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars")
TELL_VIOLATIONS = """document.addEventListener('securitypolicyviolation', (event) =>
  console.error(`policy: ${event.violatedDirective} refused ${event.blockedURI} in ${event.sourceFile}`))"""


class Studio:
    """The server in a thread of its own, on a real socket. Stopped and started again it has the same address."""

    _leaving: ClassVar[list[threading.Thread]] = []

    def __init__(self, settings: Settings, door: Door | None = None) -> None:
        self._settings = settings
        self._door = Door() if door is None else door
        self._port = 0
        self._server: StudioServer | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        sock = listen("127.0.0.1", self._port)
        assert self._port in {0, sock.getsockname()[1]}, "somebody else took the port"
        self._port = sock.getsockname()[1]
        ready = threading.Event()
        self._server = StudioServer(create_app(self._settings, self._door), ready.set)
        self._thread = threading.Thread(target=self._server.serve_on, args=(sock,))
        self._thread.start()
        assert ready.wait(30)

    def stop(self) -> None:
        thread = self._thread
        self._let_go()
        if thread is not None:
            thread.join(30)
            assert not thread.is_alive()

    def _let_go(self) -> None:
        """Stop, without waiting: that takes a second, in which the kernel lets go of a folder that was watched."""
        if self._server is not None and self._thread is not None:
            self._server.stop()
            self._leaving.append(self._thread)
        self._server = self._thread = None

    @classmethod
    def wait_for_leaving(cls) -> None:
        """Until every studio that was let go is gone, with its doctor and its descriptors."""
        while cls._leaving:
            thread = cls._leaving.pop()
            thread.join(30)
            assert not thread.is_alive()

    def __enter__(self) -> "Studio":
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._let_go()


def launch(playwright: Playwright) -> Browser:
    """The Chromium of this machine."""
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        raise RuntimeError("No Chromium was found. Install it: apt-get install chromium, or brew install chromium.")
    return playwright.chromium.launch(executable_path=path, args=ARGUMENTS)


class Visit:
    """A page of a studio in a browser that has seen nothing yet, and everything that went wrong on it."""

    def __init__(self, browser: Browser, url: str, **context: Any) -> None:
        self.problems: list[str] = []
        self._url = url
        size = {"width": 1440, "height": 900}
        self.context = browser.new_context(**{"base_url": url, "viewport": size, "reduced_motion": "reduce", **context})
        self.context.add_init_script(TELL_VIOLATIONS)
        self.context.on("page", self._watch)
        self.page: Page = self.context.new_page()

    def close(self) -> None:
        self.context.close()

    def _watch(self, page: Page) -> None:
        page.on("console", self._on_console)
        page.on("pageerror", self._on_error)
        page.on("request", self._on_request)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.problems.append(f"{message.type}: {message.text[:300]} ({message.location.get('url')})")

    def _on_error(self, error: Error) -> None:
        self.problems.append(f"uncaught: {error}")

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith((f"{self._url}/", "data:", "blob:")):
            self.problems.append(f"asked another host: {request.url}")
