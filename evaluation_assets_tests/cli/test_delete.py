"""`delete`: a drop goes with everything that was made of it, and nothing else goes."""

from pathlib import Path

import pytest
from pyarrow.parquet import read_table

from evaluation_assets_tests.conftest import command, record


def names_of(home: Path, drop: str) -> list[str]:
    """The files of a drop outside of Dagster's folder."""
    files = [str(file.relative_to(home)) for file in home.rglob("*") if file.is_file()]
    return sorted(file for file in files if drop in file.rsplit("/", 1)[-1] or f"/{drop}/" in file)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Three drops, one of them in a folder with the name of another."""
    home = tmp_path / "home"
    for drop in ("wrong", "kept", "wrong/inner[1]"):
        file = home / "drops" / f"{drop}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(record(drop, success=False))
    (home / "drops" / "wrong.drop.yaml").write_text("agent: mine\n")
    done = command("evaluate", home / "drops", "--quiet", home=home)
    assert done.returncode == 0, done.stderr
    return home


def test_a_drop_goes_with_all_that_was_made_of_it_and_others_stay(home: Path) -> None:
    assert command("open", "kept", "--against", "wrong", "--print", home=home).returncode == 0
    others = names_of(home, "kept") + names_of(home, "inner[1]")
    of_both = [file for file in others if "/against/" in file]
    assert of_both and (home / "reports/wrong/inner[1]/report.html").is_file()
    done = command("delete", "wrong", "--yes", home=home)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("wrong: 2 files in drops, ")
    left = names_of(home, "kept") + names_of(home, "inner[1]")
    assert left == [file for file in others if file not in of_both]
    assert [file for file in names_of(home, "wrong") if "inner[1]" not in file] == []
    listed = command("overview", home=home)
    assert [line.split()[0] for line in listed.stdout.splitlines()[1:3]] == ["wrong/inner[1]", "kept"]
    assert "wrong/inner[1]" in (page := (home / "reports/index.html").read_text()) and '"wrong"' not in page


def places_of(home: Path, words: str) -> list[str]:
    """The files that hold these words; Parquet files are unpacked."""
    found = [
        file
        for file in home.rglob("*")
        if file.is_file() and file.suffix != ".parquet" and words.encode() in file.read_bytes()
    ]
    tables = [file for file in home.rglob("*.parquet") if words in str(read_table(file).to_pylist())]
    return sorted(str(file.relative_to(home)) for file in (*found, *tables))


@pytest.mark.slow
def test_no_word_of_a_deleted_drop_is_left_but_in_labels(home: Path) -> None:
    (home / "drops/other.jsonl").write_bytes(record("other", success=True))
    (home / "drops/secret.jsonl").write_bytes(record("secret", task_description="Refund Mrs Xanthippe", success=False))
    for drop in ("secret", "other"):
        assert command("evaluate", drop, "--quiet", home=home).returncode == 0
    (home / "labels").mkdir(exist_ok=True)
    (home / "labels/secret.csv").write_bytes((home / "reports/secret/review.csv").read_bytes())
    before = places_of(home, "Xanthippe")
    assert {"dagster/history/runs/index.db", "lake/raw_trajectories/secret.parquet"} < set(before)
    done = command("delete", "secret", "--yes", home=home)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("kept: labels, baselines, the ledger with the replies of judges\n")
    assert places_of(home, "Xanthippe") == ["labels/secret.csv"]
    assert command("evaluate", "other", "kept", "--quiet", home=home).returncode == 0


@pytest.mark.slow
def test_a_deleted_drop_is_evaluated_again_when_it_comes_back(home: Path) -> None:
    assert command("delete", "kept", "--yes", home=home).returncode == 0
    (home / "drops" / "kept.jsonl").write_bytes(record("kept", success=False))
    done = command("evaluate", "--all", "--quiet", home=home)
    assert done.returncode == 0, done.stderr
    assert (home / "reports/kept/report.html").is_file()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("keep", "--yes"), "there is no drop 'keep' in {home}; did you mean 'kept'?"),
        (("../lake/../../outside", "--yes"), "there is no drop '../lake/../../outside'"),
        (("kept",), "nothing was deleted; add --yes"),
        (("kept", "none", "--yes"), "there is no drop 'none' in {home}"),
    ],
)
def test_nothing_is_deleted_without_consent_or_if_a_name_is_wrong(
    home: Path, words: tuple[str, ...], message: str
) -> None:
    (home.parent / "outside.parquet").write_bytes(b"")
    before = sorted(home.parent.rglob("*.parquet"))
    done = command("delete", *words, home=home)
    assert done.returncode == 2 and message.format(home=home) in done.stderr
    assert sorted(home.parent.rglob("*.parquet")) == before and (home / "drops/kept.jsonl").is_file()
