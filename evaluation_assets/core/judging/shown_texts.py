"""How the texts of trajectories are shown to judges: neutral, and without what must not leave for its provider."""

from collections import Counter

from evaluation_assets.core.judging.fences import fence_of, neutral
from evaluation_assets.core.models.redaction.redactor import Redactor
from evaluation_assets.core.models.redaction.settings import Redaction
from evaluation_assets.core.traces.trajectories.model import Trajectory


class ShownText:
    """Shows the texts of one trajectory.

    Raises:
        NotRedacted: a text cannot be searched, and must not be shown.
    """

    def __init__(self, trajectory: Trajectory, redaction: Redaction, secret: str = "") -> None:
        self.trajectory = trajectory
        self.fence = fence_of(secret, trajectory.text)
        self._redactor = Redactor(redaction, map(neutral, trajectory.texts))

    def __call__(self, text: str) -> str:
        """The text as it is shown. Characters that are not seen are taken out first: they could stand in a key."""
        return self._redactor(neutral(text))

    def counts(self, text: str) -> Counter[str]:
        """How many values of each kind are replaced in a text that was shown."""
        return self._redactor.counts(text)


class ShownTexts:
    """Keeps what belongs to the trajectories that were judged last, so that each is searched once."""

    def __init__(self, secret: str, redaction: Redaction, most: int) -> None:
        self._secret = secret
        self._redaction = redaction
        self._most = most
        self._kept: dict[int, ShownText] = {}

    def of(self, trajectory: Trajectory) -> ShownText:
        """How a trajectory is shown.

        Raises:
            NotRedacted: a text of it cannot be searched.
        """
        key = id(trajectory)  # stays the same while it is kept here
        if key not in self._kept:
            self._kept[key] = ShownText(trajectory, self._redaction, self._secret)
            if len(self._kept) > self._most:
                del self._kept[next(iter(self._kept))]
        return self._kept[key]
