"""Format the outcome of the gate for terminals, CI systems and programs. Hostile names are escaped."""

import re
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree

import orjson

from evaluation_assets.core.gating.baselines import FAILED_MOSTLY
from evaluation_assets.core.gating.figures import change, other_total
from evaluation_assets.core.gating.outcome import ChangedTask, GateOutcome
from evaluation_assets.core.gating.wording import OTHER_TASKS
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.report.render import precise
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.text.counted import counted
from evaluation_assets.core.text.plain_text import for_terminal, plain
from evaluation_assets.core.text.report_addresses import ReportAddress

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LISTED = 20
_WHOLE = "regression gate"

NO_URL = ReportAddress()
"""A report that is only known by its path: links are relative to its folder."""


def as_text(outcome: GateOutcome, report: ReportAddress = NO_URL) -> str:
    """Format as a table for the terminal. Where the report has a URL, changed tasks are followed by theirs."""
    lines = [f"{outcome.drop} against {outcome.baseline or 'floors only'}: {outcome.verdict.upper()} on {outcome.runs}"]
    lines += [f"  - {each}" for each in outcome.said]
    lines += _remedy(outcome)
    compared = [each for each in outcome.metrics if each.gates or (each.baseline, each.current) != (None, None)]
    if compared:
        interval = f"{100 * outcome.confidence:.3g}% interval"
        head = ("metric", "verdict", "before", "now", "change", interval)
        gating = sum(each.gates for each in compared)
        shown = [each for each in compared if each.gates or each.verdict != "pass"]
        rows = [
            (
                each.metric,
                each.verdict,
                precise(each.baseline),
                precise(each.current),
                change(each.difference, each.metric),
                f"{change(each.ci_low, each.metric)}…{change(each.ci_high, each.metric)}",
            )
            for each in sorted(shown, key=lambda each: not each.gates)
        ]
        table = aligned([head, *rows])
        lines += ["", *table[: gating + 1]]
        if table[gating + 1 :]:
            lines += ["  not gating:", *table[gating + 1 :]]
        if rest := len(compared) - len(shown):
            lines += [f"  {counted(rest, 'metric')} that {'does' if rest == 1 else 'do'} not gate did not get worse"]
        totals = [f"{each.metric} {in_total}" for each in compared if (in_total := other_total(each)) is not None]
        lines += [f"  in total: {', '.join(totals)}"] if totals else []
    lines += _changed("tasks that fell", outcome.fallen_tasks, report)
    lines += _changed("tasks that improved", outcome.improved_tasks, report)
    if report.is_url:
        lines += ["", f"  report: {report.section('gate')}"]
    return for_terminal("\n".join(" ".join(line.splitlines()) for line in lines))


def _remedy(outcome: GateOutcome) -> list[str]:
    """What makes the runs comparable, unless other tasks were run: those of the baseline would be others again."""
    differs = outcome.comparability.differs
    if not differs or not outcome.baseline:
        return []
    if all(part.endswith(FAILED_MOSTLY) for part in differs):
        of_baseline = all(each.current is None for each in differs.values())
        again = f"evaluate {outcome.baseline if of_baseline else outcome.drop} again, so that its judges answer"
    elif not differs.keys() & OTHER_TASKS:
        again = _promoted_again(outcome, "judges and settings")
    elif differs.keys() == {"suite"} and None not in (differs["suite"].baseline, differs["suite"].current):
        again = _promoted_again(outcome, "suite")
    else:
        return []
    return [f"  For a full comparison, {again}."]


def _promoted_again(outcome: GateOutcome, evaluated_with: str) -> str:
    once = "" if outcome.baseline == outcome.drop else f", once it is evaluated with the {evaluated_with} of now"
    return f"promote {outcome.baseline} again{once}"


def _changed(title: str, tasks: Sequence[ChangedTask], report: ReportAddress) -> list[str]:
    if not tasks:
        return []
    all_noise = not any(each.beyond_noise for each in tasks)
    lines = ["", f"  {title} ({len(tasks)}){'; each by itself may be noise' if all_noise else ''}"]
    for each in tasks[:_LISTED]:
        noise = "" if all_noise or each.beyond_noise else ", may be noise"
        lines.append(f"    {each.task_id}: {each.metric} {each.baseline:.2f} -> {each.current:.2f}{noise}")
        if report.is_url:
            lines.append(f"      {report.task(each.task_id)}")
    return lines + ([f"    and {len(tasks) - _LISTED} more, see --format json"] if len(tasks) > _LISTED else [])


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table, indented."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def as_json(outcome: GateOutcome, report: ReportAddress = NO_URL) -> str:
    """Format the complete outcome as JSON, with the URL of the report as `report_url` if it has one."""
    address = {"report_url": report.page if report.is_url else None}
    return orjson.dumps({**outcome.model_dump(mode="json"), **address}, option=orjson.OPT_INDENT_2).decode()


