"""What an evaluation would cost, before anything of it runs."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property

from evaluation_assets.core.intake.clips.tool_types import load_tool_types
from evaluation_assets.core.intake.drops import Drop, InvalidDrop
from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.judging.asking import model_of
from evaluation_assets.core.judging.evaluators.packages import InvalidEvaluator
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.panel import WITHOUT_MODEL, InvalidPanel, Panel, judges_of
from evaluation_assets.core.judging.quotes import Quote
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.models.budget import NO_LIMIT
from evaluation_assets.core.models.endpoints import EndpointSettings
from evaluation_assets.core.pipeline.named_metrics import settings_of
from evaluation_assets.core.pipeline.planning import Calls, Plan, plan, total_of
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.formats.base import UnreadableDrop
from evaluation_assets.core.traces.token_usage import TokenUsage

_SOME = TokenUsage(input_tokens=1_000_000, output_tokens=1_000_000)


@dataclass(frozen=True)
class PaidEvaluation:
    """An evaluation that may cost something. `suite` is what its drops are evaluated against, `select` its assets."""

    home: Installation
    panel: Panel
    settings: Settings
    suite: str | None
    select: str | None = None

    @cached_property
    def is_free(self) -> bool:
        """Whether no judge can cost anything: no models, a price of 0, or no verdicts selected.

        Raises:
            InvalidSelection: `select` names no asset of an evaluation.
        """
        return not self._priced or not self._selects_verdicts()

    @property
    def lacks_keys(self) -> bool:
        """Whether every judge needs a key and none has it."""
        return lacks_keys(self.panel)

    def check_keys(self, drops: Sequence[Drop]) -> None:
        """Check that some judge can be asked, or that the ledger has all replies, before anything of it runs.

        Raises:
            InvalidPanel: no judge has its key; the message names the variables.
            InvalidSelection: `select` names no asset of an evaluation.
        """
        if not self.lacks_keys or not self._selects_verdicts():
            return
        judges = judges_of(self.panel, self.home.ledger_url)
        check_keys(self.panel, sum(sum(calls.new.values()) for calls in self._calls(drops, judges)))

    def quotes(self, drops: Sequence[Drop], step: Callable[[], object] = lambda: None) -> dict[str, Quote]:
        """The quote of each judge that costs something, over these drops. Drops that cannot be read cost nothing.

        `step` is called for each run.
        """
        return {calls.judge: calls.quote for calls in self._calls(drops, self._priced, step)}

    def _calls(
        self, drops: Sequence[Drop], judges: Sequence[Judge], step: Callable[[], object] = lambda: None
    ) -> list[Calls]:
        home = self.home
        rubrics, types, canaries = (
            load_rubrics(home.rubrics),
            load_tool_types(home.tool_types),
            settings_of(home, self.panel).canaries,
        )
        plans: list[Plan] = []
        for drop in drops:
            try:
                plans.append(plan(drop, self.settings, rubrics, types, judges, canaries, suite=self.suite, step=step))
            except (InvalidDrop, UnreadableDrop):
                continue  # the evaluation says so, and spends nothing on it
        return total_of(plans)

    @cached_property
    def _priced(self) -> list[Judge]:
        if all(judge.provider in WITHOUT_MODEL for judge in self.panel.judges):
            return []
        judges = judges_of(self.panel, self.home.ledger_url)
        return [judge for judge in judges if _can_cost(judge)]

    def check_budget(
        self, budget_usd: float | None, budget_calls: int | None, drops: Callable[[], Sequence[Drop]] | None = None
    ) -> None:
        """Check that a budget limits what it is for. Judges whose replies about the drops are all in the ledger pay
        nothing; without drops, no reply is known.

        Raises:
            InvalidPanel: only US dollars are limited, and the price of a model that would be asked is unknown.
            InvalidSelection: `select` names no asset of an evaluation.
            InvalidDrop: there is nothing that can be read.
        """

        def asked(judges: Sequence[Judge]) -> Sequence[Judge]:
            if drops is None:
                return judges
            new = {calls.judge for calls in self._calls(drops(), judges) if calls.new}
            return [judge for judge in judges if judge.name in new]

        if self._selects_verdicts():
            check_budget(self.panel, self._priced, budget_usd, budget_calls, asked)

    def _selects_verdicts(self) -> bool:
        if self.select is None:
            return True
        from evaluation_assets.definitions import build_definitions  # noqa: PLC0415
        from evaluation_assets.runs.selection import assets_of  # noqa: PLC0415

        chosen = assets_of(build_definitions(self.home, self.panel), self.select, with_files=False)
        return any(key.path[0].endswith("_verdicts") for key in chosen)


def lacks_keys(panel: Panel) -> bool:
    """Whether every judge needs a key and none has it."""
    return not any(_has_key(judge.key_variable) for judge in panel.judges)


def check_keys(panel: Panel, calls: int) -> None:
    """Check that some judge can be asked, if there are so many calls to make.

    Raises:
        InvalidPanel: no judge has its key; the message names the variables.
    """
    if calls and lacks_keys(panel):
        without = ", ".join(f"{judge.name}: {judge.key_variable}" for judge in panel.judges)
        raise InvalidPanel(
            f"no judge can be asked, because no API key is set ({without}). Set the variable, or choose judges "
            "that need none, such as provider: rules, in panel.yaml"
        )


def check_budget(
    panel: Panel,
    judges: Sequence[Judge],
    budget_usd: float | None,
    budget_calls: int | None,
    asked: Callable[[Sequence[Judge]], Sequence[Judge]],
) -> None:
    """Check that a budget limits what it is for. `asked` are those of some judges that would ask their models.

    Raises:
        InvalidPanel: only US dollars are limited, and the price of a model that would be asked is unknown.
    """
    if budget_usd is None or budget_calls is not None:
        return
    unpriced = _without_price(judges)
    if missing := unknown_prices(panel, asked(unpriced) if unpriced else ()):
        raise InvalidPanel(f"the price of {', '.join(missing)} is unknown, {NO_LIMIT}")


USER = "the simulated user"


def _has_key(variable: str | None) -> bool:
    """Whether a judge has the key that it needs; many need none."""
    return variable is None or bool(os.environ.get(variable))


def unknown_prices(panel: Panel, judges: Sequence[Judge]) -> list[str]:
    """The judges, and the model of embeddings, whose price nobody knows, as messages name them."""
    unknown = [f"judge {judge.name} ({judge.model})" for judge in _without_price(judges)]
    embeddings = panel.embeddings
    if embeddings is not None and embeddings.provider != "local":
        from evaluation_assets.core.sections.sessions.embedding_similarity import pricing_of  # noqa: PLC0415

        if pricing_of(embeddings).cost(_SOME) is None:
            unknown.append(f"the embeddings ({embeddings.model})")
    return unknown


def _without_price(judges: Sequence[Judge]) -> list[Judge]:
    return [judge for judge in judges if (model := model_of(judge)) is not None and model.pricing.cost(_SOME) is None]


def missing_keys(
    panel: Panel, agents: Sequence[EndpointSettings] = (), user: EndpointSettings | None = None
) -> dict[str, list[str]]:
    """Who cannot be asked because an environment variable with a key is not set, by variable."""
    wanted = [(agent.key_variable, f"agent {agent.name}") for agent in agents]
    wanted += [] if user is None else [(user.key_variable, USER)]
    wanted += [(judge.key_variable, f"judge {judge.name}") for judge in panel.judges]
    if panel.embeddings is not None and panel.embeddings.provider != "local":
        wanted.append((panel.embeddings.key_variable, "the embeddings"))
    return by_key((variable, who) for variable, who in wanted if variable is not None and not _has_key(variable))


def without_keys(missing: Mapping[str, Sequence[str]]) -> list[str]:
    """Each variable of `missing_keys` and who needs it, as a sentence."""
    return [
        f"{variable} is not set; {' and '.join(who)} cannot be asked: export {variable}=<key>"
        for variable, who in missing.items()
    ]


def _can_cost(judge: Judge) -> bool:
    model = model_of(judge)
    return model is not None and model.pricing.cost(_SOME) != 0


def check_usable(home: Installation, panel: Panel) -> None:
    """Check that replies can be stored and metrics of other packages imported, before anything is paid for.

    Raises:
        LedgerError: the ledger cannot be used.
        InvalidPanel: a metric of another package cannot be used.
    """
    check_ledger(home, panel)
    check_evaluators(panel)


def check_evaluators(panel: Panel) -> None:
    """Import the metrics of other packages that the panel names, before any model is called.

    Raises:
        InvalidPanel: one cannot be used; the message names it and its judge.
    """
    for judge in panel.judges:
        if judge.evaluator is None:
            continue
        from evaluation_assets.core.judging.evaluators.metrics import metric_of  # noqa: PLC0415  (SQLAlchemy: 0.2 s)

        try:
            metric_of(judge.evaluator)
        except InvalidEvaluator as problem:
            raise InvalidPanel(f"judge {judge.name}: {problem}") from problem


def check_ledger(home: Installation, panel: Panel) -> None:
    """Open the ledger if the panel needs it or the installation names one, before any model is called.

    Raises:
        LedgerError: it cannot be used.
    """
    asks_model = panel.embeddings is not None or any(judge.provider not in WITHOUT_MODEL for judge in panel.judges)
    if not asks_model and not os.environ.get("EVALUATION_LEDGER_URL"):
        return
    from evaluation_assets.core.models.ledger import Ledger  # noqa: PLC0415  (SQLAlchemy: 0.2 s to import)

    with closing(Ledger(home.ledger_url)) as ledger:
        ledger.secret()
