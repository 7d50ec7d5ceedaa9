"""Facts of tables: what is written into a file's footer is read back; what is not there has its default."""

from pathlib import Path

import pytest
from pydantic import ValidationError
from upath import UPath

from evaluation_assets.core.intake.facts import (
    CanaryFacts,
    DropFacts,
    Facts,
    MetricsFacts,
    PreprocessingFacts,
    SuiteFacts,
)
from evaluation_assets.core.intake.sidecar import Sidecar
from evaluation_assets.core.lake.stored import Stored, Stream, write
from evaluation_assets.core.lake.tables import CLIPS


@pytest.mark.parametrize(
    "facts",
    [
        DropFacts(content="äbc", sidecar=Sidecar.model_validate({"suite": "7", "labels": {"a": 1}, "own": "x"})),
        PreprocessingFacts(settings={"beta_threshold": 15, "on_violation": "flag"}),
        SuiteFacts(suite="1.5", min_pass_rate=0.5, weights={"order": 2.0}, without_case=("a", "b")),
        SuiteFacts(problem="null"),
        CanaryFacts(occasion="", asked_of="judge|1"),
        MetricsFacts(
            sidecar=Sidecar(suite="s"),
            comparability={"quorum": "1"},
            canaries={"haiku": {"c1": [0.5, 1.0]}},
            canaries_asked={"haiku": 12},
            participants={"agent": "x"},
        ),
    ],
    ids=lambda facts: type(facts).__name__,
)
def test_facts_are_read_as_they_were_written(facts: Facts, tmp_path: Path) -> None:
    path = UPath(tmp_path / "table.parquet")
    write(path, Stream(CLIPS, iter(()), facts=facts.footer))
    assert type(facts).of(Stored(CLIPS, path)) == facts


def test_a_table_without_facts_has_the_defaults(tmp_path: Path) -> None:
    assert SuiteFacts.of(Stored(CLIPS, UPath(tmp_path / "none.parquet"))) == SuiteFacts()


def test_the_footer_holds_texts_as_they_are_and_only_what_is_set() -> None:
    assert SuiteFacts(suite="s", min_pass_rate=1).footer() == {"suite": "s", "min_pass_rate": "1.0"}
    assert CanaryFacts().footer() == {}


def test_facts_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        SuiteFacts(suite="s").suite = "t"  # pyright: ignore[reportAttributeAccessIssue]
