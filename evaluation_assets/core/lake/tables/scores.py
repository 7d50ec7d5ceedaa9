"""Tables of what the panel's verdicts average to, and of how far its judges agree."""

from evaluation_assets.core.lake.tables.model import BOOL, FLOAT, INT, NAME, Column, Table
from evaluation_assets.core.lake.tables.shared_columns import DROP, TASK_ID, TRAJECTORY_ID

_CRITERION = Column("criterion", NAME, "Key of the criterion in its rubric.")
_MEAN = Column(
    "mean",
    FLOAT,
    "Mean over `n_scored` judges, 0..1, or their majority if the rubric's scale says so. On a tie it is null; "
    "with fewer judges than the quorum, so are all figures.",
)
_ADJUSTED_MEAN = Column(
    "adjusted_mean",
    FLOAT,
    "The same mean with each judge's leniency subtracted from its scores, 0..1.",
)
_STD = Column("std", FLOAT, "Population standard deviation between them.")
_N_SCORED = Column("n_scored", INT, "Judges that scored it; of a [cascade](cascade.md), those of the last stage.")
_N_JUDGES = Column("n_judges", INT, "Judges in the panel.")

CLIP_SCORES = Table(
    "clip_scores",
    "the panel's score of a clip on one criterion",
    (
        DROP,
        TRAJECTORY_ID,
        Column("clip_index", INT, "Position of the clip in its trajectory, from 0."),
        Column("tool_type", NAME, "Tool type of the clip; `final` for the final clip."),
        _CRITERION,
        _MEAN,
        _ADJUSTED_MEAN,
        Column("median", FLOAT, "Median of the judges that scored it, 0..1."),
        Column("min", FLOAT, "Lowest score that a judge gave, 0..1."),
        Column("max", FLOAT, "Highest score that a judge gave, 0..1."),
        _STD,
        _N_SCORED,
        _N_JUDGES,
    ),
)
CATEGORY_ASSESSMENTS = Table(
    "category_assessments",
    "the panel's score of a tool type in a trajectory on one criterion",
    (
        DROP,
        TRAJECTORY_ID,
        Column("category", NAME, "Tool type."),
        _CRITERION,
        _MEAN,
        _ADJUSTED_MEAN,
        _STD,
        _N_SCORED,
        _N_JUDGES,
        Column("clip_count", INT, "Clips of the tool type in the trajectory."),
        Column(
            "is_majority",
            BOOL,
            "Whether no tool type has more clips in the trajectory. On a tie, several are the majority.",
        ),
    ),
)
TRAJECTORY_SCORES = Table(
    "trajectory_scores",
    "the panel's score of a trajectory on one criterion, or its `overall` score: the mean over its scored clips of "
    "the mean of each clip's scored criteria",
    (
        DROP,
        TRAJECTORY_ID,
        TASK_ID,
        Column(
            "criterion",
            NAME,
            "`overall`, the key of a trajectory criterion, or `answer.<key>` for a criterion of the final answer.",
        ),
        Column(
            "mean",
            FLOAT,
            "Mean over the judges that scored it, 0..1; null if these are fewer than the quorum.",
        ),
        Column("adjusted_mean", FLOAT, "The same with each judge's leniency subtracted from its scores."),
        Column(
            "std",
            FLOAT,
            "Population standard deviation between the judges that scored it; null for `overall`.",
        ),
        Column(
            "n_scored",
            INT,
            "Judges that scored it; for `overall`, the most that scored a criterion of a clip.",
        ),
        _N_JUDGES,
    ),
)
PANEL_RELIABILITY = Table(
    "panel_reliability",
    "a judge of the panel on one criterion, with the inter-rater agreement of the panel on it",
    (
        DROP,
        Column("level", NAME, "`clip`, or `trajectory` for trajectories and their answers."),
        Column("criterion", NAME, "Key of the criterion; `answer.<key>` for a criterion of the final answer."),
        Column("judge", NAME, "Name of the judge in the panel."),
        Column("n_subjects", INT, "Subjects that at least two judges scored."),
        Column(
            "alpha",
            FLOAT,
            "Krippendorff's alpha of the panel (interval metric): 1 is full agreement, 0 is chance; null if the scores "
            "do not vary.",
        ),
        Column("icc_single", FLOAT, "ICC(2,1), the reliability of a single judge."),
        Column("icc_panel", FLOAT, "ICC(2,k), the reliability of the panel's mean."),
        Column(
            "effective_judges",
            FLOAT,
            "Lower bound of the number of independent judges that the panel is worth, from the correlation of their "
            "verdicts; null if no two share ten subjects.",
        ),
        Column(
            "leniency",
            FLOAT,
            "How much higher the judge scores than the panel, from a two-way additive model.",
        ),
        Column(
            "influence",
            FLOAT,
            "Mean of all judges minus the mean of the other judges.",
        ),
        Column(
            "retest_std",
            FLOAT,
            "Within-subject standard deviation of the judge's repeated verdicts.",
        ),
        Column("n_retested", INT, "Subjects that the judge scored more than once."),
    ),
)

TABLES = (CLIP_SCORES, CATEGORY_ASSESSMENTS, TRAJECTORY_SCORES, PANEL_RELIABILITY)
