"""`factorstream impute` on files with labels, true and false, and dates beside numbers."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from cli_problems import run, summary
from factorstream import LowRankImputer, load

LEVEL = 0.9
KINDS = ["weight", "rings", "species", "adult", "caught"]


def fish(n=240, seed=0):
    """A table of pandas without gaps; all columns but the last tell of each other."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    days = pd.to_timedelta(np.round(30 * size), unit="D")
    return pd.DataFrame(
        {
            "weight": np.exp(size).round(4),
            "rings": pd.array(np.round(5 + 2 * size).clip(0), dtype="Int64"),
            "species": np.select([size + rng.normal(size=n) > 0.5, size > -0.5], ["pike", "perch, red"], "eel"),
            "adult": pd.array(size + 0.3 * rng.normal(size=n) > 0, dtype="boolean"),
            "caught": pd.Timestamp("2024-06-01") + days,
            "tag": [f"F{k:04}" for k in range(n)],
        }
    )


def with_gaps(table, seed=1, columns=KINDS):
    rng = np.random.default_rng(seed)
    gappy = table.copy()
    for name in columns:
        gappy.loc[rng.random(len(table)) < 0.2, name] = None
    gappy.loc[:2, "tag"] = None
    return gappy


def write_csv(table, path):
    table.assign(adult=table["adult"].map({True: "TRUE", False: "FALSE"})).to_csv(
        path, index=False, date_format="%d/%m/%Y"
    )
    return path


def texts(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False)


@pytest.fixture(scope="module")
def expected():
    """What the class says of the same table, as a table of pandas."""
    gappy = with_gaps(fish())
    with pytest.warns(UserWarning, match="returned as they are"):
        imputer = LowRankImputer(random_state=0).fit(gappy)
    return gappy, imputer.transform(gappy), *imputer.predict_interval(gappy, LEVEL)


def test_a_text_is_filled_as_the_class_fills_a_table(capsys, tmp_path, expected):
    gappy, filled, lower, upper = expected
    source = write_csv(gappy, tmp_path / "in.csv")
    code, said = run(capsys, source, "-o", tmp_path / "out.csv", "--level", LEVEL)
    assert code == 0
    assert f"Filled {gappy[KINDS].isna().sum().sum()} gaps in 5 columns" in said
    assert "Used and filled beside numbers: species (3 labels), adult (true and false), caught (dates)." in said
    assert "Columns left as they are, gaps included: tag (seldom the same value twice)." in said
    out, before = texts(tmp_path / "out.csv"), texts(source)
    for name in gappy:
        known = gappy[name].notna()
        assert out[name][known].tolist() == before[name][known].tolist()
    assert out["tag"].tolist() == before["tag"].tolist()
    spelled = {True: "TRUE", False: "FALSE"}
    assert out["species"].tolist() == filled["species"].tolist()
    assert out["adult"].tolist() == filled["adult"].map(spelled).tolist()
    assert out["rings"].astype(int).tolist() == filled["rings"].tolist()
    for end, side in (("", filled), ("_lower", lower), ("_upper", upper)):
        np.testing.assert_allclose(out[f"weight{end}"].astype(float), side["weight"], rtol=1e-8)
        assert out[f"caught{end}"].tolist() == side["caught"].dt.strftime("%d/%m/%Y").tolist()
    sets = [" | ".join(one) for one in lower["species"]]
    assert out["species_set"].tolist() == sets
    assert out["adult_set"].tolist() == [" | ".join(map(spelled.get, one)) for one in lower["adult"]]
    assert any(" | " in one for one in sets)


def test_a_parquet_file_keeps_its_types(capsys, tmp_path, expected):
    gappy, filled, lower, _ = expected
    gappy.assign(species=gappy["species"].astype("category")).to_parquet(tmp_path / "in.parquet")
    assert run(capsys, tmp_path / "in.parquet", "-o", tmp_path / "out.parquet", "--level", LEVEL)[0] == 0
    out = pd.read_parquet(tmp_path / "out.parquet")
    assert out["species"].dtype == "category"
    assert out["adult"].dtype == "boolean"
    assert out["species"].tolist() == filled["species"].tolist()
    assert out["adult"].tolist() == filled["adult"].tolist()
    assert out["caught"].tolist() == filled["caught"].tolist()
    assert out["caught_lower"].tolist() == lower["caught"].tolist()
    assert [tuple(one) for one in out["species_set"]] == lower["species"].tolist()
    assert out["tag"].isna().sum() == 3


