from update_command_docs import PAGE, page


def test_the_page_of_commands_is_what_the_commands_say():
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python tools/update_command_docs.py"
