"""Images of a trace become a text with their kind and size, and those of known kinds are kept beside it."""

import json
import re
from base64 import b64decode, b64encode, urlsafe_b64encode
from pathlib import Path
from textwrap import wrap
from typing import Any

import pytest
from upath import UPath

from evaluation_assets.core.intake.drops import scan
from evaluation_assets.core.traces.formats.image_data import set_images_aside
from evaluation_assets.core.traces.formats.images import image_text
from evaluation_assets.core.traces.formats.messages.contents import content_of
from evaluation_assets.core.traces.formats.readers.canonical import line_of
from evaluation_assets.core.traces.formats.registry import read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.core.traces.trajectories.images import LARGEST, Image, Images
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.making import answer, trajectory
from evaluation_assets_tests.images import gif, jpeg, png, webp

_PNG = png()
_WEBP = b64encode(b64decode(webp()) + bytes(-len(b64decode(webp())) % 3)).decode()
_MARK = f"[image: image/png, {len(b64decode(_PNG))} bytes, {digest(_PNG)}]"


def aside(record: Any) -> Images:
    """The images of a record, which has their marks instead."""
    images = Images()
    set_images_aside(record, json.dumps(record).encode(), images)
    return images


@pytest.mark.parametrize(
    "holder",
    [
        {"image_url": {"url": f"data:image/png;base64,{_PNG}"}},
        {"image_url": f"data:image/png;base64,{_PNG}"},
        {"source": {"type": "base64", "media_type": "image/png", "data": _PNG}},
        {"image": {"format": "png", "source": {"bytes": _PNG}}},
        {"data": _PNG, "mimeType": "image/jpeg"},
        {"source": {"type": "data", "value": _PNG, "mimeType": "image/png"}},
        {"output": {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{_PNG}"}},
        {"result": _PNG},
    ],
)
def test_the_kind_is_that_of_the_first_bytes_and_the_size_that_of_the_data(holder: dict[str, Any]) -> None:
    assert image_text(Fields(holder)) == _MARK.rpartition(",")[0] + "]"
    kept = aside(holder)
    fields = Fields(holder)
    assert image_text(fields) == _MARK
    assert list(kept.marked_in([_MARK])) == [Image(digest(_PNG), "image/png", 4, 3, _PNG)]
    assert set(fields.paths()) <= {"mimeType"}


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (f"data:image/png;base64,{b64encode(b'<script>alert(1)</script>').decode()}", "25 bytes"),
        ("data:image/svg+xml,<svg onload=alert(1)>", "21 bytes"),
        ("data:image/png;base64,%%%%", "3 bytes"),
        (f"data:image/png\n<b>;base64,{'A' * 40}", "30 bytes"),
    ],
)
def test_what_is_no_image_of_a_known_kind_says_so_and_repeats_nothing_that_the_source_states(
    data: str, size: str
) -> None:
    assert image_text(Fields({"image_url": data})) == f"[image: not PNG, JPEG, GIF or WebP, {size}]"


@pytest.mark.parametrize(
    "holder", [{"image_url": "https://a.example/x.png"}, {"source": {"file_id": "f1"}}, {"data": "shots/1.png"}, {}]
)
def test_an_image_without_data_has_no_kind_and_no_size(holder: dict[str, Any]) -> None:
    assert image_text(Fields(holder)) == "[image]"


def test_a_large_image_and_a_deep_object_are_described_from_their_beginning() -> None:
    deep: dict[str, Any] = {"data": _PNG}
    for _ in range(20_000):
        deep = {"source": deep}
    assert image_text(Fields(deep)) == "[image]"
    assert image_text(Fields({"data": _WEBP + "A" * 6_000_000})) == "[image: image/webp, 4.5 MB]"


@pytest.mark.parametrize("data", [gif(), jpeg(), webp(), png(300, 200, 7)])
def test_images_are_set_aside_wherever_they_stand_in_a_text(data: str) -> None:
    nested = json.dumps({"content": [{"type": "image", "data": data}]})
    record = {"a": [f"see data:image/png;charset=x;base64,{data}) and", {"b": nested}], data: 1}
    kept = aside(record)
    ((first, inner), _) = record.values()
    assert first.startswith("see [image: image/") and first.endswith(") and")
    (image,) = kept.marked_in([first])
    assert (image.data, digest(data) in inner["b"], data in inner["b"]) == (data, True, False)
    assert json.loads(inner["b"])["content"][0]["data"].startswith(f"[image: {image.media_type}, ")


def _broken(data: str, end: str, width: int = 76) -> str:
    return end.join(wrap(data, width))


_LONG_JPEG = b64encode(b64decode(jpeg()) + bytes(range(250, 256)) * 40).decode()


