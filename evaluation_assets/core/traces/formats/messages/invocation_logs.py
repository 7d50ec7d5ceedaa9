"""Entries of a model invocation log of Amazon Bedrock, of requests that have the body of the model's own API."""

from typing import Any

from evaluation_assets.core.traces.formats.untyped import as_object, at

CHUNKS = "chunks"
"""Field of a response of which the log has only the chunks that were streamed."""


def unlogged(data: Any) -> Any:
    """An entry of `InvokeModel` with messages, as a request with its response; any other value as it is.

    The bodies are objects, or JSON texts; that of a streamed response is the list of its chunks.
    """
    if at(data, "schemaType") != "ModelInvocationLog" or not str(at(data, "operation")).startswith("InvokeModel"):
        return data
    request = as_object(at(at(data, "input"), "inputBodyJson"))
    if request is None or not isinstance(request.get("messages"), list):
        return data
    body = at(at(data, "output"), "outputBodyJson")
    response = {CHUNKS: body} if isinstance(body, list) else as_object(body)
    about = {"id": data.get("requestId"), "timestamp": data.get("timestamp"), "model": data.get("modelId")}
    return {**about, "request": request, "response": response}
