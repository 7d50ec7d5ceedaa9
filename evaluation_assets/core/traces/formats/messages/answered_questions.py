"""A question with the answer of a model and the right one, as evaluations of answers have them.

{"query": "Who wrote Dune?", "response": "Frank Herbert did.", "ground_truth": "Frank Herbert"}
"""

from evaluation_assets.core.traces.formats.untyped import decoded, first_text, in_both_cases, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_ASKED = in_both_cases(
    "question", "query", "problem", "prompt", "user_input", "user_query", "instruction", "task", "input",
)  # fmt: skip
_SAID = in_both_cases(
    "response", "model_response", "model_answer", "model_output", "generated_answer", "generated_response",
    "predicted_answer", "prediction", "actual_output", "agent_answer", "agent_response", "bot_response", "llm_response",
    "output", "completion", "generation",
)  # fmt: skip
"""Names of what only a model says. An `answer` may be the right one."""
_RIGHT = in_both_cases(
    "ground_truth", "golden_answers", "golden_answer", "gold_answer", "correct_answer", "expected_answer",
    "expected_output", "reference_answer", "target", "reference", "expected", "gold", "answer", "answers",
)  # fmt: skip
RETRIEVED = (
    "contexts", "retrieved_contexts", "retrieval_context", "retrieved_documents", "retrieved_docs", "retrieved_chunks",
    "source_documents", "retrieved_passages",
)  # fmt: skip
"""What was retrieved for an answer, by a call. The `context` of a question is mostly given with it, in data sets."""


def answered_question(data: JsonObject) -> JsonObject | None:
    """The record with question and answer as messages; `None` for any other record, as one without a right answer."""
    asked, said = (next((name for name in names if first_text(data, name)), None) for names in (_ASKED, _SAID))
    right = next((name for name in _RIGHT if data.get(name) not in (None, "", [])), None)
    if asked is None or said is None or right is None or "role" in data or isinstance(data[right], dict):
        return None
    is_called = any(isinstance(decoded(data.get(name)), list) for name in RETRIEVED)
    if is_called or any(any(objects_in(value)) for value in data.values()):  # steps, choices, documents
        return None
    messages = [{"role": "user", "content": data[asked]}, {"role": "assistant", "content": data[said]}]
    others = {key: value for key, value in data.items() if key not in (asked, said, right)}
    return {**others, "ground_truth": data[right], "messages": messages}
