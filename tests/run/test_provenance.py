import pytest

from bilex.errors import AlignmentError
from bilex.run.provenance import INPUTS, begin, read


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"method": 5}', '"method"'])
def test_inputs_of_another_form_are_refused(tmp_path, text):
    (tmp_path / INPUTS).write_text(text)
    with pytest.raises(AlignmentError, match=rf"{INPUTS}: cannot be read: .*; remove {tmp_path} and align again"):
        read(tmp_path / INPUTS, again="align")


def test_inputs_come_back(tmp_path, alignment):
    begin(tmp_path / "new.partial", alignment.provenance["inputs"])
    found = read(tmp_path / "new.partial" / INPUTS, again="align")
    assert found["method"] == "procrustes"
    assert found.keys() == alignment.provenance["inputs"].keys()
