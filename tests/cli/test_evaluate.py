import pytest


class TestEvaluate:
    def test_for_people(self, bilex, run, files):
        result = bilex("evaluate", run, files / "test.tsv")
        assert (result.code, result.err) == (0, "")
        for part in ("covered sources (80)", "all sources (80)", "P@1", "P@10", "MRR", "100.0 % of the sources"):
            assert part in result.out

    @pytest.mark.parametrize("retrieval", ["csls", "nn", "isf"])
    def test_json_is_what_python_says(self, bilex, run, files, alignment, world, retrieval):
        from bilex.retrieval import RETRIEVALS

        found = bilex("evaluate", run, files / "test.tsv", "--json", "--retrieval", retrieval)
        expected = alignment.evaluate(world.test, retrieval=RETRIEVALS[retrieval]()).to_json()
        assert found.err == ""
        assert found.json == expected
        assert {"p_at_1", "p_at_5", "p_at_10", "mrr", "covered", "sources", "coverage", "p_at_1_all"} <= set(found.json)

    def test_settings_of_retrieval(self, bilex, run, files, alignment, world):
        from bilex import CSLS, InvertedSoftmax

        for options, retrieval in (
            (["--k", 1], CSLS(k=1)),
            (["--retrieval", "isf", "--beta", 3], InvertedSoftmax(beta=3)),
        ):
            found = bilex("evaluate", run, files / "test.tsv", "--json", *options).json
            assert found == alignment.evaluate(world.test, retrieval=retrieval).to_json()

    def test_backward(self, bilex, run, world, tmp_path, alignment):
        world.test.swapped().write(tmp_path / "back.tsv")
        found = bilex("evaluate", run, tmp_path / "back.tsv", "--direction", "backward", "--json").json
        assert found == alignment.evaluate(world.test.swapped(), direction="backward").to_json()

    @pytest.mark.parametrize("as_json", [False, True])
    def test_words_trained_on_are_warned_of(self, bilex, run, files, as_json):
        result = bilex("evaluate", run, files / "train.tsv", *["--json"] * as_json)
        assert result.code == 0
        assert "warning: 80 of 80 covered source words were trained on" in result.err
        if as_json:
            assert result.json["train_overlap"] == 80

    def test_hubness(self, bilex, run, files):
        result = bilex("evaluate", run, files / "test.tsv", "--hubness")
        assert "hubness: skewness" in result.out
        assert "greatest hubs: t" in result.out
        found = bilex("evaluate", run, files / "test.tsv", "--hubness", "--json").json["hubness"]
        assert found["k"] == 10
        assert len(found["hubs"]) == 10

    def test_mistakes(self, refused, run, files, tmp_path):
        assert "this is no run folder" in refused("evaluate", tmp_path / "absent", files / "test.tsv")
        assert "absent.tsv: cannot be read" in refused("evaluate", run, "absent.tsv")
        (tmp_path / "other.tsv").write_text("house\tmaison\n")
        assert "0 of 1 pairs are in both" in refused("evaluate", run, tmp_path / "other.tsv")
        for options in (["--retrieval", "best"], ["--k", "0"], ["--direction", "sideways"]):
            assert options[0] in refused("evaluate", run, files / "test.tsv", *options, code=2)

    @pytest.mark.parametrize("beta", ["0", "-1", "nan"])
    def test_a_temperature_that_is_none(self, refused, run, files, beta):
        options = ["--retrieval", "isf", "--beta", beta]
        assert "beta" in refused("evaluate", run, files / "test.tsv", *options)

    def test_a_damaged_run(self, refused, run, files):
        (run / "alignment.json").write_text("{")
        assert "alignment.json: cannot be read" in refused("evaluate", run, files / "test.tsv")


class TestSimilarity:
    @pytest.fixture
    def judgements(self, world, tmp_path):
        lines = [f"{source}\t{target}\t10" for source, target in list(world.test)[:30]]
        lines += [f"s{i}\tt{i}\t{i % 7}" for i in range(30)] + ["house\tmaison\t9"]
        path = tmp_path / "judgements.tsv"
        path.write_text("\n".join(lines) + "\n")
        return path

    def test_for_people_and_programs(self, bilex, run, judgements):
        found = bilex("similarity", run, judgements, "--json")
        assert found.err == ""
        assert found.json["spearman"] > 0.3
        assert (found.json["covered"], found.json["pairs"]) == (60, 61)
        assert "over 60 of 61 pairs" in bilex("similarity", run, judgements).out

    def test_sides(self, bilex, refused, run, tmp_path):
        (tmp_path / "j.tsv").write_text("".join(f"s{i}\ts{i + 1}\t{i}\n" for i in range(9)))
        assert bilex("similarity", run, tmp_path / "j.tsv", "--sides", "source-source", "--json").json["covered"] == 9
        assert "--sides" in refused("similarity", run, tmp_path / "j.tsv")

    def test_mistakes(self, refused, run, tmp_path):
        assert "absent.tsv: cannot be read: No such file" in refused("similarity", run, tmp_path / "absent.tsv")
        (tmp_path / "bad.tsv").write_text("s0\tt0\t1\ns1\tt1\n")
        assert "bad.tsv:2: found" in refused("similarity", run, tmp_path / "bad.tsv")
        (tmp_path / "latin.tsv").write_bytes(b"s\xe9\tt0\t1\n")
        assert "latin.tsv" in refused("similarity", run, tmp_path / "latin.tsv")
