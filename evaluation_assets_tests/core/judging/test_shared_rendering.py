"""Judges that are shown the same share what is rendered; others do not."""

import asyncio
from pathlib import Path

from evaluation_assets.core.judging.judge import judge_chains
from evaluation_assets.core.judging.model_judge import OpenJudge
from evaluation_assets.core.judging.panel import judges_of, panel_of
from evaluation_assets.core.judging.pieces import Piece
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.models.budget import Budget
from evaluation_assets_tests.judging_alone import chains
from evaluation_assets_tests.model_server import model_server

PANEL = {
    "one": {},
    "two": {},
    "short": {"max_input_tokens": 9_000},
    "open": {"redaction": False},
}


def test_a_subject_is_rendered_once_for_judges_that_are_shown_the_same(tmp_path: Path) -> None:
    given = list(chains(2))

    async def pieces(url: str) -> dict[str, dict[Subject, Piece]]:
        endpoint = {"provider": "openai_compatible", "base_url": url}
        described = {"judges": [{"name": name, "model": name, **endpoint, **more} for name, more in PANEL.items()]}
        judges = judges_of(panel_of(described, "test"), f"sqlite:///{tmp_path}/ledger.sqlite")
        found: dict[str, dict[Subject, Piece]] = {}
        opened: list[OpenJudge] = []  # judges of a panel are open together
        for judge in judges:
            async with judge.opened("run", Budget()) as ready:
                assert isinstance(ready, OpenJudge)
                opened.append(ready)
                async for judgements in judge_chains(ready, given):
                    assert {judgement.verdict.outcome for judgement in judgements} == {"scored"}
                found[judge.name] = {subject: ready._rendering.pieces[subject] for c in given for subject in c.subjects}
        return found

    with model_server() as server:
        found = asyncio.run(pieces(server.openai_url))
    for subject, piece in found["one"].items():
        assert found["two"][subject] is piece
        assert found["short"][subject] is not piece
        assert found["open"][subject] is not piece
