"""Claims of final answers, checked by a judge of a panel in real runs."""

import json
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from evaluation_assets.core.intake.facts import FindingsFacts
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets_tests.conftest import KEY, call, record
from evaluation_assets_tests.model_judging import Judged, installed, judge
from evaluation_assets_tests.model_server import ModelServer

CLAIMS = [
    {"claim": "Berth 7 is free", "verdict": "supported", "quote": "berth 7: free"},
    {"claim": "40 euros", "verdict": "contradicted", "quote": "45 euros"},
    {"claim": "from Monday", "verdict": "not_found", "quote": None},
    {"claim": "Berth 7 is free", "verdict": "supported", "quote": "said by nobody"},
]


def run_of(name: str, answer: str = "<answer>Berth 7 is free from Monday, for 40 euros.</answer>") -> bytes:
    return record(name, call("berths", "berth 7: free, 45 euros") + answer)


def telling(server: ModelServer, claims: object) -> None:
    """Have the server answer what asks for claims with these."""
    criteria = [criterion.key for criterion in load_rubrics().choose("trajectory").criteria]
    scores = [{"criterion": key, "score": 5} for key in criteria]
    reply = {"reasoning": "r", "scores": scores, "summary": "s", "claims": claims}
    asks = "a list of what the final answer states as fact"
    server.script({"match": {"contains": asks}, "fault": {"kind": "text", "text": json.dumps(reply)}})


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)


def claims_of(judged: Judged) -> dict[str, list[dict[str, Any]] | None]:
    """The claims of each verdict of level trajectory, by run and subject."""
    rows = judged.verdicts("trajectory")
    return {f"{row['trajectory_id']} {row['subject']}": row["claims"] for row in rows}


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_a_judge_lists_the_claims_of_answers(
    protocol: str, tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    telling(server, CLAIMS)
    judged = installed(
        tmp_path, instance, judge(server, protocol=protocol, claims=True, levels=["trajectory", "answer"])
    )
    judged.drop("d", run_of("a") + run_of("b", "no answer"))
    assert judged.run("d").success
    assert claims_of(judged) == {"a trajectory": CLAIMS[:3], "a answer": None, "b trajectory": None}
    (told,) = [row for row in judged.verdicts("trajectory") if row["claims"]]
    assert "Ignored: 1 claim whose quotations do not stand in the run." in told["reasoning"]
    report = json.loads((judged.home.reports("d") / "report.json").read_text())
    counts = {each["checked_by"]: each["counts"] for each in report["claims"]}
    assert counts["one"] == {"supported": 1, "not_found": 1, "contradicted": 1}
    page = (judged.home.reports("d") / "report.md").read_text()
    assert "Claims checked by one in 1 run" in page
    assert "**No overall score** (scale 0 to 1): 2 runs without one; no outcome is known" in page

    asked = len(server.requests())
    assert judged.run("d").success
    assert len(server.requests()) == asked, "all replies are in the ledger"
    assert claims_of(judged)["a trajectory"] == CLAIMS[:3]


def test_what_a_judge_finds_contradicted_is_a_finding(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    telling(server, [{"claim": "It is free", "verdict": "contradicted", "quote": "berth 7: taken"}])
    settings = judge(server, claims=True, levels=["trajectory"])
    judged = installed(tmp_path, instance, settings)
    judged.drop("d", record("a", call("berths", "berth 7: taken") + "<answer>It is free.</answer>"))
    assert judged.run("d").success
    (found,) = [row for row in judged.rows("d", "findings") if row["detector"] == "judge one"]
    assert (found["trajectory_id"], found["kind"], found["clip_index"]) == ("a", "contradicted_answer", 1)
    assert found["evidence"] == "It is free [the run has: berth 7: taken]"
    assert "It is free" in (judged.home.reports("d") / "report.md").read_text()
    assert FindingsFacts.of(judged.table("d", "findings")).detectors.endswith("|claims of one")

    silent = installed(tmp_path, instance, settings | {"claims": False})
    assert silent.run("d").success
    assert not [row for row in silent.rows("d", "findings") if row["detector"] == "judge one"]


def test_without_the_setting_nothing_is_asked(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    judged = installed(tmp_path, instance, judge(server, levels=["trajectory"]))
    judged.drop("d", run_of("a"))
    assert judged.run("d").success
    assert claims_of(judged) == {"a trajectory": None}
    assert not [request for request in server.requests() if "final answer states" in json.dumps(request.body)]


def test_a_quick_judge_lists_them_in_its_call(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    judged = installed(tmp_path, instance, judge(server, claims=True, preset="quick"))
    judged.drop("d", run_of("a"))
    assert judged.run("d").success
    (request,) = server.requests()
    assert "final answer states" in json.dumps(request.body)
    told = claims_of(judged)
    assert told["a trajectory"] is not None and told["a answer"] is None, "made up quotations count for nothing"


@pytest.mark.parametrize(
    ("claims", "read"),
    [("none", None), ([7], []), ([{"claim": "\ud800", "verdict": "not_found", "quote": None}], [])],
)
def test_a_slip_in_the_list_costs_no_verdict(
    claims: object, read: object, tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    telling(server, claims)
    judged = installed(tmp_path, instance, judge(server, claims=True, levels=["trajectory"]))
    judged.drop("d", run_of("a"))
    assert judged.run("d").success
    (row,) = judged.verdicts("trajectory")
    assert (row["outcome"], row["claims"]) == ("scored", read)
