"""Pages that need no build: one style, no script, and a policy that allows exactly that style."""

import base64
import hashlib
from collections.abc import Mapping

from fastapi.responses import HTMLResponse

STYLE = """
  :root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif }
  body { max-width: 38rem; margin: 12vh auto; padding: 0 1rem }
  form { display: grid; gap: .75rem; max-width: 22rem; margin: 0 auto }
  input, button { font: inherit; padding: .5rem .75rem }
  code { font-size: .95em }
"""
_DIGEST = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
}


def plain_page(body: str, status: int = 200) -> HTMLResponse:
    """A page around a body that is HTML already."""
    return HTMLResponse(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Lion Studio</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{STYLE}</style></head><body>\n{body}\n</body></html>\n",
        status,
        HEADERS,
    )
