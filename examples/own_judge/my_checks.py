"""Checks of a support agent's runs."""

from evaluation_assets.judging import Score, Subject, judge


@judge(level="trajectory", criterion="refund_has_order_id")
def no_refund_without_id(run: Subject) -> bool:
    return all((call.arguments or {}).get("order_id") for call in run.calls_of("refund"))


@judge(level="answer")
async def answer_length(run: Subject) -> Score:
    words = len((run.answer or "").split())
    return Score(min(1.0, 40 / max(words, 1)), f"{words} words; 40 or fewer get the full score")
