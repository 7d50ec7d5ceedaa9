"""Which command lines run tests, and how the tests ended."""

import pytest

from evaluation_assets.core.sections.coding_work.test_runs import result_of, runs_tests


@pytest.mark.parametrize(
    "line",
    [
        "pytest",
        "pytest -q tests/test_a.py::test_b",
        "python -m pytest -x",
        ".venv/bin/python -m pytest -q",
        "uv run pytest",
        "uv run --with x -- pytest",
        "poetry run python -m unittest discover",
        "cd app && FOO=1 timeout 60 pytest -q 2>&1 | tail -5",
        "python manage.py test shop",
        "tox -e py311",
        "npm test",
        "npm run test:unit -- --watch=false",
        "pnpm --filter web test",
        "yarn test",
        "bun test",
        "npx jest src/a.test.ts",
        "npx vitest run",
        "npx playwright test",
        "node --test",
        "go test ./...",
        "cargo test --all",
        "cargo nextest run",
        "make test",
        "make -j4 check",
        "./mvnw -q test",
        "./gradlew :app:testDebugUnitTest",
        "bundle exec rspec",
        "bin/rails test",
        "dotnet test",
        "mix test",
        "vendor/bin/phpunit",
        "docker compose exec -T web pytest",
        "ctest --output-on-failure",
        "bash -c 'true'; pytest",
        "./tests/runtests.py admin_views",
        "bash run_tests.sh 2>&1",
        "./run_all_tests.sh",
        "python bin/test sympy/core",
    ],
)
def test_lines_that_run_tests(line: str) -> None:
    assert runs_tests(line)


@pytest.mark.parametrize(
    "line",
    [
        "cat tests/test_a.py",
        "grep -rn pytest .",
        "pip install pytest",
        "npm install --save-dev jest",
        "git commit -m 'pytest passes'",
        "echo pytest",
        "ls test",
        "pytest --collect-only",
        "pytest --version",
        "vim test.py",
        "mkdir tests && cd tests",
        "go build ./...",
        "make testdata.json",
        "cargo test --no-run",
        "python test.py",
        "bun run typecheck",
        "npm run tslint",
        "cat run_tests.sh",
    ],
)
def test_lines_that_do_not(line: str) -> None:
    assert not runs_tests(line)


@pytest.mark.parametrize(
    ("output", "result"),
    [
        ("==== 3 passed in 0.12s ====", "passing"),
        ("3 passed, 2 warnings in 0.12s", "passing"),
        ("FAILED tests/test_a.py::test_b - assert 1 == 2\n==== 1 failed, 2 passed in 0.1s ====", "failing"),
        ("==== 1 error in 0.1s ====", "failing"),
        ("==== no tests ran in 0.01s ====", "unknown"),
        ("Ran 4 tests in 0.1s\n\nOK", "passing"),
        ("Ran 4 tests in 0.1s\n\nFAILED (failures=1)", "failing"),
        ("Test Suites: 1 failed, 1 total\nTests:       1 failed, 5 passed, 6 total", "failing"),
        ("Tests:       6 passed, 6 total", "passing"),
        ("\x1b[32m Tests \x1b[39m 6 passed (6)", "passing"),
        ("  5 passing (20ms)\n  1 failing", "failing"),
        ("# pass 3\n# fail 0", "passing"),
        ("ok  \texample.com/a\t0.01s\nFAIL\texample.com/b\t0.01s", "failing"),
        ("ok  \texample.com/a\t0.01s", "passing"),
        ("test result: ok. 5 passed; 0 failed; 0 ignored", "passing"),
        ("test result: FAILED. 4 passed; 1 failed; 0 ignored", "failing"),
        ("5 examples, 0 failures", "passing"),
        ("5 examples, 2 failures", "failing"),
        ("Tests run: 5, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS", "passing"),
        ("Tests run: 5, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE", "failing"),
        ("BUILD SUCCESSFUL in 3s", "passing"),
        ("Passed!  - Failed:     0, Passed:     5, Skipped:     0", "passing"),
        ("Failed!  - Failed:     1, Passed:     4, Skipped:     0", "failing"),
        ("OK (5 tests, 9 assertions)", "passing"),
        ("100% tests passed, 0 tests failed out of 5", "passing"),
        (" 573 pass\n 0 fail\nRan 573 tests across 25 files.", "passing"),
        (" 570 pass\n 3 fail\nRan 573 tests across 25 files.", "failing"),
        ("  √ 5 failures, 1 success (1 ms)\nTests:       6 passed, 6 total", "passing"),
        ("tests/a.py::test[5 errors] PASSED [ 50%]\n==== 2 passed in 0.1s ====", "passing"),
        ("    7. Locks after 5 failures\n      √ tells (1 ms)\nTests:       6 passed, 6 total", "passing"),
        ("  5 failed attempts lock an account\nTests:       6 passed, 6 total", "passing"),
        ("  Results: 0 passed  3 failed  1 skipped", "failing"),
        ("      Tests  3 failed | 74 passed (77)", "failing"),
        ("  1 failed\n    [chromium] › e2e/a.spec.ts:3:1 › loads\n  18 passed (1.1m)", "failing"),
        ("======= 1 warning, 12 errors in 1.57s =======", "failing"),
        ("!!!! Interrupted: 1 error during collection !!!!", "failing"),
        ("error: could not compile `server` (test)", "failing"),
        ("Found 3 errors in 2 files (checked 9 source files)", "unknown"),
        ("Compiling...", "unknown"),
        ("", "unknown"),
    ],
)
def test_without_an_exit_code_the_summary_decides(output: str, result: str) -> None:
    assert result_of("make test", output, None) == result


@pytest.mark.parametrize(
    ("line", "code", "output", "result"),
    [
        ("pytest -q", 0, "...", "passing"),
        ("pytest -q", 1, "3 passed\nCoverage below 90%", "failing"),
        ("cd app && pytest -q", 2, "ImportError", "failing"),
        ("npm ci && npm test", 1, "npm ERR! network", "unknown"),
        ("npm ci && npm test", 1, "Tests: 1 failed, 2 passed", "failing"),
        ("pytest -q | tail -3", 0, "1 failed, 2 passed", "failing"),
        ("pytest -q | tail -3", 0, "collected", "unknown"),
        ("pytest -q || true", 0, "1 failed", "failing"),
        ("pytest -q; echo done", 0, "done", "unknown"),
        ("pytest -q && git commit -m x", 0, "", "passing"),
        ("pytest -q && git push", 1, "3 passed in 1s\nrejected", "passing"),
        ("npm test; pytest -q", 0, "Tests: 1 failed, 2 passed\n3 passed in 1s", "failing"),
        ("npm test; pytest -q", 0, "Tests: 2 passed, 2 total\n3 passed in 1s", "passing"),
        ("pytest -q", 127, "pytest: command not found", "unknown"),
        ("python -m pytest", 1, "/usr/bin/python: No module named pytest", "unknown"),
        ("make check", 2, "ruff: would reformat a.py", "unknown"),
        ("make check", 2, "1 failed, 2 passed", "failing"),
        ("pytest -q", 0, "no tests ran in 0.01s", "unknown"),
    ],
)
def test_the_exit_code_decides_where_it_is_that_of_the_tests(line: str, code: int, output: str, result: str) -> None:
    assert result_of(line, output, code) == result
