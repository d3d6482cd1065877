"""lionagi's own models, against a model server of ours."""

from typing import Any

from lionagi import iModel

from tests.fakes.fake_openai import FakeOpenAI


def model_at(server: FakeOpenAI, model: str = "fake-model", **more: Any) -> iModel:
    return iModel(
        provider="openai",
        endpoint="chat",
        model=model,
        api_key="dummy",
        base_url=f"{server.url}/v1",
        requires_tokens=False,  # else it downloads a table to count them by
        allow_local_network=True,
        **more,
    )