@pytest.mark.parametrize("options", [["--numbers-only"], ["--exclude", "species,adult,caught,tag"]])
def test_numbers_alone(capsys, tmp_path, options):
    gappy = with_gaps(fish())
    source = write_csv(gappy, tmp_path / "in.csv")
    code, said = run(capsys, source, "-o", tmp_path / "out.csv", *options)
    assert code == 0
    assert "in 2 columns" in said
    assert "beside numbers" not in said
    out, before = texts(tmp_path / "out.csv"), texts(source)
    assert (out[["species", "adult", "caught", "tag"]] == before[["species", "adult", "caught", "tag"]]).all(axis=None)
    write_csv(gappy[["weight", "rings"]].assign(adult=True), tmp_path / "numbers.csv")
    assert run(capsys, tmp_path / "numbers.csv", "-o", tmp_path / "alone.csv")[0] == 0
    assert out["weight"].tolist() == texts(tmp_path / "alone.csv")["weight"].tolist()


def test_a_table_without_numbers(capsys, tmp_path):
    table = with_gaps(fish())[["species", "adult"]]
    code, said = run(capsys, write_csv(table, tmp_path / "in.csv"), "-o", tmp_path / "out.csv", "--level", LEVEL)
    assert code == 0, said
    assert not (texts(tmp_path / "out.csv") == "").any(axis=None)


def test_a_model_is_kept_and_asked_about_other_rows(capsys, tmp_path):
    gappy = with_gaps(fish())
    model = tmp_path / "m"
    assert run(capsys, write_csv(gappy, tmp_path / "in.csv"), "-o", tmp_path / "a.csv", "--save", model)[0] == 0
    assert sorted(load(model).categories_) == ["adult", "species"]
    some = gappy.loc[:30, ["tag", *reversed(KINDS)]]  # other columns, in another order
    code, said = run(capsys, write_csv(some, tmp_path / "b.csv"), "-o", tmp_path / "c.csv", "--model", model)
    assert code == 0, said
    filled, again = texts(tmp_path / "a.csv").loc[:30], texts(tmp_path / "c.csv")
    for name in KINDS:
        assert again[name].tolist() == filled[name].tolist()
    code, said = run(
        capsys, write_csv(some.drop(columns="species"), tmp_path / "b.csv"), "-o", tmp_path / "c.csv", "--model", model
    )
    assert code == 2
    assert "it lacks columns that the model knows: species" in said
    table = some.assign(weight="heavy")
    code, said = run(capsys, write_csv(table, tmp_path / "b.csv"), "-o", tmp_path / "c.csv", "--model", model)
    assert code == 2
    assert "column weight is no numbers, and the model knows it as such" in said


def test_columns_without_any_value_are_filled_by_a_model_as_its_file_had_written_them(capsys, tmp_path):
    gappy, model = with_gaps(fish()), tmp_path / "m"
    assert run(capsys, write_csv(gappy, tmp_path / "in.csv"), "-o", tmp_path / "a.csv", "--save", model)[0] == 0
    source = write_csv(gappy.loc[:20], tmp_path / "b.csv")
    empty = texts(source).assign(caught="", adult="NA")
    empty.to_csv(source, index=False)
    code, said = run(capsys, source, "-o", tmp_path / "c.csv", "--model", model, "--level", LEVEL)
    assert code == 0, said
    assert "without any value" not in said
    filled = texts(tmp_path / "c.csv")
    for name in ("caught", "caught_lower", "caught_upper"):
        assert filled[name].str.fullmatch(r"\d\d/\d\d/\d{4}").all()
    assert set(filled["adult"]) == {"TRUE", "FALSE"}
    assert set(filled["adult_set"]) <= {"TRUE", "FALSE", "TRUE | FALSE", "FALSE | TRUE"}


