"""OTLP requests in protobuf, as the JSON of the protocol, and its answers. Needs the extra `receive`."""

import base64
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from evaluation_assets.core.intake.sources.otlp.counting import check_messages
from evaluation_assets.core.intake.sources.otlp.parts import MalformedRequest, Signal
from evaluation_assets.core.traces.trajectories.model import JsonObject

_IDS = ("trace_id", "span_id", "parent_span_id")
"""Bytes that the protocol's JSON has in hexadecimal digits, other bytes are in base64."""

_LONG = (FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64)


def document_of(body: bytes, signal: Signal) -> JsonObject:
    """Decode the body of a request.

    Raises:
        MalformedRequest: the body is not a message of this signal.
        OversizedRequest: it holds too many messages.
    """
    request = ExportTraceServiceRequest() if signal == "traces" else ExportLogsServiceRequest()
    check_messages(body, request.DESCRIPTOR)
    try:
        request.ParseFromString(body)
    except DecodeError:
        raise MalformedRequest(f"the body is not a protobuf message of {signal}") from None
    return _json(request)


def response_to(signal: Signal, rejected: int, message: str) -> bytes:
    """Encode the response to an accepted request; `rejected` counts the items of it that were refused."""
    if signal == "traces":
        traces = ExportTraceServiceResponse()
        if rejected or message:
            traces.partial_success.rejected_spans = rejected
            traces.partial_success.error_message = message
        return traces.SerializeToString()
    logs = ExportLogsServiceResponse()
    if rejected or message:
        logs.partial_success.rejected_log_records = rejected
        logs.partial_success.error_message = message
    return logs.SerializeToString()


def status(code: int, message: str) -> bytes:
    """Encode the status of a request that failed; `code` is one of gRPC."""
    return Status(code=code, message=message).SerializeToString()


def _json(message: Message) -> JsonObject:
    document: JsonObject = {}
    for field, value in message.ListFields():
        if field.is_repeated:
            document[field.json_name] = [_json(item) for item in value] if field.message_type else list(value)
        elif field.message_type:
            document[field.json_name] = _json(value)
        elif field.cpp_type in _LONG:
            document[field.json_name] = str(value)
        else:
            document[field.json_name] = _encoded(field, value)
    return document


def _encoded(field: FieldDescriptor, value: Any) -> Any:
    if not isinstance(value, bytes):
        return value
    return value.hex() if field.name in _IDS else base64.b64encode(value).decode("ascii")
