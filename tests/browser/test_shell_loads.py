"""Every page of the studio opens, whichever address one comes in by."""

from playwright.sync_api import Page, expect


def test_the_studio_opens(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("navigation").first).to_be_visible()
