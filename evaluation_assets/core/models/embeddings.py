"""Embeddings from an endpoint that speaks the OpenAI protocol (through the ledger), or from a local model."""

import base64
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from evaluation_assets.core.models.addresses import split_password, without_password
from evaluation_assets.core.models.backoff import Backoff
from evaluation_assets.core.models.budget import Budget, most_tokens, most_usd
from evaluation_assets.core.models.errors import REFUSED_FOR_ALL, LedgerError, ProviderError, Stopped
from evaluation_assets.core.models.ledger import Entry, Ledger, question_key
from evaluation_assets.core.models.messages import Reply
from evaluation_assets.core.models.providers.connections import key_in, openai_headers, secrets_of
from evaluation_assets.core.models.providers.sdk_errors import refuse_error_in
from evaluation_assets.core.models.sizes import size_of
from evaluation_assets.core.models.timeouts import Timeouts
from evaluation_assets.core.models.usage import reported
from evaluation_assets.core.text.masking import Mask
from evaluation_assets.core.traces.prices import Pricing
from evaluation_assets.core.traces.token_usage import TokenUsage

Vector = NDArray[np.float32]

AT_ONCE = 64
"""Texts that are sent together."""

_TIMEOUT_S = 60.0
_MOST_FAILURES = 2
"""Batches that fail in a row, each after the SDK has tried three times; then nothing more is asked in this run."""

_DEADLINE_S = 300.0
"""So long another worker may take over texts that it holds, and an endpoint may refuse because of too many requests."""

_POLL_S = 0.25

_ADDED = 16
"""Tokens that a model may add to a text; else each has at least one byte."""

_LARGEST = 1e15
"""Of a number in an embedding. Real ones are below 1000; squares of these are added up in 32 bits."""


class NoVectors(Exception):
    """Texts cannot be embedded now; the message says why."""


@dataclass(slots=True)
class Taken:
    """What embedding took in a run: texts, tokens and US dollars as far as known. The rest came from the ledger."""

    texts: int = 0
    from_ledger: int = 0
    over_budget: int = 0
    input_tokens: int | None = 0
    cost_usd: float | None = 0.0

    def paid(self, tokens: int | None, cost_usd: float | None) -> None:
        """One text more; what is unknown once stays unknown."""
        self.texts += 1
        self.input_tokens = None if self.input_tokens is None or tokens is None else self.input_tokens + tokens
        self.cost_usd = None if self.cost_usd is None or cost_usd is None else self.cost_usd + cost_usd


class Vectors(Protocol):
    """A model of embeddings."""

    @property
    def taken(self) -> Taken:
        """What it took so far."""
        ...

    def of(self, texts: Sequence[str]) -> list[Vector]:
        """One vector a text.

        Raises:
            NoVectors: the model cannot be reached, or answers with something else.
        """
        ...


