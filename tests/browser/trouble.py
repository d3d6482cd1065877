"""Answers that fail, as a busy database or a studio that is away give them."""

from collections.abc import Callable

from playwright.sync_api import Page, Route

LISTEN = """addEventListener('click', ({ target }) => {
  if (target.closest('button')?.textContent.includes('Try again')) window.tellThatItIsTriedAgain()
}, { capture: true })"""


def fail_until_tried_again(page: Page, address: str, fail: Callable[[Route], None]) -> None:
    """Let requests fail until "Try again" is pressed: a page that asks by itself would heal before that."""
    tries: list[bool] = []
    page.expose_function("tellThatItIsTriedAgain", lambda: tries.append(True))
    page.evaluate(LISTEN)
    page.add_init_script(LISTEN)
    page.route(address, lambda route: route.continue_() if tries else fail(route))
