"""The figures of a report, computed again from verdict rows and the files of the drop, each with its formula.

Nothing here reads an averaged table or calls the code that writes one: a figure that agrees with the report was reached
on two ways. An address names a figure: `drop/criteria/clip/clarity/mean`, `trajectory/<id>/overall`,
`clip/<id>/<index>/score`. Names in it are percent-encoded.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from statistics import fmean, median, pstdev
from urllib.parse import quote

from evaluation_assets.core.provenance.evidence import TABLES, Evidence, Level, Origin, Row, Subject
from evaluation_assets.core.scoring.intervals import Interval, interval_of_mean, rate_interval

Value = float | int | bool | None

RIGHT_ANSWER = 0.5

_OF_PANEL = "mean over judges of each judge's mean over its samples with outcome `scored`; null below the quorum"
_OVERALL = (
    "mean over tool types, weighted by their scored clips, of the mean over criteria of the mean over clips of the "
    "panel's score"
)
_STATISTICS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": fmean,
    "std": pstdev,
    "min": min,
    "median": median,
    "max": max,
}
_IN_WORDS = {
    "mean": "mean of",
    "std": "population standard deviation of",
    "min": "lowest of",
    "median": "median of",
    "max": "highest of",
    "n_scored": "number of known values among",
    "n_total": "number of",
}

NOT_RECOMPUTED: Mapping[str, str] = {
    "clips_asked": "follows from the levels and samples that the panel chooses, not from verdicts",
    "panel": "compares judges with each other; the table `panel_reliability` has the rows",
    "headline/change": "compares with the baseline, as `gate`",
    "gate": "compares tasks with those of other drops; `gate DROP` repeats the comparison",
    "history": "describes other drops of the suite",
    "agent_ranks": "describes other drops of the suite",
    "tool_use": "comes from the calls and the test suite, not from verdicts; the table `tool_use_results` has the rows",
    "headline/rates/passed": "comes from the calls and the test suite, as `tool_use`",
    "sessions": "comes from the analysis of sessions; the table `session_analyses` has the rows",
    "coding": "comes from edits and commands of coding agents; the table `coding_work` has the rows",
    "constraints": "comes from the calls and `checks.yaml`; the table `constraint_results` has the rows",
    "reading": "counts what the reader noted while it read; `import FILE` repeats it",
    "records/flags": "counts the flags of the run and of the rules, which the report lists by trajectory",
    "rejected": "lists rows of the table `rejected_records`; their number is `records/total` less `records/kept`",
    "repairs": "lists tags with their places in the text",
    "sampled": "is a jackknife over the sampled trajectories; the judge's verdicts are the rows",
    "judges/errors": "counts errors by their kind; each verdict states its error",
    "sidecar": "is written by people",
}
"""Figures of a report that are not recomputed here, by the beginning of their address, with the reason."""

_Grouped = tuple[list[float], list[str]]
"""Values, and the task of each."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: its value, `n` values that it is computed from, the formula in words, and the rows it comes from."""

    address: str
    value: Value
    n: int
    formula: str
    rows: str


def address(*parts: str | int) -> str:
    """The address of a figure."""
    return "/".join(quote(str(part), safe=".=@ ") for part in parts)


def figures(evidence: Evidence) -> dict[str, Figure]:
    """All figures of a drop by their addresses."""
    return {figure.address: figure for figure in _Figures(evidence).all()}


def panel_score(by_judge: Mapping[str, Sequence[float]], quorum: int) -> float | None:
    """The panel's score of a subject on a criterion: each judge counts once, however often it was asked."""
    means = [fmean(samples) for samples in by_judge.values() if samples]
    return fmean(means) if len(means) >= max(quorum, 1) else None


