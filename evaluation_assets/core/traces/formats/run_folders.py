"""What other files of a drop say of its runs: those in the folder of a run, and results by task (`task_outcomes`).

    results/order-7/trial-1/messages.json    the run
    results/order-7/trial-1/result.json      {"success": true, "cost_usd": 0.04}
    results/order-7/trial-1/stdout.log
    results/summary.json

A file that says something of the run in its folder is an object of JSON in no format and without steps, or a number
under a name such as `reward.txt`. Beside several runs it is rejected. Formats whose readers look at other files of
their drop themselves are left alone.
"""

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice

from evaluation_assets.core.traces.formats.base import DropFile, Rejection, Sample, UnreadableDrop
from evaluation_assets.core.traces.formats.context import NOTHING_KNOWN, Context, context_of, merged
from evaluation_assets.core.traces.formats.files.samples import sample_of
from evaluation_assets.core.traces.formats.mixed_records import CONVERSATIONS
from evaluation_assets.core.traces.formats.run_usage import cost_in_record, usage_in_record, with_cost
from evaluation_assets.core.traces.formats.stated import OUTCOME
from evaluation_assets.core.traces.formats.task_outcomes import TaskOutcomes, has_steps, is_of_judge
from evaluation_assets.core.traces.formats.transcript import flags_of
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.trajectories.identity import task_id_of
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Trajectory

_APPLIES = CONVERSATIONS | {
    "action_steps",
    "agent_session",
    "nested_messages",
    "own_spans",
    "react",
    "smolagents",
    "tagged",
}
"""Formats whose readers look at no other file beside a run."""

_NOT_OF_RUNS = re.compile("expect|gold|refer|truth|example|template|schema|data_?set|question|baseline|rubric", re.I)
"""Names of files that say what would be right, not what was."""
_FIGURES = ("reward", "score", "success", "passed", "correct", "cost")
"""Names of files that hold one value."""


class RunFolders:
    """The files of a drop that are runs, and what others say of them.

    Args:
        files: the files of the drop.
        format_name: the format of its runs.
        is_run: whether a file is in this format.
        is_known: whether a file is in any format.
    """

    def __init__(
        self,
        files: Sequence[DropFile],
        format_name: str,
        is_run: Callable[[Sample], bool],
        is_known: Callable[[Sample], bool],
    ) -> None:
        self.runs = list(files)
        self._said: dict[str, list[tuple[DropFile, JsonObject]]] = {}
        self._outcomes = TaskOutcomes()
        self._others: list[DropFile] = []
        if len(files) < 2 or format_name not in _APPLIES:
            return
        samples = {file.source: sample for file in files if (sample := _sample(file)) is not None}
        runs = {source for source, sample in samples.items() if is_run(sample)}
        named = set(map(posixpath.basename, runs))
        by_folder: dict[str, list[str]] = defaultdict(list)
        for source in runs:
            by_folder[posixpath.dirname(source)].append(source)
        alone = {
            folder: sources[0]
            for folder, sources in by_folder.items()
            if len(sources) == 1 and not _are_runs(samples[sources[0]], is_run)
        }
        names = Counter(posixpath.basename(file.source) for file in files if posixpath.dirname(file.source) in alone)
        above = {parent for folder in alone for parent in _above(folder)} - by_folder.keys()
        taken: set[str] = set()
        for file in files:
            folder, sample = posixpath.dirname(file.source), samples.get(file.source)
            name = posixpath.basename(file.source)
            is_other = _NOT_OF_RUNS.search(name) is not None and name not in named
            if file.source in runs or sample is None or is_other or is_known(sample):
                continue
            said = _said(file, sample)
            if said is not None and folder in alone and (names[name] > 1 or _is_known_of_runs(said)):
                self._said.setdefault(alone[folder], []).append((file, said))
            elif sample.records and self._outcomes.add(file):
                pass
            elif said is not None and folder in above and _has_outcome(said):
                below = [source for source in alone.values() if source.startswith(f"{folder}/" if folder else "")]
                if len(below) > 1:
                    continue  # of which run it is nobody knows
                self._said.setdefault(below[0], []).append((file, said))
            elif (sample.is_plain_text and folder in alone.keys() | above) or (said is not None and folder in above):
                self._others.append(file)
            else:
                continue
            taken.add(file.source)
        self.runs = [file for file in files if file.source not in taken]

    @property
    def say_something(self) -> bool:
        """Whether there are files beside those of the runs."""
        return bool(self._said or self._others or self._outcomes)

    def completed(
        self,
        items: Iterable[Trajectory | Rejection],
        unmapped: UnmappedFields,
        read: Callable[[Sequence[DropFile], UnmappedFields], Iterable[Trajectory | Rejection]],
    ) -> Iterator[Trajectory | Rejection]:
        """The runs, with what is said of them; files that say nothing are counted.

        They are read twice if there are outcomes by task: of which run one is depends on the others.
        """
        if self._outcomes:
            self._outcomes.match(read([file.unwatched for file in self.runs], UnmappedFields()))
        for file in self._others:
            unmapped.count(f"{posixpath.basename(file.source)} (a file without runs)")
        for source, group in groupby(items, _source_of):
            said = self._said.get(source or "")
            if said is None:
                yield from (self._with_outcome(item, unmapped) for item in group)
                continue
            first = list(islice(group, 2))
            if len(first) == 1 and isinstance(run := first[0], Trajectory):
                _compare_tasks(run, said, unmapped)
                known = with_known(run, [(file.source, data) for file, data in said], unmapped)
                yield self._with_outcome(known, unmapped)
                continue
            yield from first
            yield from group  # noqa: B031  (what is left of it)
            for file, _ in said:
                yield Rejection(file.source, 1, "not_this_format", f"{source} has several runs", "")
        yield from self._outcomes.unused()

    def _with_outcome(self, item: Trajectory | Rejection, unmapped: UnmappedFields) -> Trajectory | Rejection:
        if isinstance(item, Rejection) or not (rows := self._outcomes.of(item)):
            return item
        return with_known(item, [(file.source, data) for file, data in rows], unmapped)


