"""Values of results, found in texts without looking for each value: a long trajectory has hundreds of thousands."""

from collections import defaultdict

from evaluation_assets.core.sections.constraints.seen_calls import SeenCall


class ValueIndex:
    """Values with the call that each came from. Values have at least `min_length` characters.

    They are filed by their first characters and then by length, so a text is read once, whatever the number of values.
    """

    def __init__(self, min_length: int) -> None:
        self._min_length = min_length
        self._count = 0
        self._filed: dict[str, dict[int, dict[str, tuple[int, SeenCall]]]] = defaultdict(lambda: defaultdict(dict))

    def __len__(self) -> int:
        return self._count

    def add(self, value: str, call: SeenCall) -> None:
        """File a value. One that is there keeps its call, and one that is too short is not filed."""
        if len(value) >= self._min_length:
            self._filed[value[: self._min_length]][len(value)].setdefault(value, (self._count, call))
            self._count += 1

    def origin_in(self, text: str) -> SeenCall | None:
        """The call of the value in a text that was filed first; `None` if the text contains none."""
        origins: list[tuple[int, SeenCall]] = []
        for start in range(len(text) - self._min_length + 1):
            for length, values in self._filed.get(text[start : start + self._min_length], {}).items():
                if (filed := values.get(text[start : start + length])) is not None:
                    origins.append(filed)
        return min(origins, key=lambda filed: filed[0])[1] if origins else None
