"""The notebook runs as it stands: its code cells one after the other, in one namespace."""

import json
import re
from pathlib import Path

NOTEBOOK = Path(__file__).resolve().parents[1] / "docs" / "start" / "tutorial.ipynb"


def test_it_runs(capsys):
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    space = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], "outputs are left out: they change from machine to machine"
            exec("".join(cell["source"]), space)
    said = capsys.readouterr().out
    assert "0 of which were trained on" in said
    assert re.search(r"P@1 [67]\d\.\d on 826 test words", said)
    assert len(space["lexicon"]) > 1000
