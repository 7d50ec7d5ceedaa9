"""Public suites read by their importers, with gold calls, recorded predictions and the official verdicts on them."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache

import jsonschema
import pytest
from upath import UPath

from evaluation_assets.core.suites import call_metrics
from evaluation_assets.core.suites.agents.mock_tools import mock_tools
from evaluation_assets.core.suites.agents.tools import Toolbox
from evaluation_assets.core.suites.call_schemas import defects
from evaluation_assets.core.suites.calls import Call, Run, run_of
from evaluation_assets.core.suites.case_results import CaseResult, evaluate
from evaluation_assets.core.suites.formats.registry import LoadedSuite, load_suite
from evaluation_assets.core.suites.matching import align
from evaluation_assets.core.suites.suite import Case
from evaluation_assets.core.traces.formats.base import DropFile
from evaluation_assets.core.traces.formats.registry import read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.third_party import data

RUNS = {
    "simple_python": "simple",
    "multiple": "multiple_function",
    "parallel": "parallel_function",
    "parallel_multiple": "parallel_multiple_function",
    "irrelevance": "relevance",
}
MODEL = "gpt-4o-mini-2024-07-18-FC"


@cache
def suite(path: str) -> LoadedSuite:
    return load_suite(UPath(data(path)))


def bfcl(category: str) -> LoadedSuite:
    return suite(f"bfcl/v4/BFCL_v4_{category}.json")


def gold(case: Case) -> list[Call]:
    """The expected calls as a prediction: of accepted values the first, without what may be absent."""
    calls: list[Call] = []
    for want in case.expected_calls:
        arguments = {}
        for name, rule in want.parameters.items():
            values = [value for value in rule.accepted or () if not (rule.optional and value == "")]
            if values:
                arguments[name] = values[0]
        calls.append(Call(want.tool, arguments))
    return calls


def gold_results(loaded: LoadedSuite, *, turned: bool = False) -> Iterator[CaseResult]:
    for case in loaded.suite.cases:
        calls = gold(case)
        yield evaluate(case, Run(calls=tuple(reversed(calls) if turned else calls)), loaded.suite)


@pytest.mark.parametrize(
    ("category", "count"), [("simple_python", 400), ("multiple", 200), ("parallel", 200), ("parallel_multiple", 200)]
)
@pytest.mark.parametrize("turned", [False, True])
def test_gold_as_prediction_is_exactly_1_everywhere(category: str, count: int, turned: bool) -> None:
    loaded = bfcl(category)
    assert (len(loaded.suite.cases), loaded.incomplete) == (count, ())
    for result in gold_results(loaded, turned=turned):
        assert result.passed, (result.case_id, result.issues)
        assert (result.score, result.precision, result.recall, result.f1) == (1, 1, 1, 1)
        assert result.parameter_accuracy in (1, None)
        assert result.exact_calls == result.expected_calls


def test_verdicts_agree_with_the_official_ones() -> None:
    agreed = total = 0
    for category, name in RUNS.items():
        loaded = bfcl(category)
        cases = {case.id: case for case in loaded.suite.cases}
        ids = [json.loads(line)["id"] for line in data(f"bfcl/v4/BFCL_v4_{category}.json").read_text().splitlines()]
        results = data(f"bfcl/runs/2024-08-11/result/{MODEL}/gorilla_openfunctions_v1_test_{name}_result.json")
        scores = data(f"bfcl/runs/2024-08-11/score/{MODEL}/{name}_score.json")
        wrong = {json.loads(line)["id"] for line in scores.read_text().splitlines()[1:]}
        own = 0
        for number, line in enumerate(results.read_text().splitlines(), 1):
            made = json.loads(line)["result"]
            calls = tuple(
                Call(tool, json.loads(arguments))
                for one in (made if isinstance(made, list) else [])
                for tool, arguments in one.items()
            )
            passed = evaluate(cases[ids[number - 1]], Run(calls=calls), loaded.suite).passed
            own += passed == (number not in wrong)
            total += 1
        agreed += own
        if category == "irrelevance":
            assert own == 240
    assert total == 1240
    assert agreed / total >= 0.98


def test_any_call_is_wrong_where_no_function_is_relevant() -> None:
    loaded = bfcl("irrelevance")
    for case in loaded.suite.cases:
        assert evaluate(case, Run(calls=()), loaded.suite).score == 1
        name = next(tool.name for tool in loaded.suite.tools_of(case) or ())
        called = evaluate(case, Run(calls=(Call(name, {}),)), loaded.suite)
        assert (called.passed, called.score) == (False, 0)


def test_the_definitions_of_tools_find_only_real_defects_in_gold_calls() -> None:
    found: Counter[tuple[str, str, str | None]] = Counter()
    for category in ("simple_python", "multiple", "parallel", "parallel_multiple"):
        loaded = bfcl(category)
        for case in loaded.suite.cases:
            tools = [definition.tool for definition in loaded.suite.tools_of(case) or ()]
            for call in gold(case):
                for defect in defects(call, tools):
                    found[case.id, defect.kind, (defect.parameter or "").partition(".")[0]] += 1
    # Each was looked at: a flag where the venue is a text, null for a number, variable names for lists of numbers,
    # fruits for a list of integers, and parameters the functions do not have.
    assert found == {
        ("simple_python_307", "wrong_type", "venue"): 1,
        ("parallel_152", "wrong_type", "mod"): 2,
        ("parallel_multiple_12", "undeclared_parameter", "permeability"): 1,
        ("parallel_multiple_21", "wrong_type", "x"): 1,
        ("parallel_multiple_21", "wrong_type", "y"): 1,
        ("parallel_multiple_26", "undeclared_parameter", "type"): 1,
        ("parallel_multiple_94", "wrong_type", "elements"): 5,
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "tools"),
    [
        ("bfcl/v4/BFCL_v4_multiple.json", 557),
        ("bfcl/v4/BFCL_v4_irrelevance.json", 240),
        ("nestful/executable/executable-data.json", 3315),
    ],
)
def test_an_agent_can_be_given_the_tools_of_a_suite(path: str, tools: int) -> None:
    loaded = suite(path)
    offered = [tool for case in loaded.suite.cases for tool in Toolbox(mock_tools(loaded.suite, case)).offered]
    assert len(offered) == tools
    for tool in offered:
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", tool.name)
        assert tool.parameters is not None and tool.parameters["type"] == "object"
        jsonschema.Draft202012Validator.check_schema(tool.parameters)


def test_tasks_of_several_turns_are_listed_not_dropped() -> None:
    loaded = bfcl("multi_turn_base")
    assert (len(loaded.suite.cases), len(loaded.incomplete)) == (0, 200)


def test_tooltalk_gold_passes_in_every_conversation() -> None:
    results = list(gold_results(suite("tooltalk/easy")))
    assert (sum(bool(result.passed) for result in results), len(results)) == (28, 28)
    assert sum(result.expected_calls for result in results) == 28


def test_nestful_gold_passes_and_one_sequence_has_a_broken_reference() -> None:
    loaded = suite("nestful/executable/executable-data.json")
    assert all(result.passed for result in gold_results(loaded))
    records = json.loads(data("nestful/executable/executable-data.json").read_text())
    sequences = [[Call(c["name"], c["arguments"], c.get("label")) for c in record["output"]] for record in records]
    assert sum(len(sequence) for sequence in sequences) == 318
    assert [call_metrics.dangling_references(sequence) for sequence in sequences] == [[]] * len(sequences)
    backwards = [call_metrics.dangling_references(sequence[::-1]) for sequence in sequences]
    assert all(backwards)


def test_tau_bench_calls_and_trials_come_out_as_published() -> None:
    path = "tau-bench/gpt-4o-airline.even-tasks.json"
    loaded = suite(path)
    assert loaded.incomplete == ()
    assert {case.id for case in loaded.suite.cases if not case.expected_calls} == {"12", "18", "24"}
    cases = {case.id: case for case in loaded.suite.cases}
    right = expected = made = 0
    trials: dict[str, list[bool]] = {}
    for record in json.loads(data(path).read_text()):
        requests = [tool["function"] for message in record["traj"] for tool in message.get("tool_calls") or ()]
        calls = [Call(request["name"], json.loads(request["arguments"])) for request in requests]
        case = cases.get(str(record["task_id"]))
        wants = case.expected_calls if case else ()
        right, expected, made = right + align(wants, calls).right, expected + len(wants), made + len(calls)
        trials.setdefault(str(record["task_id"]), []).append(record["reward"] == 1)
    assert (right, expected, made) == (229, 336, 577)
    assert [round(rate.pass_hat, 4) for rate in call_metrics.trial_rates(trials)] == [0.49, 0.3867, 0.34, 0.32]


def test_tau2_bench_runs_pass_where_the_benchmark_says_so() -> None:
    for path in sorted((data("tau2-bench") / "ab").glob("*.json")):
        loaded = load_suite(UPath(path))
        assert (loaded.format, len(loaded.suite.cases), loaded.incomplete) == ("tau2-bench", 20, ())
        assert all(case.user is not None and case.user.facts for case in loaded.suite.cases)
        cases = {case.id: case for case in loaded.suite.cases}
        runs = list(read_trajectories([DropFile(UPath(path), path.name)], UnmappedFields()))
        found = [run for run in runs if isinstance(run, Trajectory)]
        passed = [evaluate(cases[run.task_id], run_of(run), loaded.suite).passed for run in found]
        assert passed == [run.success for run in found] and len(found) == 20


@pytest.mark.parametrize(
    ("path", "count"), [("anthropic-cookbook/evaluation.xml", 8), ("mcp-builder/example_evaluation.xml", 5)]
)
def test_xml_task_files(path: str, count: int) -> None:
    loaded = suite(f"xml-eval/{path}")
    assert (len(loaded.suite.cases), loaded.incomplete) == (count, ())
    assert all(case.answer is not None for case in loaded.suite.cases)
