"""Accessibility as axe sees it: what a page does that keeps people out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

AXE = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"
GRAVE = ("serious", "critical")

OF_COLOURS = ["color-contrast", "link-in-text-block"]

RUN = """async ([within, rules]) => {
  const only = rules === null ? {} : { runOnly: { type: 'rule', values: rules } }
  const found = await axe.run(within ?? document, { resultTypes: ['violations'], ...only })
  return found.violations.map(({ id, impact, help, nodes }) =>
    ({ id, impact, help, where: nodes.map((node) => `${node.target.join(' ')}: ${node.failureSummary}`) }))
}"""


def find_violations(
    page: Page, *, within: str | None = None, rules: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """Every rule that the page breaks, the light ones too; `within` is a selector."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())  # not as a script element, which the content security policy forbids
    found: list[dict[str, Any]] = page.evaluate(RUN, [within, rules])
    return found


def expect_accessible(page: Page, *, within: str | None = None, rules: Sequence[str] | None = None) -> None:
    """Fail with what is wrong and where, if anything is that keeps people out."""
    grave = [one for one in find_violations(page, within=within, rules=rules) if one["impact"] in GRAVE]
    told = [f"{one['id']} ({one['impact']}): {one['help']}\n    " + "\n    ".join(one["where"]) for one in grave]
    assert not grave, "\n".join(told)


def expect_accessible_in_both_themes(page: Page, *, within: str | None = None) -> None:
    """The same, and once more in dark what is a matter of colours: nothing else differs between the themes."""
    for theme, rules in (("light", None), ("dark", OF_COLOURS)):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        page.evaluate("() => Promise.all(document.getAnimations().map((one) => one.finished.catch(() => 0)))")
        expect_accessible(page, within=within, rules=rules)
