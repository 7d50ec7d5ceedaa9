"""The report of an agent run: prompts, answers, calls, and feedback on tools."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from upath import UPath

from evaluation_assets.core.report.agents.tool_quality import QualityNote, findings
from evaluation_assets.core.report.files import write_texts
from evaluation_assets.core.report.render import environment
from evaluation_assets.core.suites.answers import RIGHT, AnswerOutcome, compare_answer, is_not_found
from evaluation_assets.core.suites.calls import run_of
from evaluation_assets.core.suites.case_results import CaseIndex, evaluate
from evaluation_assets.core.suites.suite import Suite
from evaluation_assets.core.system.frozen import Frozen
from evaluation_assets.core.text.nullable import mean_of, sum_of
from evaluation_assets.core.traces.trajectories.model import Tool, Trajectory, Usage

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


class TaskSection(Frozen):
    """One attempt at one case. `compared` is how the answer compares with the reference, `None` without a reference.

    `passed` is `None` if the attempt failed because of the infrastructure.
    """

    task_id: str
    trial: int
    prompt: str
    expected: str | None
    actual: str | None
    compared: AnswerOutcome | None
    right: bool | None
    passed: bool | None
    ended: str
    error: str | None
    duration_s: float | None
    cost_usd: float | None
    calls: int
    tools: dict[str, dict[str, Any]]
    summary: str | None
    feedback: str | None


class Remark(Frozen):
    """A sentence of feedback, and the tasks of the attempts that contain it."""

    text: str
    tasks: list[str]


class ToolSection(Frozen):
    """One tool over all attempts. `remarks` are the feedback sentences that name it."""

    name: str
    calls: int
    errors: int
    mean_duration_ms: float | None
    remarks: list[Remark]


class AgentReport(Frozen):
    """A run of one agent on one suite. `answerable` attempts have a reference answer; `right` of them match it.

    `failed` attempts failed because of the infrastructure; rates and means exclude them. Sums of tokens and cost
    exclude the `uncounted` and `unpriced` attempts, for which they are unknown.
    """

    suite: str
    agent: str
    agent_version: str
    model: str
    attempts: int
    answerable: int
    right: int
    passed: int
    failed: int
    not_found: int
    ended: dict[str, int]
    mean_duration_s: float | None
    total_calls: int
    mean_calls: float | None
    input_tokens: int | None
    output_tokens: int | None
    uncounted: int
    cost_usd: float | None
    unpriced: int
    tools: list[ToolSection]
    general_remarks: list[Remark]
    quality: list[QualityNote]
    tasks: list[TaskSection]

    @property
    def accuracy(self) -> float | None:
        """Share of right answers; `None` if no case has a reference."""
        return self.right / self.answerable if self.answerable else None


def agent_report(suite: Suite, trajectories: Iterable[Trajectory]) -> AgentReport:
    """Build the report over all attempts of one agent. Trajectories that belong to no case are skipped."""
    index = CaseIndex(suite.cases)
    sections: list[TaskSection] = []
    durations: defaultdict[str, list[float]] = defaultdict(list)
    calls: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    tools: dict[str, Tool] = {}
    agent = version = model = ""
    usages: list[Usage] = []
    for trajectory in trajectories:
        case = index.find(trajectory.task_id, trajectory.task)
        if case is None:
            continue
        who = trajectory.agents[0]
        agent, version, model = who.name or who.id, who.version or "", who.model or ""
        tools |= {tool.name: tool for tool in who.tools or ()}
        for step in trajectory.calls:
            if step.call is not None:
                calls[step.call.name] += 1
                errors[step.call.name] += step.has_failed
        called: dict[str, dict[str, Any]] = trajectory.extra.get("tool_calls") or {}
        for name, about in called.items():
            durations[name] += about["durations_ms"]
        usage = trajectory.usage or Usage()
        usages.append(usage)
        passed = evaluate(case, run_of(trajectory), suite).passed
        reference = None if passed is None else case.answer
        compared = None if reference is None else compare_answer(reference, trajectory.final_answer)
        sections.append(
            TaskSection(
                task_id=case.id,
                trial=trajectory.trial,
                prompt=case.prompt,
                expected=None if case.answer is None else case.answer.value,
                actual=trajectory.final_answer,
                compared=compared,
                right=None if compared is None else compared in RIGHT,
                passed=passed,
                ended=str(trajectory.extra.get("ended", "")),
                error=trajectory.extra.get("error"),
                duration_s=trajectory.duration_s,
                cost_usd=usage.cost_usd,
                calls=len(trajectory.calls),
                tools=called,
                summary=trajectory.extra.get("summary"),
                feedback=trajectory.extra.get("feedback"),
            )
        )
    names = list(dict.fromkeys([*tools, *durations, *calls]))
    remarks, general = _by_tool(names, sections)
    counted = [section for section in sections if section.passed is not None]
    answerable = [section for section in sections if section.right is not None]
    return AgentReport(
        suite=suite.name,
        agent=agent,
        agent_version=version,
        model=model,
        attempts=len(sections),
        answerable=len(answerable),
        right=sum(section.right is True for section in answerable),
        passed=sum(section.passed is True for section in sections),
        failed=sum(section.passed is None for section in sections),
        not_found=sum(section.actual is not None and is_not_found(section.actual) for section in sections),
        ended=dict(sorted(Counter(section.ended for section in sections).items())),
        mean_duration_s=mean_of(section.duration_s for section in counted),
        total_calls=sum(section.calls for section in sections),
        mean_calls=mean_of(section.calls for section in counted),
        input_tokens=sum_of(usage.input_tokens for usage in usages),
        output_tokens=sum_of(usage.output_tokens for usage in usages),
        uncounted=sum(usage.input_tokens is None or usage.output_tokens is None for usage in usages),
        cost_usd=sum_of(usage.cost_usd for usage in usages),
        unpriced=sum(usage.cost_usd is None for usage in usages),
        tools=[
            ToolSection(
                name=name,
                calls=len(durations[name]) or calls[name],  # who runs the program of an agent times no call of it
                errors=errors[name],
                mean_duration_ms=mean_of(durations[name]),
                remarks=remarks[name],
            )
            for name in names
        ],
        general_remarks=general,
        quality=findings(list(tools.values())),
        tasks=sections,
    )


def write_agent_report(folder: UPath, report: AgentReport) -> UPath:
    """Write `agent_run.json` and `agent_run.md`; return the path of the latter."""
    write_texts(
        folder, {"agent_run.json": report.model_dump_json(indent=2) + "\n", "agent_run.md": as_markdown(report)}
    )
    return folder / "agent_run.md"


def as_markdown(report: AgentReport) -> str:
    """The report as Markdown."""
    return environment().get_template("agent_run.md.j2").render(report=report)


def _by_tool(names: list[str], sections: list[TaskSection]) -> tuple[dict[str, list[Remark]], list[Remark]]:
    """Feedback sentences grouped by the tools they name; the rest is general feedback."""
    words = {name: re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE) for name in names}
    said: dict[str | None, dict[str, list[str]]] = {name: {} for name in (*names, None)}
    for section in sections:
        for sentence in filter(None, (part.strip(" \t-*•") for part in _SENTENCE.split(section.feedback or ""))):
            named = [name for name, word in words.items() if word.search(sentence)]
            for name in named or [None]:
                said[name].setdefault(sentence, []).append(section.task_id)

    def remarks(name: str | None) -> list[Remark]:
        """Remarks, most frequent first."""
        ranked = sorted(said[name].items(), key=lambda entry: -len(entry[1]))
        return [Remark(text=text, tasks=tasks) for text, tasks in ranked]

    return {name: remarks(name) for name in names}, remarks(None)
