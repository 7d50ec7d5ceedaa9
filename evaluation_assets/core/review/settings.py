"""The section `review` of gate.yaml: what people review, and what their labels decide."""

from pydantic import Field

from evaluation_assets.core.system.configuration import Section, Share


class ReviewSettings(Section):
    """What people review, and what their labels decide.

    Attributes:
        pass_score: Score, 0 to 1, from which a trajectory passes. It is reviewed if the score of the judges, of its
            test case or of its process is lower.
        near: Scores at most this far above `pass_score` are reviewed.
        disagreement: Trajectories are reviewed if the standard deviation of the judges' scores is at least this.
        random_share: Share of the other trajectories that is reviewed, drawn by their IDs.
        min_kappa: A judge whose Cohen's kappa with people's labels is below this is kept out of gates.
        min_labels: Number of labels that a judge needs before `min_kappa` applies to it.
    """

    pass_score: Share = 0.6
    near: Share = 0.05
    disagreement: Share = 0.2
    random_share: Share = 0.2
    min_kappa: float = Field(default=0.6, ge=-1, le=1)
    min_labels: int = Field(default=30, ge=2)
