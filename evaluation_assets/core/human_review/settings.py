"""The section `review` of gate.yaml: what people review, and what their labels decide."""

from pydantic import Field

from evaluation_assets.core.configuration import Section, Share


class ReviewSettings(Section):
    """What people look at, and what their labels decide.

    A trajectory passes a judge at `pass_score`. Reviewed are scores below it, up to `near` above it, judges whose
    scores spread by `disagreement` or more, and `random_share` of the others. A judge with at least `min_labels`
    labels and a kappa below `min_kappa` is kept out of gates.
    """

    pass_score: Share = 0.6
    near: Share = 0.05
    disagreement: Share = 0.2
    random_share: Share = 0.2
    min_kappa: float = Field(default=0.6, ge=-1, le=1)
    min_labels: int = Field(default=30, ge=2)
