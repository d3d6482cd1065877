"""What a browser finds at the address of the server."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from lionstudio.version import __version__

router = APIRouter(include_in_schema=False)

PAGE = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Lion Studio</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
  :root {{ color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif }}
  body {{ max-width: 38rem; margin: 12vh auto; padding: 0 1rem }}
  code {{ font-size: .95em }}
</style></head><body>
<h1>Lion Studio {__version__}</h1>
<p>The server is running. Its pages are being built; what they will show can be asked for now:</p>
<ul>
<li><a href="/api/stats">/api/stats</a>: what is running, what is stuck, what needs you</li>
<li><a href="/api/attention">/api/attention</a>: each thing that needs you, and why</li>
<li><a href="/api/sessions">/api/sessions</a>: every run</li>
<li><a href="/api/openapi.json">/api/openapi.json</a>: everything else</li>
</ul>
<p>In a terminal: <code>li runs ls</code>, <code>li runs show RUN</code>, <code>li runs tail -f RUN</code>.</p>
</body></html>"""


@router.get("/")
def show_home() -> HTMLResponse:
    """A page that says what is here."""
    return HTMLResponse(PAGE)
