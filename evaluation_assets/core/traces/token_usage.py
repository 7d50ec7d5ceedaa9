"""Tokens of a request, as a provider bills them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Billed tokens. `input_tokens` is all input, cached reads and writes included; `None` where not reported.

    `cache_write_1h_tokens` are those of the `cache_write_tokens` that are kept for an hour, which cost more.
    """

    input_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None

    @property
    def is_counted(self) -> bool:
        """Whether all that is billed is known."""
        return self.input_tokens is not None and self.output_tokens is not None