class EndpointVectors:
    """Embeddings that are paid for once: a vector is committed to the ledger before it is used."""

    def __init__(
        self,
        *,
        model: str,
        base_url: str,
        key_variable: str | None,
        ledger: Ledger,
        pricing: Pricing,
        run: str,
        budget: Budget,
    ) -> None:
        self.taken = Taken()
        self._model = model
        self._base_url = base_url
        self._endpoint = without_password(base_url)
        self._key_variable = key_variable
        self._ledger = ledger
        self._pricing = pricing
        self._run = run
        self._budget = budget
        self._stopped: Stopped | None = None
        self._failures = 0
        self._backoff = Backoff(model, Timeouts())

    def of(self, texts: Sequence[str]) -> list[Vector]:
        """What the ledger knows, and the rest from the endpoint, up to 64 texts at once."""
        try:
            return self._of(texts)
        except LedgerError as problem:
            raise NoVectors(str(problem)) from None

    def _of(self, texts: Sequence[str]) -> list[Vector]:
        vectors = self._known(texts)
        deadline = time.monotonic() + _DEADLINE_S
        while missing := [text for text in dict.fromkeys(texts) if text not in vectors]:
            claimed = [text for text in missing[:AT_ONCE] if self._ledger.claim(self._key(text))]
            try:
                vectors |= self._known(claimed or missing)  # another worker may have paid meanwhile
                asked = [text for text in claimed if text not in vectors]
                if asked:
                    vectors |= self._paid_for(asked)
                elif not claimed:
                    if time.monotonic() > deadline:
                        raise NoVectors("another worker claimed these texts and did not finish")
                    time.sleep(_POLL_S)
            finally:
                for text in claimed:
                    self._ledger.release(self._key(text))
        return [vectors[text] for text in texts]

    def _known(self, texts: Sequence[str]) -> dict[str, Vector]:
        stored = {text: self._ledger.entries(self._key(text)) for text in dict.fromkeys(texts)}
        known = {text: _unpacked(entries[0]) for text, entries in stored.items() if entries}
        self.taken.texts += len(known)
        self.taken.from_ledger += len(known)
        return known

    def _key(self, text: str) -> str:
        return question_key({"kind": "embedding", "endpoint": self._endpoint, "model": self._model, "text": text})

    def _paid_for(self, texts: Sequence[str]) -> dict[str, Vector]:
        size = sum(map(size_of, texts))
        most = most_usd(self._pricing, most_tokens(size, messages=0) + len(texts), 0)
        try:
            if self._stopped is not None:
                raise self._stopped
            with self._budget.reserved_now(most, len(texts)):
                return self._bought(texts, size, most)
        except Stopped as problem:
            self.taken.over_budget += len(texts) if problem.kind == "budget" else 0
            raise NoVectors(str(problem)) from None
        except ProviderError as problem:
            if problem.kind in REFUSED_FOR_ALL:
                self._stopped = Stopped(problem.kind, str(problem))
            self._failures = self._failures + 1 if problem.endpoint_failed else 0
            if self._failures == _MOST_FAILURES:
                message = f"the endpoint {self._endpoint} does not answer ({problem}); check that it runs"
                self._stopped = Stopped("unavailable", message)
            raise NoVectors(str(problem)) from None

    def _bought(self, texts: Sequence[str], size: int, most: float | None) -> dict[str, Vector]:
        """The vectors of texts, paid for, whatever was answered."""
        sent = time.monotonic()
        try:
            answer = self._answer(texts)
        except ProviderError as problem:
            if problem.is_billed:
                self._pay_unread(most, len(texts))
            raise
        self._failures = 0
        took_ms = (time.monotonic() - sent) * 1000
        tokens = _tokens_of(answer, size + _ADDED * len(texts))
        price = self._pricing.cost(TokenUsage(input_tokens=tokens, output_tokens=0))
        price = most if price is None else price
        try:
            vectors = _vectors(answer, len(texts))
        except NoVectors:
            self._pay_unread(price, len(texts))
            raise
        for text, vector, share in zip(texts, vectors, _shares(tokens, texts), strict=True):
            self._commit(text, vector, share, None if price is None else price / len(texts), took_ms)
        return dict(zip(texts, vectors, strict=True))

    def _commit(self, text: str, vector: Vector, tokens: int | None, most: float | None, took_ms: float) -> None:
        usage = TokenUsage(input_tokens=tokens, output_tokens=0)
        price = self._pricing.cost(usage)
        price = most if price is None else price
        self._budget.pay(price)
        self.taken.paid(tokens, price)
        try:
            self._ledger.commit(
                self._key(text),
                run=self._run,
                provider="embeddings",
                model=self._model,
                reply=Reply(text=base64.b64encode(vector.tobytes()).decode(), finish="stop", usage=usage),
                cost_usd=price,
                latency_ms=took_ms,
                attempts=1,
            )
        except LedgerError as problem:  # what is paid for is used; nothing more is
            self._stopped = Stopped("ledger", str(problem))

    def _pay_unread(self, usd: float | None, texts: int) -> None:
        """Count an answer without embeddings: it was billed as well."""
        for _ in range(texts):
            self._budget.pay(None if usd is None else usd / texts)
        self._ledger.add_unread(self._run, usd, texts)

    def _answer(self, texts: Sequence[str]) -> Any:
        """The answer of the endpoint, which is asked again while it refuses because there are too many requests."""
        deadline, attempt = time.monotonic() + _DEADLINE_S, 0
        while True:
            try:
                return self._asked(texts)
            except ProviderError as problem:
                attempt += 1
                wait = self._backoff.after(problem, attempt)
                if problem.kind != "rate_limit" or time.monotonic() + wait > deadline:
                    raise
                for text in texts:
                    self._ledger.renew(self._key(text))
                time.sleep(wait)

    def _asked(self, texts: Sequence[str]) -> Any:
        import openai  # noqa: PLC0415  # takes a second, which a run without embeddings need not wait for

        from evaluation_assets.core.models.providers.openai_endpoint import translated  # noqa: PLC0415

        with translated(self._mask):
            answer = self._client.embeddings.create(model=self._model, input=list(texts), encoding_format="float")
            if isinstance(answer, openai.BaseModel):  # else it is no JSON object
                refuse_error_in(vars(answer) | (answer.model_extra or {}), self._mask)
            return answer

    @cached_property
    def _mask(self) -> Mask:
        return Mask(secrets_of(self._base_url, key_in(self._key_variable)))

    @cached_property
    def _client(self) -> Any:
        import openai  # noqa: PLC0415

        from evaluation_assets.core.models.providers.bounded import bounded_in_threads  # noqa: PLC0415

        address, password = split_password(self._base_url)
        return openai.OpenAI(
            api_key=key_in(self._key_variable),
            base_url=address,
            timeout=_TIMEOUT_S,
            http_client=bounded_in_threads(openai.DefaultHttpxClient, address, _TIMEOUT_S),
            default_headers=openai_headers(password),
        )


