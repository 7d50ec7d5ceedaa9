"""What each figure of a report is computed from: by its address, the formula in words and the rows.

An address names a figure: `drop/criteria/clip/clarity/mean`. In a pattern `*` is any one part of it, which a text names
as `{0}`, `{1}` in their order.
"""

from collections.abc import Mapping
from urllib.parse import unquote

Formula = tuple[str, str]
"""The formula, and the rows that it is about."""

_PANEL_SCORE = (
    "mean over judges (of a cascade, those of the last stage that scored) of each judge's mean over its scored "
    "samples; null below the quorum"
)
_CLIP, _ANSWERS = "clip_verdicts/<judge>", "trajectory_verdicts/<judge>"
_RECORDED, _RECORDS = "outcomes recorded in the drop's files", "raw_trajectories, preprocessed_trajectories"
_SUITE, _CONSTRAINTS, _CODING = "tool_use_results", "constraint_results", "coding_work"
_PROCESS, _SESSIONS = "process_scores", "rows of session_analyses with the analyst `panel`"
_PAIRED, _POINTS = "task_metrics, and the values of the baseline", "task_metrics of the drop"
_JUDGE = "all tables of verdicts of {0}, canary clips included"

_OF_VALUES = {
    "mean": "mean of",
    "std": "population standard deviation of",
    "min": "lowest of",
    "median": "median of",
    "max": "highest of",
    "n_scored": "number of known values among",
    "n_total": "number of",
    "n_tasks": "number of tasks of",
    "ci_low": "lower end of the 95% interval of the mean of",
    "ci_high": "upper end of the 95% interval of the mean of",
}

_STATISTICS: Mapping[str, Formula] = {
    "drop/overall": ("overall scores of trajectories", _CLIP),
    "drop/criteria/clip/*": (f"panel scores of each clip on {{0}} ({_PANEL_SCORE})", _CLIP),
    "drop/criteria/category/*": (
        f"panel scores of each category on {{0}} ({_PANEL_SCORE})",
        "category_verdicts/<judge>",
    ),
    "drop/criteria/*/*": (f"panel scores of each {{0}} on {{1}} ({_PANEL_SCORE})", _ANSWERS),
    "drop/tools/*": ("scores of clips of {0}, each the mean of its scored criteria", _CLIP),
    "drop/tools/*/scores": ("scores of clips of {0}, each the mean of its scored criteria", _CLIP),
    "drop/tools/*/criteria/*": (f"panel scores of clips of {{0}} on {{1}} ({_PANEL_SCORE})", _CLIP),
    "drop/process": ("process scores", _PROCESS),
    "drop/tool_use/metrics/*": ("`{0}` of the runs", _SUITE),
    "drop/tool_use/latency_ms": ("durations of the runs, in milliseconds", _SUITE),
    "drop/tool_use/categories/*/scores": ("scores of runs of {0}", _SUITE),
    "drop/sessions/scores/*": ("`{0}` of the sessions", _SESSIONS),
    "drop/sessions/agents/*/*": ("`{1}` of {0}", _SESSIONS),
}
"""What the values are whose statistics stand at a place."""


def _rates(measure: str, rows: str) -> dict[str, Formula]:
    end = "of the 95% Wilson interval; the trials of a task do not count as independent"
    named = {
        "count": "number of runs with the outcome true",
        "n": "number of runs with a known outcome",
        "n_tasks": "number of tasks with a known outcome",
        "n_unknown": "number of runs without a known outcome",
        "rate": "runs with the outcome true divided by runs with a known outcome",
        "ci_low": f"lower end {end}",
        "ci_high": f"upper end {end}",
    }
    return _each(f"drop/headline/rates/{measure}", rows, named)


def _trials(place: str, outcome: str, rows: str) -> dict[str, Formula]:
    named = {
        "k": "number of trials that are drawn",
        "pass_at": f"mean share of draws of {{0}} with a trial that {outcome}",
        "pass_hat": f"mean share of draws of {{0}} trials that all {outcome}",
        "n_tasks": "number of tasks with trials",
    }
    return _each(f"{place}/*", rows, named)


def _each(place: str, rows: str, formulas: Mapping[str, str]) -> dict[str, Formula]:
    return {f"{place}/{name}": (formula, rows) for name, formula in formulas.items()}