@pytest.mark.parametrize(
    "written",
    [
        _LONG_JPEG.rstrip("="),
        urlsafe_b64encode(b64decode(_LONG_JPEG)).decode(),
        urlsafe_b64encode(b64decode(_LONG_JPEG)).decode().rstrip("="),
        _broken(_LONG_JPEG, "\n"),
        _broken(_LONG_JPEG, "\r\n", 64),
        _broken(_LONG_JPEG, "\\n"),
    ],
    ids=["no padding", "URL-safe", "URL-safe without padding", "lines", "lines of 64", "lines in JSON"],
)
@pytest.mark.parametrize("around", ["{}", "data:image/jpeg;base64,{}", "$ base64 a.jpg\n{}\nDone now."])
def test_images_are_set_aside_in_every_way_that_programs_write_base64(written: str, around: str) -> None:
    record = {"data": around.format(written)}
    (image,) = aside(record).marked_in([record["data"]])
    assert image.data == _LONG_JPEG
    assert re.sub(r"\[image: [^]]*\]", "{}", record["data"]) == around.removeprefix("data:image/jpeg;base64,")


@pytest.mark.parametrize("length", [75, 76, 400])
def test_the_text_in_the_line_after_an_image_stays(length: int) -> None:
    data = b64encode(b64decode(gif()).ljust(length * 3 // 4, b"\0")).decode().rstrip("=")
    record = {"data": f"{data}\nDone, see below"}
    aside(record)
    assert record["data"].endswith("]\nDone, see below")


def test_images_are_set_aside_where_slashes_are_escaped() -> None:
    record, images = {"data": jpeg()}, Images()
    set_images_aside(record, json.dumps(record).replace("/", "\\/").encode(), images)
    assert list(images.marked_in([record["data"]]))


@pytest.mark.parametrize(
    "data",
    [
        _PNG[:24],
        png(0),
        b64encode(b"\x89PNG\r\n\x1a\n" + bytes(60)).decode(),
        f"AAAA{_PNG}",
        _PNG.rstrip("=") + "=" * 3,
        f"/9j/{'some/long/path/of/a/photo' * 4}",
        b64encode(b64decode(_PNG) + bytes(LARGEST)).decode(),
        f"data:image/svg+xml;base64,{b64encode(b'<svg onload=alert(1)>' * 9).decode()}",
    ],
)
def test_what_is_no_whole_image_of_a_known_kind_stays_as_it_is(data: str) -> None:
    record = {"data": data}
    kept = aside(record)
    assert record == {"data": data}
    assert list(kept.marked_in([image_text(Fields(record))])) == []


def test_words_in_lines_below_data_stay() -> None:
    for words in ("This is what I see.", "This is it", "Seen"):
        record = {"text": f"{_PNG}\n{words}"}
        aside(record)
        assert record["text"] == f"{_MARK}\n{words}"


def test_the_images_that_were_read_last_are_held() -> None:
    images, marks = Images(), [f"[image: image/png, 5.0 MB, {number:016x}]" for number in range(20)]
    for number in (*range(20), 19):
        images.add(Image(f"{number:016x}", "image/png", 1, 1, "A" * 5_000_000))
    assert [image.digest for image in images.marked_in([*marks, marks[19]])] == [f"{n:016x}" for n in range(8, 20)]


_URL = f"data:image/png;base64,{_PNG}"
_BLOCK = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _PNG}}
_OK = {"role": "assistant", "content": "ok"}
_FUNCTION = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
_CALL = {"role": "assistant", "content": None, "tool_calls": [_FUNCTION]}
_RESPONSE = {
    "object": "response", "id": "r", "model": "m", "status": "completed",
    "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]}],
}  # fmt: skip
_IN_RESPONSES = {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_image", "image_url": _URL}]}
_BEDROCK = {"image": {"format": "png", "source": {"bytes": _PNG}}}
_OF_SDK = {"type": "content", "value": [{"type": "media", "data": _PNG, "mediaType": "image/png"}]}


def _claude(role: str, number: int, *content: Any) -> dict[str, Any]:
    return {
        "type": role, "uuid": str(number), "parentUuid": str(number - 1) if number else None, "sessionId": "s",
        "timestamp": "2026-01-01T00:00:00Z", "message": {"role": role, "content": content},
    }  # fmt: skip


def _codex(**payload: Any) -> dict[str, Any]:
    kind = "session_meta" if "cwd" in payload else "response_item"
    return {"timestamp": "2026-01-01T00:00:00Z", "type": kind, "payload": payload}


@pytest.mark.parametrize(
    ("name", "records"),
    [
        ("openai_messages", [{"messages": [
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": _URL}}]}, _OK]}]),
        ("openai_messages", [{"messages": [{"role": "user", "content": "look"}, _CALL,
            {"role": "tool", "tool_call_id": "c", "content": json.dumps([_BLOCK])}, _OK]}]),
        ("anthropic_messages", [{"system": "s", "messages": [{"role": "user", "content": "look"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "look", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [_BLOCK]}]}, _OK]}]),
        ("openai_responses", [_RESPONSE | {"input": [{"role": "user", "content": "look"},
            {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}, _IN_RESPONSES]}]),
        ("gemini", [{"contents": [{"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": _PNG}}]},
            {"role": "model", "parts": [{"text": "ok"}]}]}]),
        ("bedrock_converse", [{"messages": [{"role": "user", "content": [_BEDROCK]},
            {"role": "assistant", "content": [{"text": "ok"}]}]}]),
        ("vercel_ai", [{"messages": [
            {"id": "1", "role": "user", "parts": [{"type": "file", "mediaType": "image/png", "url": _URL}]},
            {"id": "2", "role": "assistant", "parts": [{"type": "step-start"}, {"type": "text", "text": "ok"}]}]}]),
        ("vercel_ai", [{"messages": [{"role": "user", "content": "look"},
            {"role": "assistant", "content": [
                {"type": "tool-call", "toolCallId": "c", "toolName": "look", "input": {}}]},
            {"role": "tool", "content": [
                {"type": "tool-result", "toolCallId": "c", "toolName": "look", "output": _OF_SDK}]}, _OK]}]),
        ("pydantic_ai", [{"messages": [
            {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": [
                "look", {"kind": "binary", "data": _PNG, "media_type": "image/png"}]}]},
            {"kind": "response", "parts": [{"part_kind": "text", "content": "ok"}]}]}]),
        ("autogen", [{"messages": [{"type": "MultiModalMessage", "source": "user", "content": ["look", {"data": _PNG}]},
            {"type": "TextMessage", "source": "a", "content": "ok"}], "stop_reason": None}]),
        ("claude_code", [_claude("user", 0, {"type": "text", "text": "look"}, _BLOCK),
            _claude("assistant", 1, {"type": "text", "text": "ok"})]),
        ("claude_code", [_claude("user", 0, {"type": "text", "text": "look"}),
            _claude("assistant", 1, {"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "a.png"}}),
            _claude("user", 2, {"type": "tool_result", "tool_use_id": "t", "content": [_BLOCK]}),
            _claude("assistant", 3, {"type": "text", "text": "ok"})]),
        ("codex", [_codex(id="s", cwd="/", originator="codex_cli"),
            _codex(type="message", role="user", content=[{"type": "input_text", "text": "look"}]),
            _codex(type="function_call", name="view_image", arguments="{}", call_id="c"), _codex(**_IN_RESPONSES)]),
    ],
)  # fmt: skip
def test_readers_write_the_mark_in_place_of_the_image(tmp_path: Path, name: str, records: list[Any]) -> None:
    found, unmapped = read(tmp_path, *map(json.dumps, records))
    assert found.format == name
    assert _MARK in found.text or _MARK in (found.turns[0].user_message or "")
    assert _PNG not in "".join(found.texts)
    assert [image.data for image in unmapped.images.marked_in(found.texts)] == [_PNG]


