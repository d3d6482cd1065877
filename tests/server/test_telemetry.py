"""The framework can send traces, metrics and logs of every request elsewhere. Ours does not, whatever it is told."""

import os
import subprocess
import sys
from pathlib import Path

ASK_WHILE_SOMEBODY_TRACES = """
import sys
from opentelemetry import trace
from starlette.testclient import TestClient
from lionstudio.server.app import create_app
from lionstudio.settings import load_settings

class Provider(trace.TracerProvider):
    def get_tracer(self, name, *args, **kwargs):
        traced.append(name)
        return trace.NoOpTracer()

traced = []
trace.set_tracer_provider(Provider())
with TestClient(create_app(load_settings()), base_url="http://127.0.0.1:8765") as client:
    assert client.get("/api/sessions").status_code == 200
    assert client.post("/api/sessions", json={"name": 5}).status_code == 422
print(traced)
"""


def test_nothing_is_told_of_any_request(tmp_path: Path) -> None:
    asked = {"LIONAGI_HOME": str(tmp_path), "FASTAPI_OTEL_AUTO_CONFIGURE": "true", "OTEL_TRACES_EXPORTER": "console"}
    words = [sys.executable, "-c", ASK_WHILE_SOMEBODY_TRACES]
    done = subprocess.run(words, env={**os.environ, **asked}, capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == ("[]\n", "", 0)