def _are_runs(sample: Sample, is_run: Callable[[Sample], bool]) -> bool:
    """Whether the records of a file are runs, and not the messages of one."""
    first = sample.records[:2]
    return len(first) == 2 and all(
        isinstance(each, dict) and "role" not in each and is_run(Sample((each,))) for each in first
    )


def _sample(file: DropFile) -> Sample | None:
    try:
        return sample_of(file)
    except UnreadableDrop:
        return None


def _above(folder: str) -> Iterator[str]:
    while folder:
        folder = posixpath.dirname(folder)
        yield folder


def _said(file: DropFile, sample: Sample) -> JsonObject | None:
    """What a file says of a run: an object, or the value that it is named after."""
    if len(sample.records) != 1:
        return None
    (value,) = sample.records
    if isinstance(value, dict):
        return None if has_steps(value) else value
    name = posixpath.basename(file.source).partition(".")[0].lower()
    return {name: value} if name in _FIGURES and isinstance(value, bool | int | float) else None


def _is_known_of_runs(said: JsonObject) -> bool:
    """Whether an object has a field that is known to be of a run, apart from settings and names of its source."""
    fields = Fields(said)
    context = context_of(fields)
    used = usage_in_record(fields, is_counted=False) is not None or cost_in_record(fields) is not None
    return used or replace(context, id=None, extra={}) != NOTHING_KNOWN


def _has_outcome(said: JsonObject) -> bool:
    """Whether an object says how a run ended, and not how many did."""
    return context_of(Fields(said)).success is not None and any(isinstance(each, bool) for each in said.values())


def _source_of(item: Trajectory | Rejection) -> str | None:
    if isinstance(item, Rejection):
        return item.source
    return None if item.source is None else item.source.file


def _compare_tasks(run: Trajectory, said: Sequence[tuple[DropFile, JsonObject]], unmapped: UnmappedFields) -> None:
    """Note whether a file beside a run is about another task than the run says."""
    if run.task_id != task_id_of(None, run.task, run.text):
        tasks = (context_of(Fields(data)).task_id for _, data in said)
        stated = [str(each) for each in tasks if each is not None]
        unmapped.stated.agree("task of a run", *([str(run.task_id), *stated] if stated else []))


def with_known(run: Trajectory, said: Sequence[tuple[str, JsonObject]], unmapped: UnmappedFields) -> Trajectory:
    """A run with what these objects say of it, each of a file, or of no file if it stands beside the run."""
    contexts: list[Context] = []
    usage = run.usage
    for source, data in said:
        place = f"{posixpath.basename(source)}." if source else ""
        with unmapped.reading(data, place) as fields:
            context = context_of(fields)
            if is_of_judge(source):
                contexts.append(replace(context, model=None, agent=None, agent_version=None, duration_s=None))
                if context.model is not None:
                    unmapped.count(f"{place}model (of a judge)")
                continue
            contexts.append(context)
            usage = with_cost(usage or usage_in_record(fields, is_counted=False), cost_in_record(fields))
    context = merged(*contexts)
    for name, score in context.labels.items():
        scores = [each.labels.get(name) for each in contexts]
        unmapped.stated.agree("score of a run", *(each for each in scores if isinstance(score, int | float | str)))
    is_agreed = unmapped.stated.agree(OUTCOME, run.success, *(each.success for each in contexts))
    task_id = run.task_id
    if context.task_id is not None and task_id == task_id_of(None, run.task, run.text):
        task_id = task_id_of(context.task_id, run.task, run.text)
    flags = flags_of(
        cut_off=context.cut_off,
        unanswered=False,
        truncated=context.truncated,
        failed=context.failure is not None,
        refused=context.refused,
        disputed=context.disputed or not is_agreed,
    )
    return replace(
        run,
        id=task_id if run.id == run.task_id else run.id,
        task_id=task_id,
        trial=run.trial or max((each.trial for each in contexts), default=0),
        task=run.task or context.task or "",
        agents=_named(run.agents, context),
        final_answer=run.final_answer if run.final_answer is not None else context.final_answer,
        reference_answer=run.reference_answer or context.reference_answer,
        success=context.success if run.success is None else run.success,
        started_at=run.started_at or context.started_at,
        duration_s=run.duration_s if run.duration_s is not None else _duration(contexts),
        usage=usage,
        flags=tuple(dict.fromkeys((*run.flags, *flags))),
        labels=context.labels | run.labels,
        extra=context.extra | ({} if context.failure is None else {"error": context.failure}) | run.extra,
    )


def _duration(contexts: Sequence[Context]) -> float | None:
    return next((each.duration_s for each in contexts if each.duration_s is not None), None)


def _named(agents: tuple[Agent, ...], context: Context) -> tuple[Agent, ...]:
    """The agents of a run; the only one with the model and name that are stated beside it."""
    if len(agents) != 1:
        return agents
    (agent,) = agents
    return (
        replace(
            agent,
            name=agent.name or context.agent,
            model=agent.model or context.model,
            version=agent.version or context.agent_version,
        ),
    )
