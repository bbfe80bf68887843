import sys


def test_a_page_beside_the_run(bilex, refused, run, files):
    result = bilex("report", run, "--test", files / "test.tsv")
    assert (result.code, result.out) == (0, "")
    assert "P@1 is" in result.err
    text = (run / "report.html").read_text(encoding="utf-8")
    assert "<title>x.vec to z.vec, procrustes</title>" in text
    assert str(files) not in text
    assert "exists already" in refused("report", run)
    assert bilex("report", run, "--force", "--no-plots").code == 0
    assert "No test dictionary" in (run / "report.html").read_text(encoding="utf-8")


def test_json(bilex, run, files, tmp_path):
    result = bilex("report", run, "--test", files / "test.tsv", "--output", tmp_path / "o.html", "--no-plots", "--json")
    assert result.json["figures"]["test"]["csls"]["covered"] == 80
    assert result.json["written"] == str(tmp_path / "o.html")


def test_mistakes(refused, run, files, tmp_path):
    assert "this is no run folder" in refused("report", tmp_path)
    assert "absent.tsv" in refused("report", run, "--test", tmp_path / "absent.tsv")
    assert "there is no folder" in refused("report", run, "--output", tmp_path / "no" / "o.html")
    (tmp_path / "other.tsv").write_text("q\tr\n")
    assert "0 of 1 pairs" in refused("report", run, "--test", tmp_path / "other.tsv")
    assert not (run / "report.html").exists()


def test_plots_need_an_extra(refused, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    told = refused("report", run)
    assert "pip install 'bilex[plots]'" in told
    assert "--no-plots" in told
    assert not (run / "report.html").exists()
