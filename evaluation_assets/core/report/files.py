"""Write the report files of a drop."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson
from upath import UPath

from evaluation_assets.core.lake.stored import publish_bytes, published
from evaluation_assets.core.pipeline.drop_groups import DropGroups
from evaluation_assets.core.report.drop_tables import DropTables
from evaluation_assets.core.report.paths import JUDGE_FILES, ReportFiles, report_files
from evaluation_assets.core.report.provenance.replies import RepliesTo
from evaluation_assets.core.report.render import as_html, as_json, as_markdown
from evaluation_assets.core.report.report import DropReport
from evaluation_assets.core.report.results import result_records
from evaluation_assets.core.report.viewer.documents import documents
from evaluation_assets.core.report.viewer.page import DATA_FOLDER, OtherRun, pack, with_viewer


def write_report(
    folder: UPath,
    report: DropReport,
    tables: DropTables,
    other: OtherRun | None,
    queue: Sequence[tuple[str, str]],
    replies_to: RepliesTo,
    groups: DropGroups,
) -> ReportFiles:
    """Write all files, each atomically. Files of judges and trajectories that no longer exist are removed.

    `other` is the run that the viewer compares the drop with, `queue` what people are to review, `replies_to` gives
    raw replies of models, `groups` are the failure groups of the drop.
    """
    paths = report_files(folder, report.drop)
    write_texts(folder, {paths.json.name: as_json(report), paths.markdown.name: as_markdown(report)})
    write_page(paths.html, report, tables, other, queue, groups)
    written: set[str] = set()

    def records() -> Iterator[dict[str, Any]]:
        for record, judge_files in result_records(tables, replies_to):
            for name, content in judge_files.items():
                written.add(name)
                document = orjson.dumps(content, option=orjson.OPT_INDENT_2)
                publish_bytes(folder / JUDGE_FILES / name, document)
            yield record

    write_json_lines(paths.results, records())
    if (folder / JUDGE_FILES).exists():
        for path in (folder / JUDGE_FILES).iterdir():
            if path.name not in written:
                path.unlink()
    return paths


def write_page(
    path: UPath,
    report: DropReport,
    tables: DropTables,
    other: OtherRun | None,
    queue: Sequence[tuple[str, str]],
    groups: DropGroups,
) -> None:
    """Write the page with its viewer, and beside it the data that does not fit in."""
    viewer = pack(report.drop, documents(tables, groups), path.parent / DATA_FOLDER, other, queue)
    with published(path) as sink:
        sink.writelines(text.encode("utf-8", "replace") for text in with_viewer(as_html(report), viewer))


def write_texts(folder: UPath, texts: Mapping[str, str]) -> None:
    """Write texts by file name, each file atomically. Lone surrogates, which UTF-8 cannot encode, become `?`."""
    for name, text in texts.items():
        publish_bytes(folder / name, text.encode("utf-8", "replace"))


def write_json_lines(path: UPath, records: Iterable[dict[str, Any]]) -> int:
    """Write records as JSON Lines, atomically. Returns their number."""
    count = 0
    with published(path) as sink:
        for record in records:
            sink.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
            count += 1
    return count
