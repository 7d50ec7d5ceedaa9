"""The list of all reports of an installation, with its failure groups and a search of its runs, as a page."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import quote

import orjson
from pydantic import BaseModel, ValidationError
from upath import UPath

from evaluation_assets.core.gating.drops_in_time import Place, place_in_time
from evaluation_assets.core.gating.settings import GateVerdict
from evaluation_assets.core.intake.facts import GroupsFacts
from evaluation_assets.core.lake.stored import DamagedTable
from evaluation_assets.core.models.redaction.redactor import NotRedacted
from evaluation_assets.core.models.redaction.settings import Redaction
from evaluation_assets.core.report.covered_tables import Cover, cover_of
from evaluation_assets.core.report.failure_groups.suite_groups import SuiteGroups, suite_groups
from evaluation_assets.core.report.files import write_texts
from evaluation_assets.core.report.headline import Headline
from evaluation_assets.core.report.render import environment
from evaluation_assets.core.report.search.listed_runs import listed_runs
from evaluation_assets.core.report.viewer.page import with_search
from evaluation_assets.core.report.viewer.script import script_hash
from evaluation_assets.core.system.frozen import Frozen
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import runs_of_tasks
from evaluation_assets.core.text.plain_text import plain
from evaluation_assets.core.text.report_addresses import PAGE
from evaluation_assets.core.traces.formats.import_report import Trust

INDEX = "index.html"


class _Gate(BaseModel):
    verdict: GateVerdict


class _Reading(BaseModel):
    trust: Trust


class _Sidecar(BaseModel):
    suite: str | None = None
    agent: str | None = None
    agent_version: str | None = None


class ListedReport(Frozen):
    """What the list says about a report. Of report.json only these fields are read.

    `n_groups` are the failure groups that the report shows; `None` in reports of versions without any.
    """

    drop: str
    headline: Headline
    sidecar: _Sidecar
    participants: Mapping[str, str] = {}
    trajectories_total: int
    tasks_total: int | None = None
    gate: _Gate | None = None
    not_compared: str | None = None
    reading: _Reading | None = None
    written_at: datetime
    address: str
    n_groups: int | None

    @property
    def agent(self) -> str | None:
        """The agent with its version: that of the sidecar, else the one that all trajectories name."""
        names = (self.sidecar.agent or self.participants.get("agent"),)
        names += (self.sidecar.agent_version or self.participants.get("agent_version"),)
        return " ".join(filter(None, names)) or None

    @property
    def of_runs(self) -> str:
        """The runs as text; without their tasks in reports of earlier versions."""
        return runs_of_tasks(self.trajectories_total, self.tasks_total)


def write_index(home: Installation, redaction: Redaction | None = None) -> UPath:
    """Write `index.html` over all reports of an installation, the newest first; unreadable reports are left out.

    Failure groups are those that were made last; `redaction` is what reports cover.
    """
    reports, listed = home.root / "reports", listed_reports(home)
    addresses = {report.drop: report.address for report in listed}
    sizes = {report.drop: report.trajectories_total for report in listed}
    groups, grouped, problem = _groups(home, redaction, addresses)
    apart = [report for report in listed if report.n_groups != 0 and report.drop not in grouped]
    members = home.whole_table("grouped_findings").rows(["group_id", "drop", "trajectory_id"]) if groups else ()
    page = (
        environment()
        .get_template("index.html.j2")
        .render(
            reports=listed,
            groups=groups,
            problem=problem,
            apart=apart,
            at=addresses,
            script_source=script_hash("overview"),
        )
    )
    runs = listed_runs(reports, addresses, sizes, members)
    write_texts(reports, {INDEX: "".join(with_search(plain(page), runs))})
    return reports / INDEX


def listed_reports(home: Installation) -> list[ListedReport]:
    """What is listed of all reports of an installation, the newest first; unreadable reports are left out."""
    return sorted(_listed(home.root / "reports"), key=lambda report: _place(home, report), reverse=True)


def _place(home: Installation, report: ListedReport) -> Place:
    """Of a drop whose history is gone or damaged: when its report was written."""
    try:
        place = place_in_time(home, report.drop)
    except DamagedTable:
        place = ("", "", report.drop)
    return place if any(place[:2]) else (report.written_at.isoformat(), "", report.drop)


def _groups(
    home: Installation, redaction: Redaction | None, with_report: dict[str, str]
) -> tuple[list[SuiteGroups], set[str], str | None]:
    """The groups of each suite and the drops that were grouped, or why there are none."""

    @cache
    def cover_in(drop: str) -> Cover:
        return cover_of(home.table(drop, "preprocessed_trajectories"), redaction)

    try:
        drops = GroupsFacts.of(home.whole_table("failure_groups")).drops
        return suite_groups(home, cover_in, with_report), {drop for drop, *_ in drops}, None
    except (DamagedTable, NotRedacted) as problem:
        return [], set(), str(problem)


def _listed(reports: UPath) -> Iterator[ListedReport]:
    for file in sorted(reports.rglob("report.json"), key=lambda path: path.path) if reports.exists() else ():
        folder = file.parent.path.removeprefix(reports.path).strip("/")
        known = {"written_at": file.fs.modified(file.path).astimezone(UTC), "address": f"{quote(folder)}/{PAGE}"}
        try:
            report = orjson.loads(file.read_bytes())
            yield ListedReport.model_validate({**report, **known, "n_groups": _n_groups(report)})
        except (orjson.JSONDecodeError, LookupError, TypeError, ValidationError):
            continue


def _n_groups(report: Mapping[str, Any]) -> int | None:
    if "failure_groups" not in report:
        return None
    own = report["failure_groups"]
    return 0 if own is None else len(own["groups"])