def test_dates_that_may_be_read_in_several_ways_are_read_as_in_the_file_of_the_model(capsys, tmp_path):
    rng, model = np.random.default_rng(0), tmp_path / "m"
    days = pd.Timestamp("2024-06-01") + pd.to_timedelta(rng.integers(0, 200, 80), unit="D")
    table = pd.DataFrame({"x": rng.normal(size=80), "y": rng.normal(size=80), "day": days})
    table.loc[::7, "day"] = None
    table.to_csv(tmp_path / "in.csv", index=False, date_format="%m/%d/%Y")
    assert run(capsys, tmp_path / "in.csv", "-o", tmp_path / "a.csv", "--save", model)[0] == 0
    (tmp_path / "b.csv").write_text("x,y,day\n0.1,0.2,2/3/2024\n,0.1,\n0.3,0.4,3/5/2024\n")
    code, said = run(capsys, tmp_path / "b.csv", "-o", tmp_path / "c.csv", "--model", model)
    assert code == 0, said
    assert "was read as" not in said
    month, day, year = texts(tmp_path / "c.csv")["day"][1].split("/")
    assert (1 <= int(month) <= 12, year) == (True, "2024")
    kept = load(model).transform(pd.DataFrame({"x": [np.nan], "y": [0.1], "day": pd.to_datetime([None])}))
    assert (kept["day"][0].month, kept["day"][0].day) == (int(month), int(day))


def test_a_model_of_other_kinds_is_for_files_that_are_read_at_once(capsys, tmp_path):
    gappy = with_gaps(fish())
    source, model = write_csv(gappy, tmp_path / "in.csv"), tmp_path / "m"
    assert run(capsys, source, "-o", tmp_path / "a.csv", "--save", model)[0] == 0
    code, said = run(capsys, source, "-o", tmp_path / "b.csv", "--model", model, "--report", tmp_path / "r.html")
    assert code == 2
    assert "which only impute fills, at once and without --report" in said


def test_what_was_used_and_what_was_not_is_there_for_programs(capsys, tmp_path):
    table = with_gaps(fish()).assign(note="x", when=pd.date_range("2024-01-01", periods=240))
    write_csv(table, tmp_path / "in.csv")
    found = summary(capsys, "impute", tmp_path / "in.csv", "-o", tmp_path / "out.csv")
    n_gaps = table.isna().sum()
    assert found["used"] == {
        "weight": f"numbers with {n_gaps['weight']} gaps",
        "rings": f"numbers with {n_gaps['rings']} gaps",
        "species": f"3 labels with {n_gaps['species']} gaps",
        "adult": f"true and false with {n_gaps['adult']} gaps",
        "caught": f"dates with {n_gaps['caught']} gaps",
    }
    assert found["left_out"] == {
        "tag": "seldom the same value twice",
        "note": "one value only",
        "when": "says when the rows are",
    }
    assert json.dumps(found)


def test_labels_that_look_like_gaps_and_dates_in_doubt_are_said(capsys, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    labels = ["none" if k % 10 == 0 else "a" if value > 0 else "b" for k, value in enumerate(x)]
    days = [f"0{k % 9 + 1}/0{k * 5 % 7 + 1}/2024" for k in range(60)]
    rows = [f"{value:.4f},{label},{day}" for value, label, day in zip(x, labels, days, strict=True)]
    (tmp_path / "in.csv").write_text("\n".join(["x,ground,day", *rows]) + "\n")
    code, said = run(capsys, tmp_path / "in.csv", "-o", tmp_path / "out.csv")
    assert code == 0
    assert "Gaps in column ground are also 'none'; if that is a label, write another word." in said
    assert "Column day was read as day/month/year" in said
    assert set(texts(tmp_path / "out.csv")["ground"]) == {"a", "b"}


def test_texts_among_numbers_are_no_labels(capsys, tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{v:.4f},{'<1' if k % 20 == 0 else round(3 + v)}" for k, v in enumerate(rng.normal(size=100))]
    (tmp_path / "in.csv").write_text("\n".join(["x,count", *rows]) + "\n,5\n1.5,\n")
    code, said = run(capsys, tmp_path / "in.csv", "-o", tmp_path / "out.csv")
    assert code == 0
    assert "beside numbers" not in said
    assert "Gaps left as they are in columns that are not finite numbers: count." in said


def test_names_of_new_columns_that_are_taken(capsys, tmp_path):
    table = with_gaps(fish()).rename(columns={"tag": "species_set"})
    code, said = run(capsys, write_csv(table, tmp_path / "in.csv"), "-o", tmp_path / "out.csv", "--level", LEVEL)
    assert code == 2
    assert "There is a column species_set already" in said
