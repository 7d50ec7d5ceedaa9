"""Judges, made of the settings in a panel. Heavy packages are imported for the judges that need them."""

from functools import partial
from typing import TYPE_CHECKING

from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.own.judge import OwnJudge
from evaluation_assets.core.judging.panel import EMBEDDED, PYTHON, RECORDED, JudgeSettings
from evaluation_assets.core.judging.recorded import RecordedJudge
from evaluation_assets.core.models.endpoints import endpoint_of
from evaluation_assets.core.models.redaction.settings import Redaction

if TYPE_CHECKING:
    from evaluation_assets.core.judging.model_judge import ModelJudge


def judge_of(own: JudgeSettings, ledger_url: str, redaction: Redaction) -> Judge:
    """The judge that these settings of a panel describe."""
    if own.provider == EMBEDDED:
        from evaluation_assets.core.judging.rules.judge import RulesJudge  # noqa: PLC0415  (jsonschema)

        return RulesJudge(own.name, selection=own.selection)
    if own.provider == RECORDED:
        return RecordedJudge(own.name, own.model_name, selection=own.selection)
    if own.function is not None:
        return OwnJudge(own.name, own.own_function(), own.max_concurrency, own.timeout_s, own.selection)
    if own.evaluator is not None:
        from evaluation_assets.core.judging.evaluators.judge import EvaluatorJudge  # noqa: PLC0415

        asked = None if own.provider == PYTHON else _model_judge(own, ledger_url, redaction)
        return EvaluatorJudge(
            name=own.name,
            evaluator=own.evaluator,
            asked=asked,
            selection=own.selection,
            provider=own.provider,
            chains_in_flight=own.max_concurrency if asked is None else asked.chains_in_flight,
            timeout_s=own.timeout_s,
            samples=own.repeats,
        )
    return _model_judge(own, ledger_url, redaction)


def _model_judge(own: JudgeSettings, ledger_url: str, redaction: Redaction) -> "ModelJudge":
    from evaluation_assets.core.judging.forms import form_of  # noqa: PLC0415
    from evaluation_assets.core.judging.model_judge import ModelJudge  # noqa: PLC0415  (SQLAlchemy: 0.2 s to import)
    from evaluation_assets.core.models.ledger import Ledger  # noqa: PLC0415

    settings, connected, pricing = endpoint_of(own)
    return ModelJudge(
        settings,
        connected,
        partial(Ledger, ledger_url),
        pricing,
        own.repeats,
        own.selection,
        in_batches=own.mode == "batch",
        redaction=own.redaction or redaction,
        form=form_of(own.provider, own.model_name),
    )
