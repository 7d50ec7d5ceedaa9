"""The list of all reports of an installation, as a page that leads to each."""

from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import quote

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError
from upath import UPath

from evaluation_assets.core.gating.settings import GateVerdict
from evaluation_assets.core.report.files import write_texts
from evaluation_assets.core.report.headline import Headline
from evaluation_assets.core.report.render import environment
from evaluation_assets.core.text.plain_text import plain

INDEX = "index.html"


class _Gate(BaseModel):
    verdict: GateVerdict


class _Sidecar(BaseModel):
    suite: str | None = None
    agent: str | None = None
    agent_version: str | None = None


class ListedReport(BaseModel):
    """What the list says about a report. Of report.json only these fields are read."""

    model_config = ConfigDict(frozen=True)

    drop: str
    headline: Headline
    sidecar: _Sidecar
    trajectories_total: int
    gate: _Gate | None = None
    written_at: datetime
    address: str


def write_index(reports: UPath) -> UPath:
    """Write `index.html` over all reports below a folder, the newest first; unreadable reports are left out."""
    listed = sorted(_listed(reports), key=lambda report: report.written_at, reverse=True)
    page = environment().get_template("index.html.j2").render(reports=listed)
    write_texts(reports, {INDEX: plain(page)})
    return reports / INDEX


def _listed(reports: UPath) -> Iterator[ListedReport]:
    for file in sorted(reports.rglob("report.json"), key=lambda path: path.path) if reports.exists() else ():
        folder = file.parent.path.removeprefix(reports.path).strip("/")
        known = {"written_at": file.fs.modified(file.path).astimezone(UTC), "address": f"{quote(folder)}/report.html"}
        try:
            yield ListedReport.model_validate({**orjson.loads(file.read_bytes()), **known})
        except (orjson.JSONDecodeError, TypeError, ValidationError):
            continue