def read(folder: Path, *lines: str) -> tuple[Trajectory, UnmappedFields]:
    (folder / "d.jsonl").write_text("\n".join(lines))
    files, unmapped = scan(UPath(folder)).drops["d"].sources, UnmappedFields()
    found = [item for item in read_trajectories(files, unmapped) if isinstance(item, Trajectory)]
    return found[-1], unmapped


def test_images_of_records_in_another_format_are_kept(tmp_path: Path) -> None:
    seen = {"role": "tool", "tool_call_id": "c", "content": _URL}
    other = {"messages": [{"role": "user", "content": "look"}, _CALL, seen, _OK]}
    first = {"contents": [{"role": "user", "parts": [{"text": "x"}]}, {"role": "model", "parts": [{"text": "ok"}]}]}
    found, unmapped = read(tmp_path, json.dumps(first), json.dumps(other))
    assert (found.format, _MARK in found.text) == ("openai_messages", True)
    assert [image.data for image in unmapped.images.marked_in(found.texts)] == [_PNG]


def test_texts_of_our_own_format_stay_as_their_spans_need_them(tmp_path: Path) -> None:
    run = trajectory(f"<think>{_URL}</think>" + answer("done"))
    found, unmapped = read(tmp_path, line_of(run).decode())
    assert (found.text, list(unmapped.images.marked_in([_MARK]))) == (run.text, [])


def test_an_image_that_is_not_kept_is_counted_as_unmapped() -> None:
    message = Fields({"content": [{"type": "image_url", "image_url": {"url": "data:image/svg+xml,<svg/>"}}]})
    content_of(message)
    assert list(message.paths()) == ["content[].image_url"]
