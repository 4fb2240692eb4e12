import re
import pathlib

import pytest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/engine.md"


def test_the_snippets_of_the_page_run_in_their_order(case, orders):
    pytest.importorskip("pandas")
    snippets = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    assert len(snippets) == 5
    names = {"path": case.path, "path_of_orders": orders.path, "__name__": "docs"}
    for number, snippet in enumerate(snippets):
        exec(compile(snippet, f"docs/engine.md, Python snippet {number}", "exec"), names)
