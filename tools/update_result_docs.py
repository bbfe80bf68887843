"""Update the result tables in the documents under docs/results from the benchmark cells in the same folder.

    python tools/update_result_docs.py

Report pages and plots that a document links to are written, too, to the folder of their results. A document marks each
table by its suite and its name. Everything up to the end mark is replaced:

    <!-- open: p_at_1 -->
    <!-- end -->

Table names are those of the report: p_at_1, p_at_1_all, margins, cost, data, failures.
"""

from __future__ import annotations

import re
import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from bilex.bench.report.report import make_report, write
from bilex.page.markup import pipe_table

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "results"
MARKED = re.compile(
    r"(?P<mark><!-- (?P<suite>[\w-]+): (?P<table>\w+) -->\n).*?(?=^<!-- end -->$)", re.MULTILINE | re.DOTALL
)

LINKED = re.compile(r"\]\(([\w-]+)/(report\.html|plots/[\w-]+\.svg)\)")


def main() -> None:
    """Update all documents, pages and plots."""
    linked = {found.groups() for page in pages() for found in LINKED.finditer(page.read_text(encoding="utf-8"))}
    for suite in {suite for suite, _ in linked}:
        with TemporaryDirectory() as folder:
            written = Path(folder)
            write(make_report(RESULTS / suite), written, ("html", "svg"))
            for name in (name for owner, name in linked if owner == suite):
                (RESULTS / suite / name).parent.mkdir(exist_ok=True)
                shutil.copyfile(written / name, RESULTS / suite / name)
    for page in pages():
        page.write_text(updated(page.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")


def pages() -> list[Path]:
    """All documents that may contain tables."""
    return sorted(RESULTS.glob("*.md"))


def updated(text: str) -> str:
    """The document with current tables."""
    return MARKED.sub(lambda found: f"{found['mark']}\n{_tables(found['suite'])[found['table']]}\n\n", text)


@cache
def _tables(suite: str) -> dict[str, str]:
    return {table.name: pipe_table(table) for table in make_report(RESULTS / suite).tables}


if __name__ == "__main__":
    main()
