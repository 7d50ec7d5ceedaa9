"""Decision models: OpenAI's Decisions and the System One protocol."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import orjson

from evaluation_assets_tests.model_server.faults import Failure
from evaluation_assets_tests.model_server.openai_chat import OpenAI
from evaluation_assets_tests.model_server.reading import Calls, Malformed, Question, Reading, dumped, read

YES, NO = "yes", "no"


def decided(reading: Reading, fault: Mapping[str, Any]) -> str:
    """The probability of each option of each question, drawn from the messages and the question; `null` is a refusal.

    Faults are about the question `property`, without it about all.
    """
    found: dict[str, dict[str, float] | None] = {}
    for question in reading.questions:
        kind = fault.get("kind") if fault.get("property", question.name) == question.name else None
        if kind == "missing":
            continue
        drawn = hashlib.blake2b(reading.seed + question.name.encode(), digest_size=len(question.options)).digest()
        weights = [1 + byte**4 for byte in drawn]
        shares = [weight / sum(weights) for weight in weights]
        if kind == "out_of_range":
            shares[0] += 2
        found[question.name] = None if kind == "refusal" else dict(zip(question.options, shares, strict=True))
    return dumped(found | ({"surprise": {YES: 0.5, NO: 0.5}} if fault.get("kind") == "extra" else {}))


def _refuse_unless(wanted: bool, reason: str) -> None:
    if not wanted:
        raise Malformed(reason)


def read_decisions(body: Mapping[str, Any]) -> Reading:
    given = body["input"]
    turns = [{"role": "user", "content": given}] if isinstance(given, str) else given
    messages: list[tuple[str, object]] = [(turn["role"], turn["content"]) for turn in turns]
    _refuse_unless(all(role in ("system", "developer", "user", "assistant") for role, _ in messages), "input: role")
    _refuse_unless(1 <= len(body["questions"]) <= 400, "questions: 1 to 400")
    reading = read(body, messages, None, False)
    reading.questions = [_question(place, each) for place, each in enumerate(body["questions"])]
    reading.cache_key = body.get("prompt_cache_key")
    return _with_questions(reading, body)


def _question(place: int, given: Mapping[str, Any]) -> Question:
    known = {"predicate": set(), "choice": {"choices"}, "score": {"levels"}}[given["type"]]
    _refuse_unless(given.keys() - {"name"} == {"type", "instructions"} | known, f"questions.{place}: fields")
    _refuse_unless(isinstance(given["instructions"], str), f"questions.{place}: instructions")
    if given["type"] == "predicate":
        options = [YES, NO]
    else:
        key, most = {"choice": ("value", 255), "score": ("label", 10)}[given["type"]]
        options = [each[key] for each in given[next(iter(known))]]
        _refuse_unless(2 <= len(set(options)) == len(options) <= most, f"questions.{place}: options")
    return Question(given.get("name", f"question {place}"), given["type"], options)


def read_system_one(body: Mapping[str, Any]) -> Reading:
    _refuse_unless(isinstance(body["state"], str | dict | list), "state")
    _refuse_unless(bool(body["questions"]), "questions: at least one")
    reading = read(body, [("user", dumped(body["state"]))], None, False)
    reading.questions = [_typed(name, each) for name, each in body["questions"].items()]
    return _with_questions(reading, body)


def _typed(name: str, given: Mapping[str, Any]) -> Question:
    kind, criteria = given["type"], given.get("criteria")
    if kind == "noul":
        _refuse_unless(criteria is None or criteria.keys() <= {"true", "false"}, f"{name}: criteria")
        return Question(name, kind, [YES, NO])
    _refuse_unless(kind in ("choice", "score"), f"{name}: type")
    if criteria is None or not isinstance(criteria, dict if kind == "choice" else list):
        raise Malformed(f"{name}: criteria")
    options = list(criteria) if kind == "choice" else [str(place) for place, _ in enumerate(criteria)]
    _refuse_unless(2 <= len(options) <= (255 if kind == "choice" else 10), f"{name}: options")
    return Question(name, kind, options)


def _with_questions(reading: Reading, body: Mapping[str, Any]) -> Reading:
    reading.blocks.append((dumped(body["questions"]), None))
    return reading


class Decisions(OpenAI):
    """OpenAI's Decisions."""

    read = staticmethod(read_decisions)

    @staticmethod
    def reply(
        reading: Reading, text: str, calls: Calls, stop: str, usage: dict[str, Any], number: int
    ) -> dict[str, Any]:
        """The answers in the order of the questions."""
        kinds = {question.name: question.kind for question in reading.questions}
        used = usage["prompt_tokens"]
        return {
            "answers": [
                {"name": name} | _answer(kinds.get(name, "predicate"), shares)
                for name, shares in orjson.loads(text).items()
            ],
            "model": reading.model,
            "usage": {
                "input_tokens": used,
                "input_tokens_details": usage["prompt_tokens_details"] | {"cache_write_tokens": 0},
                "output_tokens": 0,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": used,
            },
        }


def _answer(kind: str, shares: Mapping[str, float] | None) -> dict[str, Any]:
    if shares is None:
        return {"type": "refusal"}
    if kind == "predicate":
        return {"type": kind, "probability": shares[YES]}
    best = max(shares, key=lambda option: shares[option])
    given: dict[str, Any] = {"type": kind, "confidence": shares[best]}
    if kind == "choice":
        options = [{"value": option, "probability": share} for option, share in shares.items()]
        return given | {"choice": best, "probabilities": options}
    levels = [
        {"label": option, "value": place, "probability": share} for place, (option, share) in enumerate(shares.items())
    ]
    return given | {"score": sum(each["value"] * each["probability"] for each in levels), "probabilities": levels}


class SystemOne(OpenAI):
    """System One, which has no refusals and no cache."""

    read = staticmethod(read_system_one)

    @staticmethod
    def error(failure: Failure, fault: Mapping[str, Any], number: int) -> dict[str, Any]:
        return {"detail": fault.get("message", failure.message)}

    @staticmethod
    def reply(
        reading: Reading, text: str, calls: Calls, stop: str, usage: dict[str, Any], number: int
    ) -> dict[str, Any]:
        kinds = {question.name: question.kind for question in reading.questions}
        answers = orjson.loads(text).items()
        return {
            "model": reading.model,
            "answers": {name: _by_name(kinds.get(name, "noul"), shares) for name, shares in answers},
            "usage": {"input_tokens": usage["prompt_tokens"], "output_tokens": len(kinds)},
        }


def _by_name(kind: str, shares: Mapping[str, float]) -> dict[str, Any]:
    if kind == "noul":
        return {"type": kind, "noul": shares[YES]}
    best = max(shares, key=lambda option: shares[option])
    given: dict[str, Any] = {"type": kind, "probabilities": shares, "confidence": shares[best]}
    if kind == "choice":
        return given | {"choice": best}
    expected = sum(int(level) * share for level, share in shares.items())
    return given | {"score": expected, "legend": {level: f"level {level}" for level in shares}}
