"""Record one run in an experiment of MLflow with its decorators, and print the IDs of trace and tool span."""

import json
import sys

import mlflow
from mlflow.entities import LiveSpan

QUESTION, ANSWER = "Where is order A-17?", "Order A-17 has been shipped."
ASKED = {"role": "user", "content": QUESTION}
FUNCTION = {"name": "look_up_order", "arguments": json.dumps({"order_id": "A-17"})}
CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": FUNCTION}]}
spans: list[LiveSpan] = []


@mlflow.trace(span_type="CHAT_MODEL")
def completion(model: str, messages: list[dict]) -> dict:
    said = CALL if len(messages) == 1 else {"role": "assistant", "content": ANSWER}
    return {"choices": [{"message": said}]}


@mlflow.trace(span_type="TOOL")
def look_up_order(order_id: str) -> dict:
    span = mlflow.get_current_active_span()
    assert span is not None
    spans.append(span)
    return {"status": "shipped"}


@mlflow.trace(name="support agent", span_type="AGENT")
def agent(question: str) -> str:
    completion(model="model-a", messages=[ASKED])
    found = look_up_order(order_id="A-17")
    returned = {"role": "tool", "tool_call_id": "c1", "content": json.dumps(found)}
    return completion(model="model-a", messages=[ASKED, CALL, returned])["choices"][0]["message"]["content"]


if __name__ == "__main__":
    mlflow.set_tracking_uri(sys.argv[1])
    mlflow.set_experiment(sys.argv[2])
    agent(QUESTION)
    mlflow.flush_trace_async_logging()
    print(json.dumps({"trace": spans[0].trace_id, "span": spans[0].span_id}))
