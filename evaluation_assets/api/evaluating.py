"""`evaluate`: evaluate a file from Python, with the assets that the command and the UI materialise."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pydantic import Field
from upath import UPath

from evaluation_assets.api.errors import (
    QuoteTooHigh,
    RunFailed,
    UnusableInput,
    as_unusable,
)
from evaluation_assets.api.home import Home, installation_at
from evaluation_assets.api.one_drop import only_drop
from evaluation_assets.api.records import Source, as_path, is_path
from evaluation_assets.api.result import BudgetSpent, Result
from evaluation_assets.core.intake.clips.tool_types import load_tool_types
from evaluation_assets.core.intake.copying.copies import Conflict
from evaluation_assets.core.intake.copying.drops import annotate, take_in
from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.intake.copying.suites import take_in_suite
from evaluation_assets.core.intake.drops import Drop
from evaluation_assets.core.intake.preprocessing.rules import OnViolation, Settings
from evaluation_assets.core.judging.panel import Panel, load_panel, panel_of
from evaluation_assets.core.judging.quotes import least_usd
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.pipeline.settings import load_settings
from evaluation_assets.core.system.configuration import Section, validated
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.meant import did_you_mean
from evaluation_assets.core.traces.formats.import_report import check_readable
from evaluation_assets.core.traces.formats.registry import FORMATS
from evaluation_assets.runs.paid import PaidEvaluation, check_usable


def evaluate(
    source: Source,
    *,
    panel: str | Path | Mapping[str, Any] | Panel | None = None,
    home: str | Path | None = None,
    name: str | None = None,
    suite: str | Path | None = None,
    budget: float | None = None,
    budget_calls: int | None = None,
    format: str | None = None,
    one_drop: bool = False,
    replace_drop: bool = False,
    beta_threshold: int = 15,
    on_violation: OnViolation = "flag",
    progress: bool = False,
) -> Result:
    """Evaluate a file of trajectories: copy it into the home folder, materialise all assets of the drop, and report.

    What `evaluation-assets evaluate` does. An evaluation that was interrupted is resumed by the same call: replies that
    were paid for are not paid for again.

    Args:
        source: a file, a folder with one drop, or records: dictionaries, lists of messages, or a data frame.
        panel: the judges: path of a panel.yaml, its content as a dictionary, or a `Panel` (default: panel.yaml in the
            home folder; without one, the embedded judge, which makes no model calls).
        home: the home folder or its fsspec URL (default: `EVALUATION_HOME`, else `.evaluation`).
        name: key of the drop (default: the file name without its extension; of records, `runs`).
        suite: a file of test cases to evaluate against, or the name of the suite that the drop belongs to.
        budget: stop before spending more than this many US dollars. The price of every judge must be known, unless
            `budget_calls` is given too.
        budget_calls: stop before more model calls than this.
        format: name of the input format (default: it is detected).
        one_drop: treat a folder as one drop of all its files.
        replace_drop: replace a drop of the same name that was another file.
        beta_threshold: maximum number of tool calls; more violate the frequency rule.
        on_violation: `flag` keeps records that violate a rule, `remove` does not evaluate them.
        progress: show progress on stderr.

    Returns:
        The result. Its `passed` is false if a blocking check failed, for instance the gate.

    Raises:
        UnusableInput: the file, suite, panel or a setting cannot be used, or a budget limits nothing.
        QuoteTooHigh: the quote exceeds the panel's `ask_above_usd` and no budget is given. No model was called.
        BudgetSpent: the budget was spent before the evaluation was complete.
        RunFailed: a step failed for another reason.
        KeyboardInterrupt: Ctrl-C was pressed; the run is canceled.
    """
    installation = installation_at(home)
    settings = Settings(beta_threshold=beta_threshold, on_violation=on_violation)
    with as_unusable(), as_path(source) as path:
        prepare(installation)
        given = {**asdict(settings), "budget": budget, "budget_calls": budget_calls}
        validated(given, _Numbers, "evaluate", UnusableInput)
        chosen = panel_from(installation, panel)
        suite_name, suite_file = _suite_of(suite)
        check_usable(installation, chosen)
        paid = PaidEvaluation(installation, chosen.asking(), settings, suite_name)
        looked_at = _looked_at(path, one_drop, format)
        paid.check_budget(budget, budget_calls, lambda: [looked_at])
        paid.check_keys([looked_at])
        if budget is None and budget_calls is None:
            _check_price(paid, chosen, looked_at)
        if suite_file is not None:
            take_in_suite(installation, suite_file)
        if format is not None:
            check_readable(looked_at.sources, format)
        may_replace = _may_replace(source, replace_drop)
        (drop,) = take_in(installation, [path], one_drop=one_drop, name=name, may_replace=may_replace)
        drop = annotate(installation, drop, suite=suite_name, format_name=format)
    return _run(installation, chosen, drop, settings, budget, budget_calls, progress)


class _Numbers(Section):
    """What a run takes; of what it does not take, Dagster would tell in its own words, once the drop is copied."""

    beta_threshold: int = Field(ge=0)
    on_violation: OnViolation
    budget: float | None = Field(ge=0)
    budget_calls: int | None = Field(ge=0)


def panel_from(home: Installation, panel: str | Path | Mapping[str, Any] | Panel | None) -> Panel:
    """The panel that an argument or the installation describes; its rubrics and tool types are checked too.

    Raises:
        UnusableInput: there is no file at the path.
        InvalidPanel, InvalidRubric, InvalidToolTypes, InvalidSettings: a file cannot be used.
    """
    load_rubrics(home.rubrics)
    load_tool_types(home.tool_types)
    load_settings(home.gate_file)
    if isinstance(panel, Panel):
        return panel
    if isinstance(panel, Mapping):
        chosen = panel_of(dict(panel), "panel")
        for judge in chosen.judges:
            if judge.function is not None:
                judge.own_function()
        return chosen
    if panel is not None and not UPath(panel).exists():
        raise UnusableInput(f"there is no panel file at {panel}")
    return load_panel(home.panel_file if panel is None else UPath(panel))


def _suite_of(given: str | Path | None) -> tuple[str | None, Path | None]:
    """The suite of a drop: its name, and the file of its cases if one is given."""
    if given is None:
        return None, None
    path = Path(given)
    if str(given) and path.exists():
        return path.resolve().stem, path
    if not given or isinstance(given, Path) or path.suffix or len(path.parts) > 1:
        raise UnusableInput(f"there is no suite at {str(given)!r}")
    return given, None


def _looked_at(path: Path, one_drop: bool, format_name: str | None) -> Drop:
    """The drop where it lies; nothing is copied yet, and no format noted."""
    if format_name is not None and format_name not in FORMATS:
        hint = did_you_mean(format_name, FORMATS, "`evaluation-assets formats` lists the names")
        raise UnusableInput(f"there is no format {format_name!r}; {hint}")
    return replace(only_drop(path, one_drop=one_drop), forced_format=format_name)


def _check_price(paid: PaidEvaluation, panel: Panel, drop: Drop) -> None:
    """The rule of the command without a terminal: above `ask_above_usd`, a budget is needed."""
    if paid.is_free:
        return
    expected = least_usd(paid.quotes([drop]).values())
    if expected > panel.ask_above_usd:
        raise QuoteTooHigh(
            f"the quote of ${expected:.4g} for {drop.key} is above the panel's ask_above_usd: {panel.ask_above_usd:g}; "
            "limit it with budget=USD, or raise ask_above_usd",
            expected,
        )


def _may_replace(source: Source, replace_drop: bool) -> Callable[[Conflict], bool]:
    def may_replace(conflict: Conflict) -> bool:
        if not replace_drop:
            told = conflict if is_path(source) else f"the drop {conflict.drop!r} has other records"
            raise UnusableInput(f"{told}. Keep both with name=..., or replace the drop with replace_drop=True.")
        return True

    return may_replace


def _run(
    home: Installation,
    panel: Panel,
    drop: Drop,
    settings: Settings,
    budget: float | None,
    budget_calls: int | None,
    progress: bool,
) -> Result:
    from evaluation_assets.runs.own_loop import ALONE, run_here  # noqa: PLC0415  (Dagster: 1 s to import)

    with ALONE:
        from evaluation_assets.runs.jobs import RunOptions, evaluate_drops  # noqa: PLC0415
        from evaluation_assets.runs.progress import RunProgress  # noqa: PLC0415

        options = RunOptions(settings=settings, budget_usd=budget, budget_calls=budget_calls)
        shown = RunProgress(quiet=not progress)
        with as_unusable():
            (outcome,) = run_here(lambda stop: list(evaluate_drops(home, panel, [drop], options, shown, stop)))
    message = f"{drop.key}: {outcome.message}"
    if outcome.status in ("unreadable", "unusable"):
        raise UnusableInput(message)
    if outcome.status == "broken":
        raise RunFailed(message)
    result = Result(Home(home), drop.key, outcome.status, outcome.failed_checks)
    if outcome.status == "over_budget":
        raise BudgetSpent(message, result)
    return result
