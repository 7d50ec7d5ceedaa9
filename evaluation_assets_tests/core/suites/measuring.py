"""Cases, calls and their results, in few words."""

from typing import Any

from evaluation_assets.core.suites.calls import Call, Run
from evaluation_assets.core.suites.case_results import CaseResult, evaluate
from evaluation_assets.core.suites.suite import Case, Suite


def call(name: str, /, **arguments: Any) -> Call:
    return Call(name, arguments)


def expected(tool: str, /, **parameters: Any) -> dict[str, Any]:
    return {"tool": tool, "parameters": parameters}


def case(*calls: dict[str, Any], **fields: Any) -> Case:
    return Case.model_validate({"id": "c", "message": "do it", "expected_calls": calls} | fields)


def measure(of: Case, *calls: Call, answer: str | None = "done", weighting: Any = "calls", **run: Any) -> CaseResult:
    suite = Suite(name="s", weighting=weighting, cases=(of,))
    return evaluate(of, Run(calls=calls, answer=answer, **run), suite)


def kinds(result: CaseResult) -> list[str]:
    return [issue.kind for issue in result.issues]
