import re
import subprocess
import sys
from pathlib import Path

import pytest

import bilex
import update_doc_outputs
from bilex import all_methods

ROOT = Path(__file__).resolve().parents[1]
TOOL = Path(update_doc_outputs.__file__)


def test_examples_print_what_the_documents_say():
    # In a process of its own, with its own number of threads; one of them adds a method that no other test should see.
    # The demo runs every method twice, which takes too long here.
    command = [sys.executable, "-W", "error", TOOL, "--check", "--skip", "bilex demo"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run: python tools/update_doc_outputs.py\n{done.stdout}{done.stderr}"


def test_the_api_page_has_every_public_name_once():
    text = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^::: bilex\.(\w+)$", text, re.MULTILINE)
    assert sorted(listed) == sorted(bilex.__all__)


def test_every_method_is_listed_where_it_belongs():
    text = (ROOT / "docs" / "reference" / "methods.md").read_text(encoding="utf-8")
    headings = {
        "supervised": "## With a dictionary\n",
        "semi-supervised": "## With a dictionary, and what they find themselves\n",
        "unsupervised": "## Without a dictionary\n",
    }
    for supervision, heading in headings.items():
        rows = re.findall(r"^\| (`[^|]+) \|", text.partition(heading)[2].partition("\n## ")[0], re.MULTILINE)
        listed = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
        expected = [name for name, m in all_methods().items() if m.supervision() == supervision]
        wrong = sorted({*listed} ^ {*expected})
        assert not wrong, f"docs/reference/methods.md, in the table under {heading.strip()!r}: add or remove {wrong}"
        assert sorted(listed) == expected


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_first_pages_count_all_methods(page):
    counts = {
        int(count)
        for count in re.findall(r"(\d+)\s+(?:methods|of its methods)", (ROOT / page).read_text(encoding="utf-8"))
    }
    assert counts == {len(all_methods())}, f"{page} says that there are {counts} methods"


def test_the_readme_has_the_two_commands_of_a_checkout():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert {*re.findall(r"^make (\w+)", text, re.MULTILINE)} == {"demo", "test"} <= {*targets}


def test_links_between_documents_lead_somewhere():
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        text = page.read_text(encoding="utf-8")
        named = re.findall(r"^\[[^]]+\]: ([^#:\s]+)", text, re.MULTILINE)
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text) + named:
            assert (page.parent / link).exists(), f"{page.relative_to(ROOT)}: {link}"


@pytest.mark.parametrize(
    ("written", "printed", "same"),
    [
        ("P@1 67.1", "P@1 67.2", True),
        ("P@1 67.1", "P@1  67.4", False),
        ("3,539 pairs", "3,541 pairs", True),
        ("3,539 pairs", "3,639 pairs", False),
        ("5 pairs", "6 pairs", False),
        ("Done in 13 s.", "Done in 4 s.", True),
        ("chat 0.177", "chien 0.177", False),
    ],
)
def test_numbers_may_differ_a_little_and_words_may_not(written, printed, same):
    assert update_doc_outputs.agree(written, printed) is same


def test_a_changed_output_is_put_in_its_place():
    text = '```console\n$ echo one\none\n\n$ echo two\nzwei\n```\n\n```python\nprint("x")\n```\n\n```text\ny\n```\n'
    assert update_doc_outputs.run_document(text) == text.replace("zwei", "two").replace("y\n```", "x\n```")