def as_junit(outcome: GateOutcome, report: ReportAddress = NO_URL) -> str:
    """Format as JUnit XML: a test case for each gating metric, and one for the drop as a whole.

    `fail` is a failure; `inconclusive` and `incomparable` are skipped tests, because they are neither good nor bad.
    """
    cases = [(each.metric, each.verdict, each.reason) for each in outcome.metrics if each.gates]
    # A failure has its reasons alone; the warnings beside it are in the text of the whole suite.
    why = outcome.said if outcome.verdict == "warn" else outcome.reasons
    cases.append((_WHOLE, outcome.verdict, "; ".join(why)))
    failures = sum(verdict == "fail" for _, verdict, _ in cases)
    skipped = sum(verdict in ("inconclusive", "incomparable") for _, verdict, _ in cases)
    suite = ElementTree.Element(
        "testsuite",
        name=_xml(f"gate {outcome.suite or outcome.drop}"),
        tests=str(len(cases)),
        failures=str(failures),
        errors="0",
        skipped=str(skipped),
    )
    for name, verdict, reason in cases:
        case = ElementTree.SubElement(suite, "testcase", classname=_xml(outcome.drop), name=_xml(name))
        if verdict == "fail":
            failure = ElementTree.SubElement(case, "failure", message=_xml(reason))
            fallen = [each for each in outcome.fallen_tasks if name in (each.metric, _WHOLE)]
            failure.text = _xml("\n".join(f"{each.task_id}: {report.task(each.task_id)}" for each in fallen[:_LISTED]))
        elif verdict in ("inconclusive", "incomparable"):
            ElementTree.SubElement(case, "skipped", message=_xml(f"{verdict}: {reason}"))
        else:
            ElementTree.SubElement(case, "system-out").text = _xml(f"{verdict}: {reason}")
    ElementTree.SubElement(suite, "system-out").text = _xml(as_text(outcome, report))
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode")


def _xml(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)


def as_github(outcome: GateOutcome, report: ReportAddress = NO_URL) -> str:
    """Format as GitHub workflow commands: the verdict with its reasons, and what these do not say of gating metrics."""
    levels = {"pass": "notice", "warn": "warning", "fail": "error"}
    where = f"\n{report.section('gate')}" if report.is_url else ""
    said = [(outcome.verdict, f"gate {outcome.verdict}", f"{outcome.drop}: {'; '.join(outcome.said)}{where}")]
    said += [
        (each.verdict, f"{each.metric} {each.verdict}", each.reason)
        for each in outcome.metrics
        if each.gates and each.verdict != "pass" and each.reason not in outcome.reasons
    ]
    tasks = {"fell": outcome.fallen_tasks, "improved": outcome.improved_tasks}
    if any(tasks.values()):
        listed = "\n".join(
            f"{each.task_id} {word}: {each.metric} {each.baseline:.2f} -> {each.current:.2f}"
            + (f" {report.task(each.task_id)}" if report.is_url else "")
            for word, own in tasks.items()
            for each in own[:_LISTED]
        )
        counts = ", ".join(f"{len(own)} {word}" for word, own in tasks.items())
        said.append(("pass", f"tasks: {counts}", listed))
    return "\n".join(
        f"::{levels.get(verdict, 'warning')} title={_property(title)}::{_data(text)}" for verdict, title, text in said
    )


def _data(text: str) -> str:
    lines = "\n".join(plain(line) for line in text.splitlines())
    return lines.replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def calibration_json(rows: Iterable[Row]) -> str:
    """Rows of `gate_calibration` as a JSON array."""
    return orjson.dumps(list(rows), option=orjson.OPT_INDENT_2).decode()


def calibration_text(rows: Iterable[Row]) -> str:
    """Rows of `gate_calibration` as a table for the terminal, by suite."""
    lines: list[str] = []
    head = ("decrease", "fail", "warn", "pass", "inconclusive")
    groups = by_key(((row["suite"], row["metric"]), row) for row in rows)
    for (suite, metric), own in groups.items():
        first = own[0]
        sees = "no decrease" if first["smallest_drop"] is None else f"a decrease of {first['smallest_drop']:.3f}"
        what = "runs of one version" if first["source"] == "runs" else "versions, whose differences count as noise"
        lines += [
            f"{suite}, {metric}: {first['n_runs']} {what}, {first['n_tasks']} tasks",
            f"  unchanged runs: fail {first['fails']:.1%}, warn {first['warns']:.1%}, pass {first['passes']:.1%}, "
            f"inconclusive {first['inconclusive']:.1%}",
            f"  false alarms of a fixed tolerance: {first['tolerance_false_alarms']:.1%}",
            f"  finds {sees}; {first['pairs_failed']} of {first['pairs']} pairs of runs as they were fail",
            *aligned(
                [
                    head,
                    *(
                        (
                            f"{row['drop_size']:.3f}",
                            *(f"{row[name]:.3f}" for name in ("fails", "warns", "passes")),
                            f"{row['inconclusive']:.3f}",
                        )
                        for row in own
                    ),
                ]
            ),
            "",
        ]
    return for_terminal("\n".join(lines).rstrip()) or "no suite has two drops that can be compared"
