"""Calls of services in the frames of a dialogue, as the data sets of Schema-Guided Dialogue and MultiWOZ have them.

{"speaker": "SYSTEM", "utterance": "It is.", "frames": [{"service_call": {"method": "LookUp", "parameters": {}},
"service_results": [{"paid": "True"}]}]}
"""

from collections.abc import Iterable, Iterator

from evaluation_assets.core.traces.formats.messages.named_speakers import with_role
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import at, first_text, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject


def with_service_calls(messages: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """Messages of a user and a system, which is the agent, as chat messages. It calls services before it speaks."""
    for number, message in enumerate(messages):
        said, frames = with_role(message), list(objects_in(message.get("frames")))
        role = "assistant" if said["role"] == "system" else said["role"]
        for place, frame in enumerate(frames):
            if (method := first_text(frame.get("service_call"), "method")) is None:
                continue
            given = at(frame["service_call"], "parameters")
            call = {"id": f"frame {number} {place}", "name": method, "arguments": given}
            yield {"role": "assistant", "content": "", "tool_calls": [call]}
            if frame.get("service_results") is not None:
                shown = as_text(frame["service_results"])
                yield {"role": "tool", "tool_call_id": call["id"], "content": shown}
        about = {key: value for key, value in said.items() if key not in ("role", "frames")}
        yield {**about, "role": role, **({"frames": {"frames": frames}} if frames else {})}
