"""Whether enough runs of a drop's suite passed."""

from evaluation_assets.core.intake.facts import SuiteFacts
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.pipeline.checks.finding import Finding
from evaluation_assets.core.text.counted import counted, first_of, runs_of_tasks


def suite_pass_rate(results: Stored) -> Finding:
    """The share of runs that passed against the suite's `min_pass_rate`; rates are compared unrounded."""
    facts = SuiteFacts.of(results)
    if facts.problem is not None:
        return Finding(False, f"The suite cannot be used: {facts.problem}")
    if facts.suite is None or facts.min_pass_rate is None:
        return Finding(True, "The drop has no suite.")
    failing: dict[str, list[str]] = {}
    runs = passed = failed = 0
    cases: set[str] = set()
    measured: set[str] = set()
    for row in results.rows(["case_id", "trajectory_id", "passed", "issues"]):
        cases.add(row["case_id"])
        if row["passed"] is None:
            failed += row["trajectory_id"] is not None
            continue
        measured.add(row["case_id"])
        runs += 1
        passed += row["passed"]
        if not row["passed"]:
            failing.setdefault(row["case_id"], []).extend(issue["kind"] for issue in row["issues"])
    least, of_runs = facts.min_pass_rate, runs_of_tasks(runs, len(measured))
    rate = passed / runs if runs else None
    problems = []
    if not cases:
        problems.append("The suite has no complete case; `evaluation-assets suite check` says what is missing.")
    elif rate is None or rate < least:
        names = f" Failing: {first_of(sorted(failing), 3)}." if failing else ""
        problems.append(f"{passed:,} of {of_runs} passed (minimum {least:.1%}).{names}")
    if failed:
        problems.append(f"{counted(failed, 'run')} ended with an error, not counted.")
    if not_run := sorted(cases - measured):
        names = first_of(not_run, 20)
        problems.append(f"{counted(len(not_run), 'case')} not run, or ended with an error: {names}.")
    return Finding(
        rate is not None and rate >= least and not not_run,
        " ".join(problems) or f"{passed:,} of {of_runs} passed (minimum {least:.1%}).",
        {
            "suite": facts.suite,
            "runs": runs,
            "failed_runs": failed,
            "passed_runs": passed,
            "cases_without_run": len(not_run),
            "min_pass_rate": least,
            "failing": {case: sorted(set(kinds)) for case, kinds in sorted(failing.items())[:50]},
            **({} if rate is None else {"pass_rate": rate}),
        },
    )
