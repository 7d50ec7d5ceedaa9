"""`panel align`: adopt a map or worked examples where they make a judge agree better with people."""

from collections.abc import Iterator
from functools import partial

import click
from upath import UPath

from evaluation_assets.cli.asking import agreed, answered, exit_if_stopped
from evaluation_assets.cli.one_judge import judge_named
from evaluation_assets.cli.options import Spending, text_or_json, with_panel, with_spending
from evaluation_assets.cli.output import echo, echo_json, refuse
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.panel import JudgeSettings, Panel, judges_of, panel_of
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.rubrics.writing import write_examples
from evaluation_assets.core.judging.score_map import ScoreMap
from evaluation_assets.core.lake.stored import publish_bytes
from evaluation_assets.core.models.redaction.settings import Redaction
from evaluation_assets.core.pipeline.alignment import (
    Changes,
    ask,
    compare,
    labelled_runs,
)
from evaluation_assets.core.pipeline.settings import load_settings
from evaluation_assets.core.review.alignment import Agreement, Alignment, check_labels
from evaluation_assets.core.review.labels import Label, read_labels
from evaluation_assets.core.review.measured import remember
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted
from evaluation_assets.core.text.unique_keys import settings_of
from evaluation_assets.core.text.yaml_edits import with_value


@click.command("align")
@click.argument("name", metavar="JUDGE")
@with_spending("Show the price; no model is called, nothing is written.")
@text_or_json
@with_panel
def align(home: Installation, panel: Panel, name: str, spending: Spending, format_name: str) -> None:
    """Compare a judge with human labels, and adopt what makes it agree better.

    JUDGE is a judge of the panel. Half of the labelled tasks give a rising map of the judge's scores and worked
    examples for the rubric. On the other half, a change is adopted if the 95% interval of its difference of kappa lies
    above 0; examples, which make prompts longer, only if they are also better than the map. A map is written to
    panel.yaml, examples to a new version of the rubric.
    """
    own, chosen = _chosen(panel, name)
    rubrics, pass_score = load_rubrics(home.rubrics), load_settings(home.gate_file).review.pass_score
    (judge,) = judges_of(chosen, home.ledger_url)
    labels = (label for label in read_labels(home.labels) if isinstance(label, Label))
    runs = labelled_runs(home, judge, labels, rubrics)
    check_labels([run.label for run in runs], [run.task for run in runs], home.command("review", "DROP"))
    redactions = _redactions(panel, judge)
    questions = partial(ask, runs=runs, pass_score=pass_score, redactions=redactions)
    (judge,), budget = agreed(home, chosen, spending, questions, [counted(len(runs), "labelled run")])
    asked = answered(judge, questions, budget, 2 * len(runs))
    exit_if_stopped(budget, "; nothing is adopted. Replies are kept: re-run to resume")
    changes = compare(asked, judge, own.map or (), pass_score)
    written = _adopt(home, panel, name, changes)
    remember(home, name, alignment=changes.alignment)
    if format_name == "json":
        document = {"judge": name, "written": written, **changes.alignment.model_dump()}
        echo_json(document)
    else:
        echo(*_lines(name, changes.alignment), written)


def _chosen(panel: Panel, name: str) -> tuple[JudgeSettings, Panel]:
    """The judge, and a panel of it alone, without its map and interactive."""
    own = judge_named(panel, name)
    if "trajectory" not in own.selection.levels:
        refuse(f"judge {name} is not asked about whole runs, so it cannot be compared with their labels")
    return own, panel.of_judges([own.model_copy(update={"map": None, "mode": "interactive"})])


def _redactions(panel: Panel, judge: Judge) -> list[Redaction] | None:
    """What is replaced in examples, which all judges are shown; `None` if this judge cannot be shown any."""
    from evaluation_assets.core.judging.model_judge import ModelJudge  # noqa: PLC0415  (SQLAlchemy: 0.2 s)

    if not isinstance(judge, ModelJudge):
        return None
    own = [each.redaction for each in panel.judges if isinstance(each.redaction, Redaction)]
    return list({redaction.fingerprint: redaction for redaction in (panel.redaction, *own)}.values())


def _adopt(home: Installation, panel: Panel, name: str, changes: Changes) -> str:
    """Write what is adopted; returns what was done, for the user."""
    adopted = changes.alignment.adopted
    if adopted == "map":
        return _write_map(home, name, changes.score_map)
    if adopted == "examples" and changes.rubric is not None:
        path = write_examples(home.rubrics, changes.rubric)
        others = [judge.name for judge in panel.judges if judge.name != name]
        more = f" {', '.join(others)} are shown them too, and were not compared." if others else ""
        return f"Adopted: {counted(len(changes.rubric.examples), 'worked example')}, written to {path}.{more}"
    return "Adopted: nothing, because no interval of a difference lies above 0."


def _write_map(home: Installation, name: str, score_map: ScoreMap) -> str:
    """Set `map` of the judge in the file of its panel; where no file has the judge, say what to write."""
    file = UPath(click.get_current_context().params["panel_file"] or home.panel_file)
    points = [list(point) for point in score_map]
    with home.edits(file):
        text = file.read_text("utf-8") if file.exists() else "judges: []"
        names = [judge["name"] for judge in settings_of(text)["judges"]]
        if name not in names:
            return f"Adopted: map. The judge is in no file; write this to it in {file}: map: {points}"
        edited = with_value(text, ["judges", names.index(name), "map"], points)
        panel_of(settings_of(edited), str(file))
        publish_bytes(file, edited.encode())
    return f"Adopted: map, written to {file}. The next evaluation counts scores by it; replies come from the ledger."


def _lines(name: str, alignment: Alignment) -> Iterator[str]:
    yield (
        f"judge {name}: {counted(alignment.n_labels, 'label')} of {counted(alignment.n_tasks, 'task')} decide "
        "(kappa, bias of the pass rate, difference of kappa from the judge as it is; 95% CI)"
    )
    named = {"none": "as it is", "map": "with map", "examples": "with examples"}
    for each in alignment.agreements:
        yield f"  {named[each.change]:<14} {_figures(each)}"


def _figures(each: Agreement) -> str:
    shown = [_figure(each.kappa, each.kappa_low, each.kappa_high), _figure(each.bias, each.bias_low, each.bias_high)]
    if each.change != "none":
        shown.append(_figure(each.difference, each.difference_low, each.difference_high))
    return "  ".join(f"{figure:<26}" for figure in shown).rstrip()


def _figure(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:+z.2f}" if low is None or high is None else f"{value:+z.2f} ({low:+z.2f} to {high:+z.2f})"
