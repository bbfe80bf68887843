import pytest

from bilex import get_method
from bilex.errors import SettingsError
from bilex.settings.file import MethodSettings, read_settings, write_settings


def test_what_is_written_is_read(tmp_path):
    chosen = MethodSettings("rapo_semi", {"base.epochs": "3", "precision": "none", "odd": 'a"b\\c é'})
    write_settings(tmp_path / "s.toml", chosen, comments=["Where it comes from."])
    assert read_settings(tmp_path / "s.toml") == chosen
    assert (tmp_path / "s.toml").read_text().startswith("# Where it comes from.\n")
    assert [path.name for path in tmp_path.iterdir()] == ["s.toml"]


def test_values_as_people_write_them(tmp_path):
    text = 'method = "rcsls"\n[settings]\nlearning_rate = 3.5\nk = 5\nspectral = true\nnormalize = ["unit", "center"]\n'
    (tmp_path / "s.toml").write_text(text)
    made = get_method(*read_settings(tmp_path / "s.toml"))
    assert (made.learning_rate, made.k, made.spectral, made.normalize) == (3.5, 5, True, ("unit", "center"))


def test_a_byte_order_mark_does_no_harm(tmp_path):
    (tmp_path / "s.toml").write_text('method = "rcsls"\n', encoding="utf-8-sig")
    assert read_settings(tmp_path / "s.toml").method == "rcsls"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'found nothing; needed a line method = "NAME"'),
        ("method = 3", "needed a line method"),
        ('method = "a"\nsettings = 3', "needed a line method"),
        ('method = "a"\nseed = 3', "found method, seed; needed"),
        ('method = "a"\n[settings]\nbase.epochs = 3', r'write "base.epochs" = \.\.\.'),
        ("method = ", "cannot be read: .*needed a file as written by bilex tune"),
        ("method = " + "[" * 100_000, "cannot be read: .*recursion.*needed a file as written by bilex tune"),
        ("method = " + "9" * 5000, "cannot be read: .*digits.*needed a file as written by bilex tune"),
    ],
)
def test_mistakes(tmp_path, text, message):
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(SettingsError, match=message):
        read_settings(tmp_path / "s.toml")


def test_no_file(tmp_path):
    with pytest.raises(SettingsError, match="cannot be read"):
        read_settings(tmp_path / "absent.toml")
