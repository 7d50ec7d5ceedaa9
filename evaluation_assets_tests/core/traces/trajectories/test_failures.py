"""Failed calls, by what their results say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.traces.trajectories.failures import failure_in


def failure(text: str) -> str | None:
    return failure_in(text, (0, len(text)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Error: no such file\nmore", "Error: no such file"),
        ("ERROR", "ERROR"),
        ("  [failed] to connect", "[failed] to connect"),
        ("Timed out after 30 s", "Timed out after 30 s"),
        ("执行失败: 参数", "执行失败: 参数"),
        ("ValueError: bad", "ValueError: bad"),
        ("SMTP error 550: mailbox unavailable", "SMTP error 550: mailbox unavailable"),
        ("TaskNotFound: 88", "TaskNotFound: 88"),
        ("Fehler: bereits versandt", "Fehler: bereits versandt"),
        ("Erreur : plus de places", "Erreur : plus de places"),
        ("Erro: sem estoque", "Erro: sem estoque"),
        ("Erreur 500", "Erreur 500"),
        ("Zugriff verweigert", "Zugriff verweigert"),
        ("device unreachable", "device unreachable"),
        ('{"ok": false, "fehler": "Frist abgelaufen"}', "Frist abgelaufen"),
        (
            "An error occurred while running the tool. Please try again.",
            "An error occurred while running the tool. Please try again.",
        ),
        (
            "An error occurred while parsing tool arguments. Error: x",
            "An error occurred while parsing tool arguments. Error: x",
        ),
        ('{"ok": 1, "success": false}', '"success": false}'),
        ('{"content": [{"type": "text", "text": "Error: no stock"}]}', "Error: no stock"),
        ('[{"type": "text", "text": "{\\"error\\": \\"no stock\\"}"}]', "no stock"),
        ('{"result": {"error": "no stock"}}', "no stock"),
        ('{"output": "{\\"success\\": false, \\"message\\": \\"no stock\\"}"}', "no stock"),
        ("Result:\nError: no stock", "Error: no stock"),
        ('Wall time: 0.1 seconds\nOutput:\n{"error": "no stock"}', "no stock"),  # of Codex
        ('Tool output: {"error": "no stock"}', "no stock"),
        ('{"status": "error", "n": 1}', '"status": "error", "n": 1}'),
        ('{"status": 503}', '"status": 503}'),
        ('{"statusCode": 500, "body": "no stock"}', '{"statusCode": 500, "body": "no stock"}'),
        ('{\n  "status": "error",\n  "error_message": "no stock"\n}', "no stock"),
        ('{"success": false, "message": "no stock"}', "no stock"),
        ('{\n  "error": "no stock"\n}', "no stock"),
        ('{"error": 5}', '{"error": 5}'),
        ('{"status": "failed", "error": {"message": "no stock"}}', "no stock"),
        ('{"is_error": true}', '"is_error": true}'),
        ('{"success": true, "result": {"status": "error"}}', '"status": "error"}}'),
        ('{"payment": {"status": "failed"}, "status": "failed"}', '"status": "failed"}, "status": "failed"}'),
        ('{"job": {"status": "failed"}, "success": false}', '"success": false}'),
        ("output\nexit code: 2\nend", "exit code: 2"),
        ("done\nreturn code 1", "return code 1"),
        ('{"ok": false, "error": "channel_not_found"}', "channel_not_found"),
        ('{"ok": false, "description": "chat not found"}', "chat not found"),
        ('{"data": null, "error": "not found"}', "not found"),
        ('{"id": 1, "error": {"code": -32602, "message": "Invalid params"}}', "Invalid params"),
        ('{"data": null, "errors": [{"message": "no such field"}]}', "no such field"),
        ('{"message": "no stock", "error": true}', "no stock"),
        ("Traceback (most recent call last):\n  File x\nKeyError: 'a'\n", "KeyError: 'a'"),
        ("Traceback (most recent call last):\n  cut", "Traceback"),
        ("No replacement was performed, old_str `x` did not appear verbatim in /a.py.", "verbatim in /a.py."),
        ("Invalid `view_range` parameter: [9, 1].", "[9, 1]."),
        ("The path /a.py does not exist. Please provide a valid path.", "valid path."),
        ("File already exists at: /a.py. Cannot overwrite files using command `create`.", "`create`."),
        ("Your proposed edit has introduced new syntax error(s).", "syntax error(s)."),
    ],
)
def test_failures_are_told_in_the_words_of_the_result(text: str, said: str) -> None:
    found = failure(text)
    assert (found is not None and found.endswith(said)) or found == said


@pytest.mark.parametrize(
    "text",
    [
        "Found error 404: 31 times",
        "web-01: ok, web-02: unreachable, db-01: ok",
        "",
        "3 errors were found in the log",
        '{"error": null, "result": 4}',
        '{"error": "", "result": 4}',
        "exit code: 0",
        '{"success": true}',
        '{"success": true, "error": "none of them"}',
        '{"result": 4, "error": "None"}',
        '{"rows": [1], "errors": []}',
        '{"error": 0, "rows": [1]}',
        '{"error": "none", "rows": [1]}',
        '{"data": {"rows": [1]}, "errors": [{"message": "one page is missing"}]}',
        '{"log": {"error": "of another program"}}',
        '{"found": 3, "error": 0.02}',
        '{"status": "ok"}',
        '{"status": 200}',
        '{"order": 17, "status": "shipped", "payments": [{"status": "failed"}, {"status": "paid"}]}',
        '{"success": true, "job": {"status": "failed"}}',
        '{"status": 200, "data": {"job": {"status": "failed"}}}',
        "x" * 400 + " Error: quoted from a page",
        "The function raises ValueError: see docs",
        "The path /a.py does not exist yet; it will be written.",
    ],
)
def test_results_that_talk_about_failures_are_none(text: str) -> None:
    assert failure(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "I encountered an error while trying to use the tool. This was the error: no stock.",  # CrewAI
        "You tried to use the tool find, but it doesn't exist. You must use one of the following tools: look.",
        "Encountered error: no stock",  # LlamaIndex
        "MCP error -32602: Invalid params",
        "Unknown tool: find",
        "<tool_use_error>File has not been read yet.</tool_use_error>",  # Claude Code
        "An unexpected error occurred: no stock",
        "Error handling request: no stock",
    ],
)
def test_what_frameworks_tell_a_model_of_a_failed_tool_is_a_failure(text: str) -> None:
    assert failure(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "Sorry, something went wrong on our side.",
        "I apologise, the lookup did not come back.",
        "Unable to process your request at this time.",
        "The request could not be completed.",
        "HTTP 500 Internal Server Error",
        "429 Too Many Requests",
        "<html><head><title>502 Bad Gateway</title></head></html>",
        "requests.exceptions.ConnectionError: no route to host",
        "The booking system is temporarily unavailable.",
        "Your session has expired, log in again.",
        "Operation aborted.",
        "Cannot cancel the order: it has been sent.",
        "Search service unavailable",
        "Connection refused while calling the warehouse.",
    ],
)
def test_a_short_result_that_is_nothing_but_an_excuse_is_a_failure(text: str) -> None:
    assert failure(text) == text


def test_the_message_of_an_object_that_is_nothing_but_an_excuse_is_the_failure() -> None:
    assert failure('{"code": 503, "message": "the backend is busy"}') == "the backend is busy"
    assert failure('{"detail": "Not authenticated"}') == "Not authenticated"


@pytest.mark.parametrize(
    "text",
    [
        "404.0",
        "484:class Number(AtomicExpr):",
        "The film was not released before 1994.",
        "An unauthorized biography was published in 1998.",
        "<returncode>0</returncode>\n<output>\ncurl: connection refused\n</output>",
        '[{"name": "Access denied", "year": 2003}]',
        '{"name": "web", "code": 404, "price": 12}',
        "All agents are busy. " * 20 + "Please try again later.",
        "Sorry, no rooms are free on that date.",
        "If you see 'Access denied', ask an administrator to add you to the group.",
        "The database was offline between 3 and 4 am.",
        "How to fix 'connection refused': start the service, then the client.",
        "Cannot be returned: opened items are final sale.",
        "503 requests were served",
        "The job was halted by the user, as wanted.",
        "Try again later this week for better prices.",
        "Your session expired 3 days ago; a new one was made.",
        "Three users report an internal server error that nobody could repeat.",
        "- rate limit exceeded: 12\n- fine: 300",
    ],
)
def test_a_result_that_says_more_than_an_excuse_is_none(text: str) -> None:
    assert failure(text) is None


@pytest.mark.parametrize(
    "text",
    ["Failed: 0, passed: 5", "Error handling in Go", "Error rate: 2%", "Failure modes of pumps", "Timeout set to 30 s"],
)
def test_results_that_begin_with_such_a_word_may_be_none(text: str) -> None:
    assert failure(text) is None


def test_only_the_span_of_the_result_is_searched() -> None:
    text = "fine. Error: later"
    assert failure_in(text, (0, 5)) is None
    assert failure_in(text, (6, len(text))) == "Error: later"


@given(st.text(max_size=600), st.text(max_size=600))
def test_a_failure_is_one_short_line(head: str, tail: str) -> None:
    found = failure(f"error {head}\n{tail}")
    assert found is None or (len(found) <= 200 and "\n" not in found)
