import csv
import io

import pytest

from bilex.page.markup import csv_text


def cells(text):
    return list(csv.reader(io.StringIO(text)))


@pytest.mark.parametrize("text", ["=1+1", "+x", "-x", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1+1", "-2+3", "+1 to x"])
def test_a_spreadsheet_computes_no_cell_of_csv(text):
    assert cells(csv_text([text, "b"], [[text, "a=b"]])) == [[f"'{text}", "b"], [f"'{text}", "a=b"]]


@pytest.mark.parametrize("text", ["", "-", "-1", "+1.5", "-1.5 to +2.5", "1e-05", "-1e-05", "x=1", "'=1", "#tag"])
def test_numbers_and_other_texts_stay(text):
    assert cells(csv_text(["a", "b"], [[text, -1.5]])) == [["a", "b"], [text, "-1.5"]]