class LocalVectors:
    """A static model of `model2vec` in a folder or on the Hugging Face hub: no server, no price, no ledger."""

    def __init__(self, model: str) -> None:
        self.taken = Taken()
        self._name = model

    def of(self, texts: Sequence[str]) -> list[Vector]:
        """The mean of a text's token vectors, in this process."""
        if isinstance(self._model, NoVectors):
            raise self._model
        vectors = self._model.encode(list(texts), max_length=None, use_multiprocessing=False)
        self.taken.texts += len(texts)
        return list(np.asarray(vectors, np.float32))

    @cached_property
    def _model(self) -> Any:
        """The model, or why there is none: it is looked for once."""
        from model2vec import StaticModel  # noqa: PLC0415  # an extra

        try:
            return StaticModel.from_pretrained(self._name, force_download=False)
        except Exception as problem:  # noqa: BLE001  # a hub, files and their parsers: each fails in its own way
            return NoVectors(f"the model cannot be loaded ({type(problem).__name__})")


def _unpacked(entry: Entry) -> Vector:
    return np.frombuffer(base64.b64decode(entry.reply.text), np.float32)


def _vectors(answer: Any, expected: int) -> list[Vector]:
    """The vectors of an answer in the order of the texts.

    Raises:
        NoVectors: it is no answer: too few, twice the same text, not numbers, none but zeros.
    """
    try:
        listed = {item.index: np.asarray(item.embedding, np.float64) for item in answer.data}
        vectors = [listed.pop(index) for index in range(expected)]
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        raise NoVectors("the answer holds no embedding for each text") from None
    if listed or any(vector.ndim != 1 or not _is_usable(vector) for vector in vectors):
        raise NoVectors("an embedding is not a list of numbers")
    return [vector.astype(np.float32) for vector in vectors]


def _is_usable(vector: NDArray[np.float64]) -> bool:
    """Whether all are numbers that 32 bits hold, and their squares too, and not all are zero."""
    return bool(vector.any()) and bool((np.abs(vector) <= _LARGEST).all())


def _tokens_of(answer: Any, most: int) -> int | None:
    """Billed tokens, as far as the answer says them and they can be."""
    usage, _ = reported({"input_tokens": getattr(getattr(answer, "usage", None), "prompt_tokens", None)})
    return None if usage.input_tokens is None or usage.input_tokens > most else usage.input_tokens


def _shares(total: int | None, texts: Sequence[str]) -> list[int | None]:
    """Tokens of a request by the length of its texts: endpoints count them together. They add up to the total."""
    if total is None:
        return [None] * len(texts)
    ends = list(accumulate(map(len, texts), initial=0))
    return [total * end // ends[-1] - total * start // ends[-1] for start, end in pairwise(ends)]