class _Figures:
    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._clips = {
            (origin.id, clip.index): self._panel("clip", (origin.id, clip.index))
            for origin in evidence.origins
            for clip in origin.clips
        }
        self._own = {origin.id: self._scores_of(origin) for origin in evidence.origins}
        self._overall = {origin.id: self._overall_of(origin) for origin in evidence.origins}

    def all(self) -> Iterator[Figure]:
        yield from self._records()
        yield from self._outcomes()
        about = "overall scores of trajectories"
        yield from self._statistic(("drop", "overall"), self._overall.values(), about, _ROWS_CLIP, self._tasks())
        overall = _known(self._overall.values())
        score = fmean(overall) if overall else None
        yield Figure(address("drop", "headline", "score"), score, len(overall), f"mean of {_OVERALL}", _ROWS_CLIP)
        yield from self._criteria()
        yield from self._tools()
        for judge in self._evidence.judges:
            yield from self._judge(judge)
        for origin in self._evidence.origins:
            yield from self._trajectory(origin)

    def _panel(self, level: Level, subject: Subject) -> dict[str, float | None]:
        scores = self._evidence.scores_of(level, subject)
        return {criterion: panel_score(by_judge, self._evidence.quorum) for criterion, by_judge in scores.items()}

    def _scores_of(self, origin: Origin) -> dict[str, float | None]:
        own = self._panel("trajectory", (origin.id, "trajectory"))
        if origin.has_answer:
            answer = self._panel("trajectory", (origin.id, "answer"))
            own |= {f"answer.{criterion}": score for criterion, score in answer.items()}
        return own

    def _overall_of(self, origin: Origin) -> float | None:
        values: dict[str, dict[str, list[float]]] = {}
        clips: Counter[str] = Counter()
        for clip in origin.clips:
            known = {name: value for name, value in self._clips[origin.id, clip.index].items() if value is not None}
            clips[clip.tool_type] += bool(known)
            for criterion, value in known.items():
                values.setdefault(clip.tool_type, {}).setdefault(criterion, []).append(value)
        means = {tool: fmean(map(fmean, criteria.values())) for tool, criteria in values.items()}
        weight = sum(clips[tool] for tool in means)
        return sum(mean * clips[tool] for tool, mean in means.items()) / weight if weight else None

    def _records(self) -> Iterator[Figure]:
        evidence = self._evidence
        kept, total = len(evidence.origins), len(evidence.origins) + sum(evidence.rejected.values())
        read = "records of the drop's files, read again"
        for name, value, formula in (
            ("total", total, "number of records: kept, removed by a rule, and unreadable"),
            ("kept", kept, "number of records that are evaluated"),
            ("kept_share", kept / total if total else None, "kept records divided by all records"),
            ("repaired", evidence.repaired, "number of kept records into which closing tags were inserted"),
        ):
            yield Figure(address("drop", "records", name), value, total, formula, read)
        for name, value in (("rejected_total", total - kept), ("trajectories_total", kept)):
            yield Figure(address("drop", name), value, total, "number of records", read)
        formula = "number of unbalanced tags in kept records"
        yield Figure(address("drop", "repairs_total"), evidence.repairs, kept, formula, read)
        for reason, count in evidence.rejected.items():
            stage = "removed" if reason in ("frequency", "duplicates") else "unreadable"
            formula = f"number of records with the reason {reason}"
            yield Figure(address("drop", "records", stage, reason), count, total, formula, read)
        clips = [(origin.id, clip.index) for origin in evidence.origins for clip in origin.clips]
        scored = sum(bool(_known(self._clips[clip].values())) for clip in clips)
        cut = "clips of the trajectories, cut again from the drop's files"
        yield Figure(address("drop", "total_clips"), len(clips), kept, "number of clips", cut)
        formula = "number of clips with a panel score on at least one criterion"
        yield Figure(address("drop", "scored_clips"), scored, len(clips), formula, _ROWS_CLIP)

    def _outcomes(self) -> Iterator[Figure]:
        evidence = self._evidence
        known = [origin.success for origin in evidence.origins if origin.success is not None]
        rows = "outcomes recorded in the drop's files, read again"
        formula = "number of evaluated trajectories that the source recorded as successful"
        yield Figure(address("drop", "recorded_success"), sum(known), len(known), formula, rows)
        formula = "number of evaluated trajectories with a recorded outcome"
        yield Figure(address("drop", "recorded_outcomes"), len(known), len(evidence.origins), formula, rows)
        yield from _rate("success", evidence.outcomes, evidence.readable, rows)
        right: dict[str, list[bool]] = {}
        for origin in evidence.origins:
            if (agreement := self._own[origin.id].get("answer_correctness")) is not None:
                right.setdefault(origin.task_id, []).append(agreement >= RIGHT_ANSWER)
        yield from _rate("right_answer", right, len(evidence.origins), _rows_of("trajectory"))

    def _criteria(self) -> Iterator[Figure]:
        values: dict[tuple[str, str], list[tuple[float | None, str]]] = {}
        for origin in self._evidence.origins:
            task = origin.task_id
            for criterion, value in self._own[origin.id].items():
                level, dot, name = criterion.partition(".")
                place = (level, name) if dot else ("trajectory", criterion)
                values.setdefault(place, []).append((value, task))
            for category in dict.fromkeys(clip.tool_type for clip in origin.clips if not clip.is_final):
                for criterion, value in self._panel("category", (origin.id, category)).items():
                    values.setdefault(("category", criterion), []).append((value, task))
            for clip in origin.clips:
                for criterion, value in self._clips[origin.id, clip.index].items():
                    values.setdefault(("clip", criterion), []).append((value, task))
        tables: Mapping[str, Level] = {"clip": "clip", "category": "category"}
        for (level, criterion), found in values.items():
            about = f"panel scores of each {level} on {criterion} ({_OF_PANEL})"
            rows = _rows_of(tables.get(level, "trajectory"))
            scores, tasks = zip(*found, strict=True)
            yield from self._statistic(("drop", "criteria", level, criterion), scores, about, rows, tasks)

    def _tools(self) -> Iterator[Figure]:
        task_of = {origin.id: origin.task_id for origin in self._evidence.origins}
        by_tool: dict[str, list[tuple[str, int, str, bool]]] = {}
        for origin in self._evidence.origins:
            for clip in origin.clips:
                place = (origin.id, clip.index, clip.call_status, clip.is_final)
                by_tool.setdefault(clip.tool_type, []).append(place)
        for tool, clips in by_tool.items():
            criteria: dict[str, tuple[list[float | None], list[str]]] = {}
            of_clips: list[float | None] = []
            for trajectory, index, _, _ in clips:
                own = self._clips[trajectory, index]
                for criterion, value in own.items():
                    values, tasks = criteria.setdefault(criterion, ([], []))
                    values.append(value)
                    tasks.append(task_of[trajectory])
                of_clips.append(fmean(known) if (known := _known(own.values())) else None)
            scored = sum(bool(_known(self._clips[trajectory, index].values())) for trajectory, index, _, _ in clips)
            groups = [each for values, tasks in criteria.values() if (each := _with_tasks(values, tasks))[0]]
            means = [fmean(values) for values, _ in groups]
            at = ("drop", "tools", tool)
            cut = f"clips of tool type {tool}, cut again from the drop's files"
            yield Figure(address(*at, "clip_count"), len(clips), len(clips), "number of clips", cut)
            formula = "number of clips with a panel score on at least one criterion"
            yield Figure(address(*at, "scored_clips"), scored, len(clips), formula, _ROWS_CLIP)
            formula = "mean over criteria of the mean over clips of the panel's score"
            yield Figure(address(*at, "overall"), fmean(means) if means else None, scored, formula, _ROWS_CLIP)
            yield from _interval(at, groups, f"overall score of {tool}", _ROWS_CLIP)
            about = f"scores of clips of {tool}, each the mean of its criteria"
            yield from self._statistic((*at, "scores"), of_clips, about, _ROWS_CLIP)
            for status, count in Counter(status for _, _, status, is_final in clips if not is_final).items():
                formula = f"number of calls that ended with {status}"
                yield Figure(address(*at, "calls", status), count, len(clips), formula, cut)
            for criterion, (values, tasks) in criteria.items():
                about = f"panel scores of clips of {tool} on {criterion} ({_OF_PANEL})"
                yield from self._statistic((*at, "criteria", criterion), values, about, _ROWS_CLIP, tasks)

    def _judge(self, judge: str) -> Iterator[Figure]:
        rows: dict[Level, list[Row]] = {
            level: [row for of_subject in by_judge[judge].values() for row in of_subject]
            for level, by_judge in self._evidence.verdicts.items()
            if judge in by_judge
        }
        every = [row for found in rows.values() for row in found]
        at, source = ("drop", "judges", judge), f"rows of {judge} in all tables of verdicts, canary clips included"
        replies = _each_reply_once(every)
        for column in ("cost_usd", "input_tokens", "output_tokens"):
            known = [row[column] for row in replies if row[column] is not None]
            total = fsum(known) if known and column == "cost_usd" else sum(known) if known else None
            formula = f"sum of `{column}` over the verdicts that have it, once for each reply; null if none has"
            yield Figure(address(*at, column), total, len(known), formula, source)
        asked = [row for row in every if row["outcome"] != "not_run"]
        for name, column in (("unpriced_verdicts", "cost_usd"), ("uncounted_verdicts", "input_tokens")):
            missing = sum(row[column] is None for row in asked)
            formula = f"number of verdicts without `{column}`, less those with outcome `not_run`"
            yield Figure(address(*at, name), missing, len(asked), formula, source)
        of_drop = [row for level, found in rows.items() if level != "canary" for row in found]
        seen = [row["share_seen"] for row in of_drop if row["share_seen"] is not None]
        formula = "mean of `share_seen` over the verdicts that have it"
        yield Figure(
            address(*at, "share_seen"),
            fmean(seen) if seen else None,
            len(seen),
            formula,
            f"rows of {judge} on the drop",
        )
        for level, found in rows.items():
            for outcome, count in Counter(row["outcome"] for row in found).items():
                formula = f"number of verdicts with outcome `{outcome}`"
                place = address(*at, "outcomes", level, outcome)
                yield Figure(place, count, len(found), formula, f"{TABLES[level]}/{judge}")

    def _trajectory(self, origin: Origin) -> Iterator[Figure]:
        at = ("trajectory", origin.id)
        yield Figure(address(*at, "overall"), self._overall[origin.id], len(origin.clips), _OVERALL, _ROWS_CLIP)
        for criterion, value in self._own[origin.id].items():
            prefix, dot, name = criterion.partition(".")
            subject, key = ("answer", name) if dot and prefix == "answer" else ("trajectory", criterion)
            n = len(self._evidence.scores_of("trajectory", (origin.id, subject))[key])
            yield Figure(address(*at, "scores", criterion), value, n, _OF_PANEL, _rows_of("trajectory"))
        read = "the record in the drop's file, read again"
        yield Figure(address(*at, "n_tool_calls"), origin.n_tool_calls, 1, "number of tool calls", read)
        yield Figure(address(*at, "success"), origin.success, 1, "outcome recorded by the source", read)
        for clip in origin.clips:
            scores = self._clips[origin.id, clip.index]
            known = _known(scores.values())
            place = address("clip", origin.id, clip.index, "score")
            formula = f"mean over criteria of the panel's score ({_OF_PANEL})"
            yield Figure(place, fmean(known) if known else None, len(known), formula, _ROWS_CLIP)

    def _tasks(self) -> list[str]:
        return [origin.task_id for origin in self._evidence.origins]

    def _statistic(
        self,
        at: Sequence[str],
        values: Iterable[float | None],
        about: str,
        rows: str,
        tasks: Sequence[str] | None = None,
    ) -> Iterator[Figure]:
        every = list(values)
        known = _known(every)
        found: dict[str, Value] = {name: of(known) if known else None for name, of in _STATISTICS.items()}
        found |= {"n_scored": len(known), "n_total": len(every)}
        for name, value in found.items():
            yield Figure(address(*at, name), value, len(known), f"{_IN_WORDS[name]} the {about}", rows)
        for tenth, count in enumerate(_tenths(known)):
            formula = f"number of the {about} from {tenth / 10} to {(tenth + 1) / 10}"
            yield Figure(address(*at, "tenths", tenth), count, len(known), formula, rows)
        if tasks is not None and known:
            yield from _interval(at, [_with_tasks(every, tasks)], f"mean of the {about}", rows)


