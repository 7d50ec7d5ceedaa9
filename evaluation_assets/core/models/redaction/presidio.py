"""Personal data that Presidio recognises, with a spaCy model or by rules alone (extra `presidio`)."""

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pydantic import Field, model_validator

from evaluation_assets.core.models.redaction.kinds import Span
from evaluation_assets.core.system.commands import installing
from evaluation_assets.core.system.configuration import Section

if TYPE_CHECKING:
    from presidio_analyzer import AnalyzerEngine

_AT_ONCE = 100_000
_OVERLAP = 200
"""Characters of a part of a long text, which spaCy refuses as a whole, and of those that two parts share."""

_EMAIL = "EmailRecognizer"
"""Presidio's own fetches a list of domains from the internet; `email` of our own does not."""


class PresidioSettings(Section):
    """What Presidio looks for.

    Attributes:
        entities: Names of Presidio's entities, for instance `PERSON` or `US_SSN`. Not `EMAIL_ADDRESS`: use `email`.
        language: Language of the texts.
        model: An installed spaCy model, or its folder, for names, places and organisations.
        minimum_score: Minimum score of a finding, 0..1, on Presidio's scale.
    """

    entities: tuple[str, ...] = Field(min_length=1)
    language: str = "en"
    model: str | None = None
    minimum_score: float = Field(default=0.4, ge=0, le=1)

    @model_validator(mode="after")
    def _is_installed(self) -> Self:
        if find_spec("presidio_analyzer") is None:
            raise ValueError(f"presidio needs an extra package: {installing('presidio')}")
        if self.model is not None and not Path(self.model).is_dir() and not _is_package(self.model):
            raise ValueError(f"the spaCy model {self.model} is not installed: python -m spacy download {self.model}")
        if "EMAIL_ADDRESS" in self.entities:
            raise ValueError("for e-mail addresses use `email: true` of redaction instead of EMAIL_ADDRESS")
        return self


class UnknownEntities(ValueError):
    """Presidio does not look for these; the message lists what it can look for."""


def spans_of(text: str, settings: PresidioSettings) -> Iterator[tuple[Span, str]]:
    """Where entities stand in a text, with their names in lower case.

    Raises:
        UnknownEntities: Presidio has no recogniser for one of them in this language.
    """
    engine = _engine(settings.language, settings.model)
    _check(settings.entities, engine.get_supported_entities(settings.language))
    for begin in range(0, max(1, len(text) - _OVERLAP), _AT_ONCE - _OVERLAP):
        for entity in engine.analyze(
            text=text[begin : begin + _AT_ONCE],
            language=settings.language,
            entities=list(settings.entities),
            score_threshold=settings.minimum_score,
        ):
            yield (begin + entity.start, begin + entity.end), entity.entity_type.lower()


@cache
def _engine(language: str, model: str | None) -> "AnalyzerEngine":
    import spacy  # noqa: PLC0415  # an extra, which takes seconds
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry  # noqa: PLC0415
    from presidio_analyzer.nlp_engine import SpacyNlpEngine  # noqa: PLC0415

    class Installed(SpacyNlpEngine):
        """Presidio's own would download a model that is missing."""

        def load(self) -> None:
            self.nlp = {language: spacy.blank(language) if model is None else spacy.load(model)}

    engine = Installed(models=[{"lang_code": language, "model_name": model or "blank"}])
    engine.load()
    registry = RecognizerRegistry(supported_languages=[language])
    registry.load_predefined_recognizers(languages=[language], nlp_engine=engine)
    registry.remove_recognizer(_EMAIL)
    return AnalyzerEngine(registry=registry, nlp_engine=engine, supported_languages=[language])


def _check(entities: Sequence[str], known: Sequence[str]) -> None:
    if unknown := sorted(set(entities) - set(known)):
        raise UnknownEntities(f"Presidio does not know {', '.join(unknown)}; choose among {', '.join(sorted(known))}")


def _is_package(model: str) -> bool:
    try:
        return find_spec(model) is not None
    except (ImportError, ValueError):
        return False
