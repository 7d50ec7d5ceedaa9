"""The one judge of the panel that a command asks by itself, outside of an evaluation, after its price was shown."""

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from evaluation_assets.cli.consent import ask_for_consent
from evaluation_assets.cli.output import echo, refuse
from evaluation_assets.cli.quotes import quote_line
from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.judging.panel import WITHOUT_MODEL, Panel
from evaluation_assets.core.judging.subjects import Chain
from evaluation_assets.core.models.providers.capabilities import capabilities_of
from evaluation_assets.core.pipeline.pairwise import quoted
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.runs.paid import PaidEvaluation

if TYPE_CHECKING:
    from evaluation_assets.core.judging.model_judge import ModelJudge


def one_judge(panel: Panel, name: str | None, task: str, *, writes: bool = False) -> Panel:
    """The panel of the named judge alone, or of the first language model, which is asked each question once.

    Exits if there is none that can do the `task`; one that `writes` is no decision model.
    """
    able = [judge for judge in panel.judges if judge.provider not in WITHOUT_MODEL and judge.evaluator is None]
    if name is None or writes:
        able = [judge for judge in able if not capabilities_of(judge.provider, judge.model_name).decides]
    if name is None and not able:
        refuse("no judge of the panel is a language model; add one to panel.yaml, or name one with --judge")
    named = [judge for judge in able if name in (None, judge.name)]
    if not named:
        known = ", ".join(judge.name for judge in able) or "none"
        refuse(f"no judge {name!r} that can {task} in the panel; judges that are models: {known}")
    once = named[0].model_copy(update={"repeats": 1})
    return panel.model_copy(update={"judges": (once,), "cascade": (), "quorum": 1, "embeddings": None})


def is_agreed(
    home: Installation,
    panel: Panel,
    judge: "ModelJudge",
    questions: Iterable[Chain],
    *,
    dry_run: bool,
    budget: float | None,
    yes: bool,
) -> bool:
    """Whether the judge is to be asked, after the price was shown where there is one."""
    quote = asyncio.run(quoted(judge, questions))
    if dry_run:
        echo(f"judge {judge.name}: {quote_line(quote)}")
        return False
    paid = PaidEvaluation(home, panel, Settings(), None)
    paid.check_budget(budget, None)
    paid.check_keys_for(quote.expected.calls)
    ask_for_consent(
        lambda: {judge.name: quote}, panel.ask_above_usd, limited=budget is not None, agreed=yes, quiet=False
    )
    return True
