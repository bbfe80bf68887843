import importlib.util
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[1] / "tools" / "update_result_docs.py"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("update_result_docs", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_those_of_the_results(tool):
    assert sum("<!-- end -->" in page.read_text(encoding="utf-8") for page in tool.pages()) > 0
    for page in tool.pages():
        text = page.read_text(encoding="utf-8")
        assert text.count("<!-- end -->") == len(tool.MARKED.findall(text)), page.name
        assert text == tool.updated(text), f"{page.name}: run: python tools/update_result_docs.py"
