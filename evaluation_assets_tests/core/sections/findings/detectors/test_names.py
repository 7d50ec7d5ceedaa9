"""Names that nothing before has."""

import pytest

from evaluation_assets.core.sections.findings.detectors.names import DETECTOR
from evaluation_assets_tests.core.sections.findings.finding import asked, found, run
from evaluation_assets_tests.core.sections.sessions.making import call

READ = call("search", "The tower was built by Anna Lindqvist. Башню построила Анна Линдквист.")


@pytest.mark.parametrize("said", ["It was built by Piet Vanhoven.", "Башню построил инженер Пётр Ванховен."])
def test_a_name_that_nothing_has_is_unsupported(said: str) -> None:
    assert found(DETECTOR, run(asked("Who built it?", READ, answer=said))) == [("unsupported_answer", said)]


@pytest.mark.parametrize(
    "said",
    [
        "It was built by Anna Lindqvist.",
        "It was built by Mrs. Lindqvist and Hugo Berg, whom you named.",
        "Here is your answer, with the Full Name:",
        "Башню построила Анна Линдквист.",
        "It is done.",
    ],
)
def test_a_name_that_was_given_is_supported(said: str) -> None:
    assert found(DETECTOR, run(asked("Who built it, Hugo Berg?", READ, answer=said))) == []


def test_an_agent_without_results_speaks_from_what_it_knows() -> None:
    assert found(DETECTOR, run(asked("Who built it?", answer="It was built by Piet Vanhoven."))) == []
