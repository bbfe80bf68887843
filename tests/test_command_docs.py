import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def load_tool():
    spec = importlib.util.spec_from_file_location("update_command_docs", ROOT / "tools" / "update_command_docs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_commands_is_what_the_commands_say():
    tool = load_tool()
    written = tool.PAGE.read_text(encoding="utf-8")
    assert written == tool.page(), "run: python tools/update_command_docs.py"