_FIGURES: Mapping[str, Formula] = {
    **_each(
        "drop/records",
        _RECORDS,
        {
            "total": "number of records: kept, removed by preprocessing rules, and unreadable",
            "kept": "number of records that are evaluated",
            "kept_share": "kept records divided by all records",
            "repaired": "number of kept records into which closing tags were inserted",
        },
    ),
    "drop/records/removed/*": ("number of records with the reason {0}", "rejected_records"),
    "drop/records/unreadable/*": ("number of records with the reason {0}", "rejected_records"),
    "drop/records/flags/*": ("number of runs with the flag {0}", "preprocessed_trajectories"),
    **_each(
        "drop",
        _RECORDS,
        {
            "rejected_total": "number of records that are removed or unreadable",
            "trajectories_total": "number of records that are evaluated",
            "tasks_total": "number of tasks of the kept records",
            "repairs_total": "number of unbalanced tags in kept records",
        },
    ),
    **_each(
        "drop/agent_use",
        "preprocessed_trajectories",
        {
            "n_runs": "number of runs that are evaluated",
            "calls": "sum of `n_tool_calls`",
            "n_counted": "number of runs with a known number of tokens",
            "tokens": "sum of the tokens of models, sent and written, of the runs where they are known",
            "n_priced": "number of runs with a known cost",
            "cost_usd": "sum of the known costs",
            "is_list_price": "whether list prices are in the cost of some run",
        },
    ),
    "drop/total_clips": ("number of clips", "clips"),
    "drop/scored_clips": ("number of clips with a panel score on at least one criterion", _CLIP),
    "drop/recorded_success": ("number of evaluated trajectories that the source recorded as successful", _RECORDED),
    "drop/recorded_outcomes": ("number of evaluated trajectories with a recorded outcome", _RECORDED),
    **_rates("success", _RECORDED),
    **_rates("right_answer", _ANSWERS),
    **_rates("passed", _SUITE),
    **_trials("drop/recorded_trials", "succeeded", _RECORDED),
    **_trials("drop/tool_use/trials", "passed", _SUITE),
    "drop/tools/*/clip_count": ("number of clips", "clips"),
    "drop/tools/*/calls/*": ("number of calls that ended with {1}", "clips"),
    "drop/tools/*/scored_clips": ("number of clips with a panel score on at least one criterion", _CLIP),
    "drop/tools/*/overall": ("mean over scored clips of the mean over their scored criteria", _CLIP),
    **_each(
        "drop/judges/*",
        _JUDGE,
        {
            "cost_usd": "sum of `cost_usd` over the verdicts that have it, once for each reply",
            "input_tokens": "sum of `input_tokens` over the verdicts that have it, once for each reply",
            "output_tokens": "sum of `output_tokens` over the verdicts that have it, once for each reply",
            "unpriced_verdicts": "number of verdicts with a reply and without `cost_usd`",
            "uncounted_verdicts": "number of verdicts with a reply and without `input_tokens` or `output_tokens`",
            "share_seen": "mean of `share_seen` over the verdicts on the drop that have it",
        },
    ),
    "drop/judges/*/outcomes/*/*": ("number of verdicts with outcome `{2}`", "{1}_verdicts/{0}"),
    **_each(
        "drop/sampled/*/*",
        "{1}_verdicts/{0}",
        {
            "mean": "mean of the verdicts, each the mean of its scores",
            "ci_low": "lower end of the 95% interval of the mean over all trajectories, by jackknife",
            "ci_high": "upper end of the 95% interval of the mean over all trajectories, by jackknife",
            "n_scored": "number of trajectories with a scored verdict",
            "n_trajectories": "number of trajectories that are evaluated",
        },
    ),
    "drop/process/success/*": ("AUROC of process scores against recorded success: {0}", _PROCESS),
    "drop/constraints/violating_trajectories": ("number of trajectories that violate a constraint", _CONSTRAINTS),
    "drop/constraints/constraints/*/*": ("number of trajectories with status `{1}`", _CONSTRAINTS),
    "drop/coding/totals/*": ("sum or number over sessions: {0}", _CODING),
    "drop/coding/*/*/totals/*": ("sum or number over sessions: {2}", _CODING),
    "drop/coding/sessions/*/*": ("`{1}` of the session", _CODING),
    "drop/coding/projects_total": ("number of projects", _CODING),
    "drop/coding/models_total": ("number of models", _CODING),
    "drop/sessions/total": ("number of sessions", _SESSIONS),
    "drop/sessions/conversation/*": ("sum of `{0}` over sessions", _SESSIONS),
    "drop/sessions/courses/*": ("number of sessions that are {0}", _SESSIONS),
    "drop/sessions/task_completion": ("number of sessions that reached the goal, of those that were judged", _SESSIONS),
    "drop/sessions/task_completion_judged": ("number of sessions whose goal was judged", _SESSIONS),
    "drop/sessions/agents_total": ("number of agents that acted", _SESSIONS),
    "drop/sessions/agents/*/*": ("sum or number over sessions: {1}", _SESSIONS),
    **_each(
        "drop/tool_use",
        _SUITE,
        {
            "cases_total": "number of cases",
            "runs": "number of runs that count",
            "passed": "number of runs that passed",
            "pass_rate": "runs that passed divided by runs that count",
            "completed": "number of runs with an answer, not cut off",
            "calls": "number of calls",
            "cost_usd": "sum of the known costs",
            "unpriced_runs": "number of runs without a known cost",
            "without_case_total": "number of runs that are an attempt at no case",
            "incomplete_total": "number of tasks of the suite that cannot be used",
            "not_run_total": "number of cases without a run",
            "failed_total": "number of runs that ended with an error",
        },
    ),
    "drop/tool_use/answers/*": ("number of answers that are `{0}`", _SUITE),
    "drop/tool_use/categories/*/*": ("`{1}` of the runs of {0}", _SUITE),
    "drop/tool_use/tools/*/*": ("`{1}` of the calls of {0}", _SUITE),
    "drop/tool_use/patterns/*/kinds/*": ("number of issues of the kind {1}", _SUITE),
    "drop/tool_use/patterns/*/n_runs": ("number of runs with such an issue", _SUITE),
    "drop/tool_use/patterns/*/n_failed_runs": ("number of failed runs with such an issue", _SUITE),
    "drop/tool_use/cases/*/*": ("`{1}` of the run", _SUITE),
    **_each(
        "drop/gate/metrics/*",
        _PAIRED,
        {
            "n_tasks": "number of tasks with {0} on both sides",
            "baseline": "mean over these tasks of {0} in the baseline",
            "current": "mean over these tasks of {0} in the drop, less the offset of a bridge",
            "difference": "mean difference of {0} over these tasks; of cost and time, mean ratio (geometric) less 1",
        },
    ),
    **_each(
        "drop/history/*/points/*",
        _POINTS,
        {
            "mean": "mean over tasks of {0}, less what bridges subtract",
            "ci_low": "lower end of the 95% interval of this mean, by Wilson if each task is 0 or 1, else Student's t",
            "ci_high": "upper end of the 95% interval of this mean, by Wilson if each task is 0 or 1, else Student's t",
        },
    ),
    "trajectory/*/overall": ("mean over scored clips of the mean over their scored criteria", _CLIP),
    "trajectory/*/scores/*": (f"panel score: {_PANEL_SCORE}", _ANSWERS),
}


