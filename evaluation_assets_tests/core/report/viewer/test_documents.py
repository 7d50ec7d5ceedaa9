"""Transcripts for the viewer: nothing of a text is lost, doubled or out of order."""

from hypothesis import given

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.report.viewer.documents import transcript
from evaluation_assets_tests.core.making import answer, call, result, tagged_texts, trajectory

TWO_CALLS = "".join(
    ["<think>first</think>", call('{"a": 1}'), result("one"), call("2"), result("two"), answer("three")]
)


@given(tagged_texts.filter(str.strip))
def test_the_items_are_the_text(text: str) -> None:
    run = trajectory(text)
    items = transcript(run, clips_of(run))
    assert "".join(item["text"] for item in items if item["kind"] != "user") == run.text


@given(tagged_texts.filter(str.strip))
def test_the_items_of_a_clip_are_its_text(text: str) -> None:
    run = trajectory(text)
    clips = clips_of(run)
    by_clip = {clip.index: "" for clip in clips}
    for item in transcript(run, clips):
        if item["kind"] != "user":
            by_clip[item["clip"]] += item["text"]
    assert by_clip == {clip.index: clip.content for clip in clips}


def test_a_call_stands_with_its_tool_and_its_result_in_one_clip() -> None:
    run = trajectory(TWO_CALLS)
    items = transcript(run, clips_of(run))
    shown = [(item["kind"], item["text"], item["clip"]) for item in items if item["kind"] not in ("text", "user")]
    assert shown[:5] == [
        ("thought", "first", 0),
        ("call", '{"a": 1}', 0),
        ("result", "one", 0),
        ("call", "2", 1),
        ("result", "two", 1),
    ]
    assert [item["tool"] for item in items if item["kind"] == "call"] == ["microsandbox_execute"] * 2
