"""The currencies that a text names, by code, sign or word."""

import re

_DOLLARS = ("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN", "TWD")
_KRONER = ("SEK", "NOK", "DKK", "ISK", "CZK")
_NAMES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"€|\beuros?\b|欧元|ユーロ|유로|евро|يورو", ("EUR",)),
    (r"(?<!R)\$|\bdollars?\b|\bdólares\b|\bdollari\b|美元|ドル|달러|доллар|دولار", _DOLLARS),
    (r"£|\bsterling\b|\bquid\b|英镑|ポンド", ("GBP",)),
    (r"\b(?:swiss )?francs?\b|\bfranken\b|\bfrancos\b|瑞士法郎", ("CHF", "XAF", "XOF")),
    (r"[¥￥]", ("JPY", "CNY")),
    (r"円|\byen\b", ("JPY",)),
    (r"元|\byuan\b|\brmb\b|人民币", ("CNY", "USD", "EUR", "TWD", "HKD", "JPY")),
    (r"\bkr\b|\bkronor\b|\bkroner\b|\bkronen\b|\bcrowns\b|\bkč\b", _KRONER),
    (r"₹|\brupees?\b", ("INR", "PKR", "LKR")),
    (r"₩|원(?![가-힣])", ("KRW",)),
    (r"₽|\bруб", ("RUB",)),
    (r"R\$|\breais\b|\breal\b", ("BRL",)),
    (r"\bzł|\bzlot", ("PLN",)),
    (r"₫|\bđồng\b", ("VND",)),
    (r"₺|\blira\b", ("TRY",)),
    (r"\bpesos?\b", ("MXN", "ARS", "CLP", "COP", "PHP")),
    (r"\bdirhams?\b|درهم", ("AED", "MAD")),
)
_PATTERNS = tuple((re.compile(words, re.IGNORECASE), codes) for words, codes in _NAMES)
_KNOWN = frozenset(code for _, codes in _NAMES for code in codes)
_CODE = re.compile(r"(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])")


def currencies_in(text: str) -> set[str]:
    """The codes of the currencies that a text may name: a sign may be that of several."""
    named = {code for code in _CODE.findall(text) if code in _KNOWN}
    for pattern, codes in _PATTERNS:
        if pattern.search(text) is not None:
            named.update(codes)
    return named
