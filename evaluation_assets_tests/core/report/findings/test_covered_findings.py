"""The evidence of findings where reports cover what is redacted."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from upath import UPath

from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.lake.tables import FINDINGS
from evaluation_assets.core.models.redaction.redactor import Redactor
from evaluation_assets.core.models.redaction.settings import Redaction
from evaluation_assets.core.report.covered_tables import CoveredTable
from evaluation_assets.core.sections.findings.finding_rows import finding_rows
from evaluation_assets.core.sections.findings.gathering import findings_of
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.sections.findings.finding import asked, run
from evaluation_assets_tests.core.sections.sessions.making import call
from evaluation_assets_tests.test_redaction_everywhere import Secrets

FILLER = "a word "


@pytest.mark.parametrize("seed", range(20))
def test_no_evidence_has_a_credential(seed: int, tmp_path: Path) -> None:
    secrets = Secrets(seed)
    trajectory = run(
        asked(
            "Do it.",
            call("send", parameter=f"{secrets.name('argument')}", order="W99123"),
            call("send", error=f"{FILLER * seed}{secrets('error')}"),
            call("read", f"{FILLER * 38}{secrets('result')}, for 71200"),
            answer=f"{FILLER * seed}{secrets('before')}, {FILLER * seed}, it costs 71300, {secrets('after')}",
        )
    )
    rows = finding_rows("drop", trajectory, findings_of(trajectory))
    assert {"unsupported_argument", "ignored_error", "contradicted_answer"} <= {row["kind"] for row in rows}
    shown = list(_covered(rows, trajectory, tmp_path).rows(["evidence", "start", "end"]))
    assert not secrets.leaks("\n".join(row["evidence"] for row in shown))
    assert [len(row["evidence"]) for row in shown] == [len(row["evidence"]) for row in rows]


def _covered(rows: list[dict], trajectory: Trajectory, folder: Path) -> Stored:
    path = folder / "findings.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=FINDINGS.schema), path)
    cover = Redactor(Redaction(), trajectory.texts, also_parts=True).covered
    return CoveredTable(FINDINGS, UPath(path), cover)
