"""Whether the quotations of findings stand in their runs."""

from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.pipeline.checks.finding import Finding
from evaluation_assets.core.sections.findings.evidence.course import LONGEST_QUOTATION
from evaluation_assets.core.text.counted import counted

_NAMED = 20


def quotations_hold(findings: Stored, raw: Stored) -> Finding:
    """Whether each finding with offsets quotes what stands there; of a long place, findings quote the beginning."""
    quoted: dict[str, list[tuple[int, int, str, str]]] = {}
    total = 0
    for row in findings.rows(["trajectory_id", "kind", "start", "end", "evidence"]):
        if row["start"] is not None:
            total += 1
            quoted.setdefault(row["trajectory_id"], []).append((row["start"], row["end"], row["evidence"], row["kind"]))
    wrong = [
        f"{row['trajectory_id']}: {kind}"
        for row in (raw.rows(["trajectory_id", "text"]) if quoted else ())
        for start, end, evidence, kind in quoted.get(row["trajectory_id"], ())
        if row["text"][start:end][:LONGEST_QUOTATION] != evidence
    ]
    return Finding(
        not wrong,
        f"{len(wrong)} of {counted(total, 'quotation')} "
        f"{'differs' if len(wrong) == 1 else 'differ'} from the text of their trajectory.",
        {"quotations": total, **({"first": wrong[:_NAMED]} if wrong else {})},
    )
