"""Answers that are none, and answers that talk about errors."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.suites import refusals
from evaluation_assets.core.suites.call_metrics import completed
from evaluation_assets.core.suites.courtesies import without_courtesies
from evaluation_assets.core.suites.refusals import is_refusal
from evaluation_assets_tests.third_party import data

REFUSALS = (
    "Unfortunately, I was unable to complete the task.",
    "An error occurred while processing.",
    "An unexpected error occurred while processing your request. Please try again later.",
    "Error processing request",
    "Something went wrong.",
    "**I'm sorry**, but I can't help with that.",
    "I apologize for the inconvenience. We could not process your request.",
    r"\\boxed{\\text{I am unable to answer this question.}}",
    "Unable to complete the task: all three tools failed.",
    "The task could not be completed because the server was down.",
    "I searched three sites and read the paper. Unfortunately, I was not able to find the answer.",
    "Agent stopped due to iteration limit or time limit.",
    "The request timed out.",
    "Thank you for your patience! I was unable to complete the task. Is there anything else I can help you with?",
    "I understand your frustration, and I truly wish I could assist further. However, I am unable to add insurance to "
    "this booking. Please let me know if there's anything else I can do for you.",
    "Insufficient information to determine the individual.",
    "I don't have access to real-time data. Please check a weather site.",
    "抱歉,我无法完成这个任务。",
    "无法完成该任务,因为搜索工具不可用。",
    "任务未能完成。",
    "处理请求时发生错误。",
    "申し訳ありませんが、このタスクを完了できませんでした。",
    "죄송합니다. 요청을 처리할 수 없습니다.",
    "Rất tiếc, tôi không thể hoàn thành nhiệm vụ này.",
    "Xin lỗi, tôi không thể truy cập dữ liệu.",
    "Đã xảy ra lỗi khi xử lý yêu cầu.",
    "Leider konnte ich die Aufgabe nicht abschließen.",
    "Die Aufgabe konnte nicht abgeschlossen werden.",
    "Désolé, je n'ai pas pu terminer la tâche.",
    "Une erreur s'est produite lors du traitement.",
    "Lo siento, no pude completar la tarea.",
    "Infelizmente, não consegui concluir a tarefa.",
    "Purtroppo non sono riuscito a completare il compito.",
    "К сожалению, я не смог выполнить задание.",
)

ANSWERS = (
    "42",
    "No.",
    "The log says 'error occurred' twice: the disk was full.",
    "An error occurred while processing order 17: the disk was full.",
    "The request failed because the token had expired.",
    "The cause: the disk was full. I cannot access more, but this explains it.",
    "The user was unable to log in because the password had expired.",
    "He could not complete the marathon.",
    "Error 404 means that the page was not found.",
    "Deployed. The failed test was fixed, and no error occurred.",
    "You cannot divide by zero.",
    "The first search failed, so I used the archive: the bridge was opened in 1932.",
    "The task was completed without errors.",
    "I could not find a single error in the report: all 12 totals add up.",
    "任务已完成,没有发生错误。",
    "错误代码 404 表示找不到页面。",
    "该用户无法登录,因为密码已过期。",
    "Đã hoàn thành: lỗi là do thiếu tệp cấu hình.",
    "Die Aufgabe ist erledigt; der Fehler lag in der Konfiguration.",
    "L'erreur vient du fichier de configuration.",
    "El servidor no pudo iniciarse porque el puerto estaba ocupado.",
    "Ошибка была в настройках: порт занят.",
)


@pytest.mark.parametrize("answer", REFUSALS)
def test_a_refusal_or_a_report_of_failure_is_not_completed(answer: str) -> None:
    assert not completed(answer, cut_off=False)


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_that_talks_about_errors_is_completed(answer: str) -> None:
    assert completed(answer, cut_off=False)


@given(st.text() | st.lists(st.sampled_from(["I am ", "unable to ", "sorry, ", "it seems ", "\\n", ". "])).map("".join))
def test_white_space_around_an_answer_does_not_matter(answer: str) -> None:
    assert is_refusal(f"  {answer}\n") is is_refusal(answer)


def plain_is_refusal(answer: str) -> bool:
    """The definition: all sentences of the beginning and of the end, and no look at what patterns require."""

    def pattern(kind: str) -> re.Pattern[str]:
        return re.compile("|".join(refusals._listed(kind)))

    def sentences(text: str) -> list[str]:
        found: list[str] = []
        for part in refusals._SENTENCE_END.split(refusals._plain(text)):
            sentence = bare = " ".join(part.split())
            while (courtesy := pattern("polite").match(bare)) is not None and courtesy.end() < len(bare):
                bare = bare[courtesy.end() :]
            if bare and pattern("polite").fullmatch(f"{bare} ") is None:
                found.append(sentence if pattern("says_no").search(sentence) else bare)
        return found

    answer = without_courtesies(answer)
    is_short = len(answer) <= 650
    first, *rest = sentences(answer if is_short else answer[:400]) or [""]
    last = ([first, *rest] if is_short else sentences(answer[-250:]))[-1:]
    return bool(first) and (
        pattern("says_no").search(first) is not None
        or any(pattern("says_no").search(one) and pattern("about_the_task").search(one) for one in last)
        or pattern("failed").fullmatch(first.rstrip(".!。！ ")) is not None
        or (len(answer) <= 450 and pattern("lacks").search(first) is not None)
    )


@given(
    st.lists(
        st.sampled_from((*REFUSALS, *ANSWERS, "Well. ", "Sorry, ", "I\n am\tunable  to", "x" * 300, "answer", "。")),
        max_size=5,
    ).map(" ".join)
)
def test_refusals_are_those_of_the_plain_definition(answer: str) -> None:
    assert is_refusal(answer) is plain_is_refusal(answer)


def test_a_long_answer_is_read_in_no_time() -> None:
    assert not is_refusal("it seems that sorry, " * 50_000)


HELD_OUT_REFUSALS = {11, 27, 31, 35, 69, 81, 93, 133, 139, 155, 163, 175}
"""Of the odd ones among a model's answers to questions its tools do not fit, those that say no and answer nothing."""


def test_refusals_of_a_real_model_are_found() -> None:
    folder = data("bfcl") / "runs/2024-08-11/result/gpt-4o-mini-2024-07-18-FC"
    lines = (folder / "gorilla_openfunctions_v1_test_relevance_result.json").read_text().splitlines()
    said = [result for line in lines if isinstance(result := json.loads(line)["result"], str)]
    held_out = {number for number in range(1, len(said) + 1, 2) if is_refusal(said[number - 1])}
    assert len(said) == 187
    assert len(held_out & HELD_OUT_REFUSALS) >= 11
    assert len(held_out - HELD_OUT_REFUSALS) <= 1


def test_worked_answers_of_real_models_are_no_refusals() -> None:
    (path,) = data("judgebench/outputs").iterdir()
    pairs = [json.loads(line) for line in path.read_text().splitlines()]
    answers = [pair[name] for pair in pairs for name in ("response_A", "response_B")]
    # One of them ends with "I cannot provide a definitive answer in the requested format".
    assert len(answers) == 540 and sum(map(is_refusal, answers)) <= 1
