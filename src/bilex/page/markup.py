"""Tables as Markdown, LaTeX, CSV and HTML. All text is escaped."""

from __future__ import annotations

import csv
import html
import io
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bilex.page.tables import Entry, Row, Table

LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "†": r"$^{\dagger}$",
    "‡": r"$^{\ddagger}$",
}
FORMULA_STARTS = "=+-@\t\r\n＝＋－＠"
"""Characters that begin a formula in a spreadsheet; the full-width forms do so with Japanese settings."""
INVALID_IN_HTML = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\ud800-\\udfff\\ufffe\\uffff]")


def markdown(table: Table) -> str:
    """A heading, a pipe table, and its notes."""
    notes = (f"\n{escape_markdown(note)}" for note in table.notes)
    return "\n".join([f"## {escape_markdown(table.title)}", "", pipe_table(table), *notes, ""])


def pipe_table(table: Table) -> str:
    """The table in Markdown, without heading and notes."""
    lines = [_pipes(escape_markdown(text) for text in table.header)]
    lines += [_pipes(["---"] * table.left + ["---:"] * (len(table.header) - table.left))]
    return "\n".join(lines + [_pipes(_markdown_entry(entry, row) for entry in row.entries) for row in table.rows])


def latex(table: Table) -> str:
    """A LaTeX table for the package booktabs."""
    columns = "l" * table.left + "r" * (len(table.header) - table.left)
    lines = [r"\begin{table}", r"  \centering", rf"  \begin{{tabular}}{{{columns}}}", r"    \toprule"]
    lines += [_ampersands(escape_latex(text) for text in table.header), r"    \midrule"]
    lines += [_ampersands(_latex_entry(entry, row) for entry in row.entries) for row in table.rows]
    lines += [r"    \bottomrule", r"  \end{tabular}"]
    caption = " ".join(escape_latex(text) for text in (f"{table.title}.", *table.notes))
    label = re.sub(r"[^a-z0-9]+", "-", table.name.lower())
    return "\n".join([*lines, rf"  \caption{{{caption}}}", rf"  \label{{tab:{label}}}", r"\end{table}", ""])


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Comma-separated values. An apostrophe before a text keeps a spreadsheet from evaluating it as a formula."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")  # so that both characters are quoted inside a text
    writer.writerows([_escape_formula(value) for value in row] for row in (header, *rows))
    return buffer.getvalue().replace("\r\n", "\n")


def table_csv(table: Table) -> str:
    """The table as CSV, without bold type and marks."""
    return csv_text(table.header, ([entry.text for entry in row.entries] for row in table.rows))


def html_table(table: Table) -> str:
    """A table in a scrollable frame, with its notes but without its heading."""
    head = "".join(_tag("th", text, "" if i < table.left else "number") for i, text in enumerate(table.header))
    body = "\n".join(_html_row(row, table.left) for row in table.rows)
    notes = "".join(f'<p class="note">{escape_html(note)}</p>' for note in table.notes)
    frame = f'<div class="frame" role="region" aria-label="{escape_html(table.title)}" tabindex="0">'
    return f"{frame}<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>\n{notes}"


def escape_markdown(text: str) -> str:
    """Escape text for Markdown. An underscore within a name, as in rapo_semi, needs no escape."""
    text = re.sub(r"([\\`*|\[\]])|(?<!\w)(_)|(_)(?!\w)", r"\\\g<0>", _one_line(text))
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", re.sub(r"&(?=#|\w+;)", "&amp;", text))


def escape_latex(text: str) -> str:
    """Escape text for LaTeX."""
    return "".join(LATEX.get(character, character) for character in _one_line(text))


def escape_html(text: str) -> str:
    """Escape text for HTML, also in attributes. Characters that HTML does not allow are replaced."""
    return html.escape(INVALID_IN_HTML.sub("\N{REPLACEMENT CHARACTER}", text))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _pipes(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _ampersands(cells: Iterable[str]) -> str:
    return f"    {' & '.join(cells)} \\\\"


def _markdown_entry(entry: Entry, row: Row) -> str:
    text = escape_markdown(entry.text)
    around = "*" if row.beside and text else "**" if entry.bold else ""
    return f"{around}{text}{around}{entry.mark}"


def _latex_entry(entry: Entry, row: Row) -> str:
    text = escape_latex(entry.text)
    if row.beside and text:
        text = rf"\textit{{{text}}}"
    elif entry.bold:
        text = rf"\textbf{{{text}}}"
    return text + escape_latex(entry.mark)


def _html_row(row: Row, left: int) -> str:
    cells = "".join(_html_entry(entry, number=i >= left) for i, entry in enumerate(row.entries))
    return f'<tr class="beside">{cells}</tr>' if row.beside else f"<tr>{cells}</tr>"


def _html_entry(entry: Entry, *, number: bool) -> str:
    text = escape_html(entry.text)
    text = f"<strong>{text}</strong>" if entry.bold else text
    mark = f"<sup>{entry.mark}</sup>" if entry.mark else ""
    return f'<td class="number">{text}{mark}</td>' if number else f"<td>{text}{mark}</td>"


def _tag(name: str, text: str, kind: str) -> str:
    return f'<{name} class="{kind}">{escape_html(text)}</{name}>' if kind else f"<{name}>{escape_html(text)}</{name}>"


def _escape_formula(value: object) -> object:
    text = isinstance(value, str) and value[:1] and value[0] in FORMULA_STARTS and not _is_number(value)
    return f"'{value}" if text else value


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+(\.\d+)?(e[+-]?\d+| to [+-]\d+(\.\d+)?)?|-", text) is not None
