"""Generated pages say what the code says now."""

import pytest
from docs.generate import FOLDER, pages


@pytest.mark.parametrize(("name", "text"), pages().items(), ids=pages())
def test_a_generated_page_is_current(name, text):
    assert (FOLDER / name).read_text() == text, "run `make generate`"