def _rows_of(level: Level) -> str:
    return f"{TABLES[level]}/<judge>"


_ROWS_CLIP = _rows_of("clip")


def _interval(at: Sequence[str], groups: Sequence[_Grouped], about: str, rows: str) -> Iterator[Figure]:
    """The 95 % interval of a mean over tasks."""
    found = interval_of_mean(groups) if groups else Interval(None, None, 0)
    n = sum(len(values) for values, _ in groups)
    method = "by Student's t with standard errors clustered by task, Wilson's where each task is only 0 or only 1"
    for name, value, formula in (
        ("ci_low", found.low, f"lower end of the 95 % interval of the {about}, {method}"),
        ("ci_high", found.high, f"upper end of the 95 % interval of the {about}, {method}"),
        ("n_tasks", found.n, f"number of tasks of the {about}"),
    ):
        yield Figure(address(*at, name), value, n, formula, rows)


def _with_tasks(values: Sequence[float | None], tasks: Sequence[str]) -> _Grouped:
    """The values that are known, and the task of each."""
    pairs = [(value, task) for value, task in zip(values, tasks, strict=True) if value is not None]
    return [value for value, _ in pairs], [task for _, task in pairs]


def _tenths(scores: Sequence[float]) -> list[int]:
    """How many scores are in each tenth of the scale, 1.0 in the last; empty where one is not on the scale."""
    if not scores or min(scores) < 0 or max(scores) > 1:
        return []
    counts = Counter(min(int(score * 10), 9) for score in scores)
    return [counts[tenth] for tenth in range(10)]


def _each_reply_once(verdicts: Iterable[Row]) -> list[Row]:
    """Verdicts with the first of those that one reply gave: the same question asked twice is paid once."""
    found: dict[object, Row] = {}
    for number, row in enumerate(verdicts):
        found.setdefault(row["ledger_key"] or number, row)
    return list(found.values())


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _rate(measure: str, by_task: Mapping[str, Sequence[bool]], runs: int, rows: str) -> Iterator[Figure]:
    tasks = list(by_task.values())
    if not tasks:
        return
    n, count = sum(map(len, tasks)), sum(map(sum, tasks))
    low, high = rate_interval(tasks)
    interval = "of the 95 % Wilson interval; the trials of a task count as one"
    for name, value, formula in (
        ("count", count, "number of runs with the outcome true"),
        ("n", n, "number of runs with a known outcome"),
        ("n_tasks", len(tasks), "number of tasks with a known outcome"),
        ("n_unknown", runs - n, "number of runs without a known outcome"),
        ("rate", count / n, "runs with the outcome true divided by runs with a known outcome"),
        ("ci_low", low, f"lower end {interval}"),
        ("ci_high", high, f"upper end {interval}"),
    ):
        yield Figure(address("drop", "headline", "rates", measure, name), value, n, formula, rows)