def _in_parts(formulas: Mapping[str, Formula]) -> Mapping[int, list[tuple[list[str], Formula]]]:
    """Patterns in their parts, by the number of parts."""
    by_length: dict[int, list[tuple[list[str], Formula]]] = {}
    for pattern, formula in formulas.items():
        parts = pattern.split("/")
        by_length.setdefault(len(parts), []).append((parts, formula))
    return by_length


_OF_FIGURES, _OF_STATISTICS = _in_parts(_FIGURES), _in_parts(_STATISTICS)


def formula_of(address: str) -> Formula | None:
    """How the figure at an address is computed, and from which rows; `None` for what is no figure of its own."""
    parts = address.split("/")
    *place, name = parts
    if (formula := _matching(_OF_FIGURES, parts)) is not None:
        return formula
    if place[-1:] == ["tenths"] and (formula := _matching(_OF_STATISTICS, place[:-1])) is not None:
        return f"number of the {formula[0]} from {int(name) / 10} to {(int(name) + 1) / 10}", formula[1]
    if name in _OF_VALUES and (formula := _matching(_OF_STATISTICS, place)) is not None:
        return f"{_OF_VALUES[name]} the {formula[0]}", formula[1]
    return None


def _matching(patterns: Mapping[int, list[tuple[list[str], Formula]]], parts: list[str]) -> Formula | None:
    for pattern, (formula, rows) in patterns.get(len(parts), ()):
        if all(one in ("*", part) for one, part in zip(pattern, parts, strict=True)):
            names = [unquote(part) for one, part in zip(pattern, parts, strict=True) if one == "*"]
            return formula.format(*names), rows.format(*names)
    return None
