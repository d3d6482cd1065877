"""Pictures of the studio, with a believable world in it.

    python -m tests.browser.look / /runs '/runs/{Refactor the parser}' --theme dark --out /tmp/runs.png

A name in braces becomes the id of that run or team; `--names` prints them all. LIONSTUDIO_WEB says which pages to show.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.browser.studio import Studio, Visit, launch
from tests.browser.world import World, build


def main(words: list[str]) -> int:
    args = _parser().parse_args(words)
    with tempfile.TemporaryDirectory(prefix="lionstudio-look-") as folder, build(Path(folder), size=args.size) as world:
        if args.names:
            print("\n".join(f"{id}  {name}" for name, id in {**world.runs, **world.teams}.items()))
        return _take_pictures(world, args)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="look", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("path", nargs="*", help="addresses in the studio, such as /runs?status=failed")
    parser.add_argument("--theme", choices=("light", "dark", "both"), default="light")
    parser.add_argument("--width", type=int, default=1440)
    parser.add_argument("--height", type=int, default=900)
    parser.add_argument("--out", default="/tmp/look.png", help="several pictures get their path in the name")
    parser.add_argument("--full", action="store_true", help="the whole page, not only what is in the window")
    parser.add_argument("--click", action="append", default=[], metavar="WHAT", help="a selector or text=…; in order")
    parser.add_argument("--hover", metavar="WHAT", help="a selector or text=…")
    parser.add_argument("--press", action="append", default=[], metavar="KEY", help="such as Control+k; after clicks")
    parser.add_argument("--type", metavar="TEXT", help="text to type, after the keys")
    parser.add_argument("--wait", type=float, default=0.6, metavar="SECONDS", help="before the picture (0.6)")
    parser.add_argument("--size", type=int, default=60, help="how many runs there are; 0 for an empty studio")
    parser.add_argument("--names", action="store_true", help="print the ids and names of runs and teams")
    return parser


def _take_pictures(world: World, args: argparse.Namespace) -> int:
    themes = ("light", "dark") if args.theme == "both" else (args.theme,)
    wanted = [(path, theme) for path in args.path for theme in themes]
    bad = 0
    with sync_playwright() as playwright, Studio(world.settings) as studio:
        browser = launch(playwright)
        for path, theme in wanted:
            size = {"width": args.width, "height": args.height}
            visit = Visit(browser, studio.url, color_scheme=theme, viewport=size)
            page = visit.page
            page.goto(_with_ids(path, world))
            _act(page, args)
            out = Path(args.out) if len(wanted) == 1 else _named(Path(args.out), path, theme)
            page.screenshot(path=out, full_page=args.full)
            visit.close()
            print(f"{out}  {path} {theme}")
            for problem in visit.problems:
                bad = 1
                print(f"  {problem}")
        browser.close()
    return bad


def _act(page: Page, args: argparse.Namespace) -> None:
    page.locator("#root > *").first.wait_for()
    page.wait_for_timeout(args.wait * 1000)
    for what in args.click:
        page.locator(what).first.click()
    for key in args.press:
        page.keyboard.press(key)
    if args.type:
        page.keyboard.type(args.type)
    if args.hover:
        page.locator(args.hover).first.hover()
    if args.click or args.press or args.type or args.hover:
        page.wait_for_timeout(args.wait * 1000)


def _with_ids(path: str, world: World) -> str:
    ids = {**world.runs, **world.teams}
    return re.sub(r"\{([^}]*)\}", lambda name: ids.get(name[1], name[1]), path)


def _named(out: Path, path: str, theme: str) -> Path:
    name = re.sub(r"[^A-Za-z0-9]+", "-", path).strip("-") or "home"
    return out.with_name(f"{out.stem}-{name}-{theme}{out.suffix}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
