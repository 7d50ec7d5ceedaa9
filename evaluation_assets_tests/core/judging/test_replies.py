"""Replies of models, as they come."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.judging.replies import InvalidReply, read_reply, said_in
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.models.messages import Reply
from evaluation_assets.core.traces.token_usage import TokenUsage
from evaluation_assets_tests.third_party import data

RUBRIC = load_rubrics().choose("clip", "microsandbox")
KEYS = [criterion.key for criterion in RUBRIC.criteria]


def reply(scores: object, **more: object) -> str:
    return json.dumps({"reasoning": "because", "scores": scores, "summary": "it\n ran"} | more)


def listed(*points: object) -> list[dict[str, object]]:
    return [{"criterion": key, "score": value} for key, value in zip(KEYS, points, strict=True)]


GOOD = reply(listed(10, 5, None, 0))


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here is my evaluation:\n\n{GOOD}\n\nI hope it helps.",
        f"{GOOD}\n\nNote: the function `def f(): return {{}}` of the {{agent}} fails. }}",
        f"As a set, {{}} or {{x}}: {GOOD} and so on }}",
        GOOD.replace("0}]", "0},]") + " }",
        GOOD.replace("0}]", "0},]").replace('ran"}', 'ran",}'),
        reply(dict(zip(KEYS, (10, 5, None, 0), strict=True))),
        reply(listed(10.0, 5.0, None, 0.0)),
        f'<think>The tool got {{"query": "x"}} back; a draft: {reply(listed(1, 1, 1, 1))}</think>\n{GOOD}',
        f"As for {{this}}, a draft: {reply(listed(1, 1, 1, 1))}\n</think>\n\n{GOOD}",
        f"<think>It wrote </think> and {reply(listed(2, 2, 2, 2))}</think>{GOOD}",
        f"<think>{{</think>{reply(listed(10, 5, None, 0), reasoning='It wrote <think>x</think> {y}')}",
        f"Here: {reply(listed(10, 5, None, 0), reasoning='It wrote <think>x</think> {y} </think>')}",
        reply(listed(10, 5, None, 0), reasoning='</think>{"scores": []}'),
        f"[THINK]{reply(listed(1, 1, 1, 1))}[/THINK]```json\n{GOOD}\n```",
        f"<|channel|>analysis<|message|>{reply(listed(1, 1, 1, 1))}<|end|><|channel|>final<|message|>{GOOD}",
        f"◁think▷{reply(listed(1, 1, 1, 1))}◁/think▷{GOOD}",
        f'<tool_call>{{"name": "evaluate", "arguments": {GOOD}}}</tool_call>',
        f'An example: {{"criterion": "x", "score": 3}}\n{GOOD}',
        f"{GOOD}\nOnce more:\n{GOOD}",
        reply([*listed(10, 5, None, 0), {"criterion": "charm", "score": 9}]),
        GOOD.replace('"score": 10', '"score": 10, "score": 10'),
    ],
)
def test_forms_that_say_the_same_are_read(text: str) -> None:
    found = read_reply(text, RUBRIC.criteria, RUBRIC.scale)
    assert found.scores == dict(zip(KEYS, (1.0, 0.5, None, 0.0), strict=True))
    assert found.summary == "it ran"


@pytest.mark.parametrize(
    ("more", "notes"),
    [
        (
            {"strengths": ["short", " right\n on "], "weaknesses": [], "verdict": "good"},
            ("Strengths: short; right on", "Verdict: good"),
        ),
        ({"weaknesses": "no source", "verdict": True, "strengths": [1, None]}, ("Weaknesses: no source",)),
        ({"verdict": {"is": "good"}}, ()),
        ({"strengths": ["x" * 5000]}, ("Strengths: " + "x" * 2000,)),
    ],
)
def test_strengths_and_weaknesses_that_a_judge_adds_are_kept(more: dict[str, object], notes: tuple[str, ...]) -> None:
    text = reply(listed(10, 5, None, 0), **more)
    assert read_reply(text, RUBRIC.criteria, RUBRIC.scale, with_remarks=True).notes == notes
    assert read_reply(text, RUBRIC.criteria, RUBRIC.scale).notes == ()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "invalid_json"),
        ("I would say 8 of 10.", "invalid_json"),
        (f"<think>My draft: {GOOD} but I have to go on", "invalid_json"),
        (f"<think>My draft: {GOOD}</think>I cannot say.", "invalid_json"),
        (GOOD[:40], "invalid_json"),
        ("[1, 2]", "invalid_json"),
        (reply(listed(10, 5, None, 0)[:3]), "missing_criterion"),
        (reply([*listed(10, 5, None, 0)[:3], {"criterion": "charm", "score": 9}]), "missing_criterion"),
        (GOOD.replace('"score": 10', '"score": 2, "score": 10'), "invalid_json"),
        (reply([*listed(10, 5, None, 0), *listed(1, 1, 1, 1)]), "invalid_json"),
        (reply(listed(11, 5, None, 0)), "out_of_range"),
        (reply(listed(-1, 5, None, 0)), "out_of_range"),
        (reply(listed("8", 5, None, 0)), "invalid_json"),
        (reply(listed(0.8, 5, None, 0)), "out_of_range"),
        (reply(dict(zip(KEYS, (0.8, 0.5, None, 0), strict=True))), "out_of_range"),
        (reply(listed(True, 5, None, 0)), "invalid_json"),
        (reply(listed(1.0, 1.0, 1.0, 1.0)), "out_of_range"),
        (f"The agent wants me to say {reply(listed(10, 10, 10, 10))}. I say {GOOD}", "invalid_json"),
        (f"```json\n{reply(listed(1, 1, 1, 1))}\n```\nOn reflection:\n```json\n{GOOD}\n```", "invalid_json"),
        (f"[{reply(listed(1, 1, 1, 1))}, {GOOD}]", "invalid_json"),
        (reply(listed(10, 5, None, 0), reasoning=None), "invalid_json"),
        (reply("high"), "invalid_json"),
    ],
)
def test_what_does_not_validate_is_no_score(text: str, kind: str) -> None:
    with pytest.raises(InvalidReply) as problem:
        read_reply(text, RUBRIC.criteria, RUBRIC.scale)
    assert problem.value.kind == kind


@pytest.mark.parametrize(
    ("text", "thought", "said"),
    [
        (GOOD, "thinking {}", GOOD),
        ("", GOOD, GOOD),
        ("\n", f"```json\n{GOOD}\n```", GOOD),
        ("", f"thinking {{}} </think>{GOOD}", GOOD),
        ("", f"My draft: {GOOD}", ""),
        ("", f"{GOOD} But wait,", ""),
        ("", None, ""),
        ("no JSON", GOOD, "no JSON"),
    ],
)
def test_only_reasoning_that_is_json_alone_is_a_reply(text: str, thought: str | None, said: str) -> None:
    assert said_in(Reply(text=text, thought=thought, finish="stop", usage=TokenUsage())) == said


@given(st.text(max_size=300))
def test_any_text_is_an_evaluation_or_invalid(text: str) -> None:
    try:
        found = read_reply(text, RUBRIC.criteria, RUBRIC.scale)
    except InvalidReply:
        return
    assert list(found.scores) == KEYS


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_any_json_is_an_evaluation_or_invalid(value: object) -> None:
    with pytest.raises(InvalidReply):
        read_reply(json.dumps({"scores": value, "reasoning": "", "summary": ""}), RUBRIC.criteria, RUBRIC.scale)


def _tau2_judges() -> list[dict]:
    """What two judges said: a verdict, a justification and a list of issues each."""
    folder = data("tau2-bench/judge")
    return [entry for path in sorted(folder.iterdir()) for entry in json.loads(path.read_text("utf-8"))["entries"]]


def test_recorded_justifications_come_through_whole() -> None:
    """Quotes, code, line breaks and braces in what judges wrote do not end the reply."""
    entries = _tau2_judges()
    assert len(entries) == 228
    for entry in entries:
        said, issues = entry["judge_justification"], json.dumps(entry["judge_issues"])
        text = reply(listed(10, 5, None, 0), reasoning=said, summary=issues)
        for form in (text, f"```json\n{text}\n```", f"My evaluation {{as asked}}:\n```\n{text}\n```", f"Here:\n{text}"):
            found = read_reply(form, RUBRIC.criteria, RUBRIC.scale)
            assert (found.reasoning, found.summary) == (said.strip(), " ".join(issues.split()))
            assert found.scores == dict(zip(KEYS, (1.0, 0.5, None, 0.0), strict=True))


def test_recorded_verdicts_in_words_are_no_scores() -> None:
    """`pass`, `satisfactory` or `partially_satisfied` is an answer to another question."""
    kinds = set()
    for entry in _tau2_judges():
        own = {name: entry[f"judge_{name}"] for name in ("verdict", "justification", "issues")}
        for text in (json.dumps(own), reply(dict.fromkeys(KEYS, own["verdict"]))):
            with pytest.raises(InvalidReply) as problem:
                read_reply(text, RUBRIC.criteria, RUBRIC.scale)
            kinds.add(problem.value.kind)
    assert kinds == {"invalid_json"}


def test_recorded_evaluations_on_another_scale_are_refused() -> None:
    """They gave fractions of 1, which would be read as the bottom of a scale of 0 to 10."""
    refused = 0
    for line in data("dataeva/demo0101_eva.jsonl").read_text("utf-8").splitlines():
        for tool, averages in json.loads(line)["evaluation_metadata"]["tool_averages"].items():
            rubric = load_rubrics().choose("clip", tool)
            text = json.dumps({"scores": averages["average_scores"], "summary": "s", "reasoning": "r"})
            if any(score % 1 for score in averages["average_scores"].values()):
                with pytest.raises(InvalidReply, match="a whole number from 0 to 10") as problem:
                    read_reply(text, rubric.criteria, rubric.scale)
                assert problem.value.kind == "out_of_range"
                refused += 1
    assert refused > 0


def with_percent(*percent: object) -> str:
    entries = [entry | {"probability": value} for entry, value in zip(listed(10, 5, None, 0), percent, strict=True)]
    return reply(entries)


def test_probabilities_come_with_the_scores_where_they_are_asked_for() -> None:
    said = with_percent(95, 40.0, None, 0)
    found = read_reply(said, RUBRIC.criteria, RUBRIC.scale, with_probability=True)
    assert found.probabilities == dict(zip(KEYS, (0.95, 0.4, None, 0.0), strict=True))
    assert found.scores == read_reply(GOOD, RUBRIC.criteria, RUBRIC.scale).scores
    assert read_reply(said, RUBRIC.criteria, RUBRIC.scale).probabilities is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (GOOD, "missing_criterion"),
        (reply(dict(zip(KEYS, (10, 5, None, 0), strict=True))), "missing_criterion"),
        (with_percent(0.95, 40, None, 0), "out_of_range"),
        (with_percent(95, 140, None, 0), "out_of_range"),
        (with_percent("95", 40, None, 0), "invalid_json"),
        (with_percent(True, 40, None, 0), "invalid_json"),
    ],
)
def test_a_reply_without_usable_probabilities_is_invalid(text: str, kind: str) -> None:
    with pytest.raises(InvalidReply) as refused:
        read_reply(text, RUBRIC.criteria, RUBRIC.scale, with_probability=True)
    assert refused.value.kind == kind


def test_nan_is_no_score_and_not_said_to_be_given_twice() -> None:
    with pytest.raises(InvalidReply) as problem:
        read_reply(GOOD.replace('"score": 10', '"score": NaN'), RUBRIC.criteria, RUBRIC.scale)
    assert "two values" not in str(problem.value)
