"""What is rendered of a subject, once for all judges of a panel that are shown the same."""

import asyncio
from collections.abc import MutableMapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary, WeakValueDictionary

from evaluation_assets.core.judging.forms import AskedFor, Form
from evaluation_assets.core.judging.judge import Judgement
from evaluation_assets.core.judging.pieces import Piece
from evaluation_assets.core.judging.shown_texts import ShownTexts
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.models.messages import Reply
from evaluation_assets.core.models.redaction.settings import Redaction


@dataclass(frozen=True, slots=True)
class Manner:
    """All that decides how a subject is rendered, beside the judge's own verdicts."""

    secret: str
    window: int
    redaction: str
    form: type[Form]


class SharedRendering:
    """Pieces, prompts and schemas of the subjects that are judged now, and how their texts are shown."""

    def __init__(self, secret: str, redaction: Redaction, form: Form, most: int) -> None:
        self.texts = ShownTexts(secret, redaction, most)
        self.form = _MadeOnce(form)
        self.pieces: MutableMapping[Subject, Piece] = WeakKeyDictionary()


_Known = WeakValueDictionary[Manner, SharedRendering]
_KNOWN: WeakKeyDictionary[asyncio.AbstractEventLoop, _Known] = WeakKeyDictionary()


def shared_rendering(secret: str, window: int, redaction: Redaction, form: Form, most: int) -> SharedRendering:
    """The rendering of a judge, the same object for all of an event loop that are shown the same.

    Args:
        secret: What fences are made of.
        window: The judge's tokens of input.
        redaction: What is replaced in texts.
        form: How the model is asked.
        most: Trajectories whose texts are kept.
    """
    known = _KNOWN.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
    manner = Manner(secret, window, redaction.fingerprint, type(form))
    shared = known.get(manner)
    if shared is None:
        shared = known[manner] = SharedRendering(secret, redaction, form, most)
    return shared


class _MadeOnce:
    """A form that makes the system prompt and the schema of a subject once."""

    def __init__(self, form: Form) -> None:
        self.version, self.writes = form.version, form.writes
        self._form = form
        self._systems: MutableMapping[Subject, str] = WeakKeyDictionary()
        self._asked_for: MutableMapping[Subject, AskedFor] = WeakKeyDictionary()

    def system(self, subject: Subject, fence: str) -> str:
        made = self._systems.get(subject)
        if made is None:
            made = self._systems[subject] = self._form.system(subject, fence)
        return made

    def asked_for(self, subject: Subject) -> AskedFor:
        made = self._asked_for.get(subject)
        if made is None:
            made = self._asked_for[subject] = self._form.asked_for(subject)
        return made

    def evaluation(self, reply: Reply, subject: Subject) -> Verdict:
        return self._form.evaluation(reply, subject)

    def turn(self, judgement: Judgement) -> str:
        return self._form.turn(judgement)

    def line(self, judgement: Judgement) -> str:
        return self._form.line(judgement)
