"""Record one run in a project of Phoenix as OpenInference does, and print the IDs of trace and tool span."""

import json
import sys

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

QUESTION, ANSWER = "Where is order A-17?", "Order A-17 has been shipped."
ARGUMENTS, RESULT = json.dumps({"order_id": "A-17"}), json.dumps({"status": "shipped"})
ASKED = {"role": "user", "content": QUESTION}
CALL = {
    "role": "assistant",
    "tool_calls.0.tool_call.id": "c1",
    "tool_calls.0.tool_call.function.name": "look_up_order",
    "tool_calls.0.tool_call.function.arguments": ARGUMENTS,
}
RETURNED = {"role": "tool", "content": RESULT, "tool_call_id": "c1"}


def completion(given: list[dict[str, str]], said: dict[str, str]) -> dict[str, str]:
    attributes = {"openinference.span.kind": "LLM", "llm.model_name": "model-a"}
    for number, message in enumerate(given):
        attributes |= {f"llm.input_messages.{number}.message.{key}": value for key, value in message.items()}
    return attributes | {f"llm.output_messages.0.message.{key}": value for key, value in said.items()}


if __name__ == "__main__":
    provider = TracerProvider(resource=Resource({"openinference.project.name": sys.argv[2]}))
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"{sys.argv[1]}/v1/traces")))
    tracer = provider.get_tracer("support")
    with tracer.start_as_current_span("support agent", attributes={"openinference.span.kind": "AGENT"}) as root:
        root.set_attribute("input.value", QUESTION)
        with tracer.start_as_current_span("completion", attributes=completion([ASKED], CALL)):
            pass
        with tracer.start_as_current_span("look_up_order", attributes={"openinference.span.kind": "TOOL"}) as tool:
            tool.set_attributes({"tool.name": "look_up_order", "input.value": ARGUMENTS, "output.value": RESULT})
        said = {"role": "assistant", "content": ANSWER}
        with tracer.start_as_current_span("completion", attributes=completion([ASKED, CALL, RETURNED], said)):
            pass
        root.set_attribute("output.value", ANSWER)
    trace, span = root.get_span_context().trace_id, tool.get_span_context().span_id
    print(json.dumps({"trace": f"{trace:032x}", "span": f"{span:016x}"}))
