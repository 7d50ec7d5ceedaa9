"""Images that are sent to judges: which, where, at which price, and that others see words."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.judging.densities import remembered_density
from evaluation_assets.core.judging.dry_run import dry_run
from evaluation_assets.core.judging.judge import judge_chains
from evaluation_assets.core.judging.panel import InvalidPanel, panel_of
from evaluation_assets.core.judging.prompts import render
from evaluation_assets.core.judging.quotes import Question
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.subjects import Chain, clip_chain, trajectory_chain, with_images
from evaluation_assets.core.models.image_tokens import image_tokens
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.models.messages import Message, Reply, Request
from evaluation_assets.core.models.usage import believed
from evaluation_assets.core.traces.token_usage import TokenUsage
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.core.traces.trajectories.images import Image
from evaluation_assets_tests.core.making import answer, call, result, trajectory
from evaluation_assets_tests.images import png
from evaluation_assets_tests.judging_alone import judge_at, verdicts
from evaluation_assets_tests.model_server import ModelServer, rule

RUBRICS = load_rubrics()


def image(shade: int, width: int = 4, height: int = 3, media_type: str = "image/png") -> Image:
    data = png(shade=shade)
    return Image(digest(data), media_type, width, height, data)


def marked(one: Image) -> str:
    return f"[image: {one.media_type}, 70 bytes, {one.digest}]"


def chain_of(images: Sequence[Image], level: str = "clip", said: str = "done") -> Chain:
    """A trajectory with an image in the result of each call."""
    steps = "".join(call(f"look {number}") + result(f"seen {marked(one)}") for number, one in enumerate(images))
    run = trajectory(steps + answer(said))
    made = clip_chain if level == "clip" else trajectory_chain
    return with_images(made(run, clips_of(run), RUBRICS), images)


def parts_of(request: Any) -> list[list[dict[str, Any]]]:
    """The parts of each message of a user."""
    turns = [message["content"] for message in request.body["messages"] if message["role"] == "user"]
    return [[{"type": "text", "text": turn}] if isinstance(turn, str) else turn for turn in turns]


def sent(part: dict[str, Any]) -> str:
    return part["source"]["data"] if "source" in part else part["image_url"]["url"].partition(",")[2]


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_a_clip_is_judged_with_its_images_behind_its_text(url: str, models: ModelServer, protocol: str) -> None:
    first, second = image(0), image(255)
    address = models.openai_url if protocol == "openai" else models.anthropic_url
    judge = judge_at(address, url, provider=f"{protocol}_compatible")
    found = asyncio.run(verdicts(judge, iter([chain_of([first, second])])))
    assert {verdict.outcome for verdict in found} <= {"scored", "abstained"}
    requests = [parts_of(request) for request in models.requests()]
    assert [[sent(part) for turn in turns for part in turn if part["type"] != "text"] for turns in requests] == [
        [first.data],
        [second.data],
        [],
    ]
    texts = [[[part["text"] for part in turn if "text" in part] for turn in turns] for turns in requests]
    assert texts[0] == texts[1][:1] and texts[1] == texts[2][:2], "the text before an image is that of the next request"
    if protocol == "anthropic":
        last = requests[0][-1]
        assert "cache_control" in last[0] and "cache_control" not in last[1], "images are not cached"


def test_a_judge_that_is_sent_no_images_sees_their_marks(url: str, models: ModelServer) -> None:
    one = image(0)
    chain = with_images(chain_of([one]), ())
    asyncio.run(verdicts(judge_at(models.openai_url, url), iter([chain])))
    for request in models.requests():
        assert marked(one) in json.dumps(request.body) and one.data not in json.dumps(request.body)


def test_images_are_part_of_the_question_in_the_ledger(url: str, models: ModelServer) -> None:
    judge = judge_at(models.openai_url, url)
    with_one = chain_of([image(0)])
    for chain, asked in ((with_one, 2), (with_one, 2), (with_images(with_one, ()), 4)):
        asyncio.run(verdicts(judge, iter([chain])))
        assert len(models.requests(bodies=False)) == asked


def test_an_image_that_a_provider_refuses_fails_its_own_verdict(url: str, models: ModelServer) -> None:
    broken, good = image(0), image(255)
    models.script([rule("bad_request", contains=broken.data)])
    found = asyncio.run(verdicts(judge_at(models.openai_url, url), iter([chain_of([good, broken, good])])))
    assert [verdict.outcome == "failed" for verdict in found] == [False, True, False, False]
    assert set(found[1].scores.values()) == {None} and "The request is not valid" in str(found[1].error)


def test_the_last_images_are_sent_and_none_that_providers_refuse() -> None:
    many = [image(shade) for shade in range(30)]
    refused = [image(40, width=9000), image(41, media_type="image/gif")]
    chain = chain_of([*many, *refused], "trajectory")
    rendered = render(chain.subjects[0], [], "fence", 400_000)
    assert [each.data for each in rendered.turns[-1].images] == [each.data for each in many[10:]]
    assert rendered.notes == ("12 of 32 images were not sent to the judge: too many, too large, or GIF.",)


def test_a_verdict_says_how_many_images_the_judge_was_not_sent(url: str, models: ModelServer) -> None:
    chain = chain_of([image(0), image(1, width=9000), image(2, media_type="image/gif")], "trajectory")
    judge = judge_at(models.openai_url, url)
    of_trajectory, *_ = asyncio.run(verdicts(judge, iter([chain])))
    assert of_trajectory.notes == ("2 of 3 images were not sent to the judge: too many, too large, or GIF.",)
    for complete in (chain_of([image(0)], "trajectory"), with_images(chain, ())):
        assert {verdict.notes for verdict in asyncio.run(verdicts(judge, iter([complete])))} == {()}


def test_a_request_stays_below_the_size_that_providers_take() -> None:
    heavy = [Image(f"{number:016x}", "image/png", 9, 9, "A" * 5_000_000) for number in range(6)]
    (turn,) = render(chain_of(heavy, "trajectory").subjects[0], [], "fence", 100_000).turns
    assert [each.digest for each in turn.images] == [each.digest for each in heavy[-4:]]


def test_the_tokens_of_an_image_are_believed_and_tell_nothing_of_texts(url: str, models: ModelServer) -> None:
    one = image(0)
    judge = judge_at(models.openai_url, url)
    asyncio.run(verdicts(judge, iter([chain_of([one], said=marked(one))])))
    with closing(Ledger(url)) as ledger:
        assert remembered_density(ledger, judge.provider, judge.model, "clip") is None
    turns = (Message("user", "look", images=(one,)),)
    request = Request(system="", turns=turns, schema=None, max_output_tokens=9, cache_key="")
    used = TokenUsage(input_tokens=30_000, output_tokens=1)
    reply = Reply(text="", finish="stop", usage=used)
    assert believed(reply, request).usage == used
    assert believed(reply, replace(request, turns=(Message("user", "look"),))).usage == TokenUsage()


def test_images_have_a_quarter_of_the_window_and_text_the_rest() -> None:
    large = [image(shade, 2000, 2000) for shade in range(10)]
    chain = chain_of(large, "trajectory", said="long " * 100_000)
    subject, window = chain.subjects[0], 60_000
    rendered = render(subject, [], "fence", window)
    assert [each.digest for each in rendered.turns[-1].images] == [each.digest for each in large[-3:]]
    assert window - 2000 < rendered.tokens <= window
    assert rendered.share_seen < 1


def test_images_are_in_the_price_before_they_are_sent(url: str, models: ModelServer) -> None:
    judge = judge_at(models.anthropic_url, url, provider="anthropic_compatible")
    chain = chain_of([image(0, 1092, 1092), image(9, 5000, 5000)])

    async def questions(of: Chain) -> list[Question]:
        with dry_run(judge) as ready:
            async for _ in judge_chains(ready, iter([of])):
                pass
            (quote,) = ready.priced(ready.questions).values()
        tokens.append(quote.expected.input_tokens)
        most.append(quote.most.input_tokens)
        return ready.questions

    tokens: list[int] = []
    most: list[int] = []
    asked = asyncio.run(questions(chain))
    assert [each.images for each in asked] == [39 * 39, 4784, 0]
    asyncio.run(questions(with_images(chain, ())))
    assert tokens[0] - tokens[1] == 39 * 39 + 4784
    assert most[0] - most[1] >= 39 * 39 + 4784
    assert models.requests() == []


@pytest.mark.parametrize(
    ("provider", "model", "width", "height", "tokens"),
    [
        ("anthropic", "claude-opus-5-5", 1024, 1024, 37 * 37),
        ("anthropic", "claude-opus-5-5", 4032, 3024, 4784),
        ("vertex", "claude-opus-5-5", 28, 29, 2),
        ("openai", "gpt-6-sol", 1024, 1024, 1229),
        ("openai", "gpt-6-sol", 4032, 3024, 3000),
        ("google", "gemini-3.8-flash", 4032, 3024, 1120),
        ("vertex", "google/gemini-3.8-flash", 10, 10, 1120),
    ],
)
def test_the_tokens_of_an_image_follow_the_rule_of_its_provider(
    provider: str, model: str, width: int, height: int, tokens: int
) -> None:
    assert image_tokens([image(0, width, height)], provider, model) == tokens


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"provider": "rules"}, "rules is not asked anything; remove images"),
        ({"provider": "openai", "mode": "batch"}, "mode: batch take no images"),
        ({"provider": "openai_decisions"}, "decision models and mode: batch take no images"),
    ],
)
def test_a_panel_sends_images_only_to_judges_that_can_take_them(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidPanel, match=said):
        panel_of({"judges": [{"name": "one", "images": True} | settings]}, "panel.yaml")


def test_images_change_what_verdicts_are_compared_with() -> None:
    with_them, without = (
        panel_of({"judges": [{"name": "one", "provider": "openai", "images": images}]}, "panel.yaml")
        .judges[0]
        .selection
        for images in (True, False)
    )
    assert (with_them.described(), without.described()) == ("images 1", "")
