import update_result_docs


def test_the_tables_are_those_of_the_results():
    assert sum("<!-- end -->" in page.read_text(encoding="utf-8") for page in update_result_docs.pages()) > 0
    for page in update_result_docs.pages():
        text = page.read_text(encoding="utf-8")
        assert text.count("<!-- end -->") == len(update_result_docs.MARKED.findall(text)), page.name
        assert text == update_result_docs.updated(text), f"{page.name}: run: python tools/update_result_docs.py"
