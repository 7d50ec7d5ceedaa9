"""Tables of what people review, what they said, and what that says about the judges."""

from evaluation_assets.core.lake.tables.model import BOOL, FLOAT, INT, NAME, TEXT, Column, Table, records
from evaluation_assets.core.lake.tables.shared_columns import DROP, TASK_ID, TRAJECTORY_ID

REVIEW_QUEUE = Table(
    "review_queue",
    "a trajectory that people should review, and why",
    (
        DROP,
        TRAJECTORY_ID,
        TASK_ID,
        Column(
            "reason",
            NAME,
            "Why it is in the queue: `violation` of a constraint with severity `error`, `failed_case` of its suite, "
            "a `finding` of severity HIGH, `likely_failure` that claims success, `unscored`, `undecided` by the "
            "cascade, `low` score (of the judges, its test case, or its process score), `disagreement` "
            "of the judges, score close to the `threshold`, or `random`.",
        ),
        Column(
            "detail",
            TEXT,
            "Violated constraints, the failed test case, HIGH findings, the predicted outcome, and low scores that "
            "need no judge; empty if none.",
        ),
        Column(
            "stratum",
            NAME,
            "`likely_failure` that claims success (these come first), `chosen` by another rule, or `random`: drawn "
            "from the others.",
        ),
        Column("probability", FLOAT, "Probability of such a trajectory to be in the queue."),
        Column("score", FLOAT, "Overall score of the trajectory (adjusted mean), 0..1."),
        Column(
            "spread",
            FLOAT,
            "Largest standard deviation between judges on a criterion of the trajectory.",
        ),
        Column("task", TEXT, "What the agents were asked to do, cut at 500 characters."),
        Column("final_answer", TEXT, "Final answer of the agents, cut at 500 characters; empty if there is none."),
    ),
)
LABELS = Table(
    "labels",
    "what one person said about one trajectory, or about one of its clips",
    (
        DROP,
        TRAJECTORY_ID,
        Column("clip_index", INT, "Number of the clip that the label is about; null for the whole trajectory."),
        Column(
            "criterion",
            NAME,
            "What the label is about: `passed` for the trajectory or clip as a whole, or a criterion.",
        ),
        Column("annotator", NAME, "Who labelled it; `unknown` if the file does not say."),
        Column("label", FLOAT, "The label, 0..1: 1 is a pass, 0 is a fail."),
        Column("comment", TEXT, "Comment of the annotator; empty if there is none."),
        Column("source", NAME, "File of the label: its path below `labels/`."),
        Column("line", INT, "Line of the label in its file, from 1."),
    ),
    whole=True,
)
JUDGE_CARDS = Table(
    "judge_cards",
    "a judge compared with the labels of people on one criterion. Intervals of kappa and alpha need 10 labels",
    (
        Column("judge", NAME, "Name of the judge in the panel."),
        Column(
            "criterion",
            NAME,
            "What was labelled: `passed` for whole trajectories, `clip` for whole clips, or a criterion, of clips as "
            "`clip.<name>`.",
        ),
        Column(
            "n_labels",
            INT,
            "Trajectories or clips with both a label and a score of the judge, without labels that its map or worked "
            "examples may have been made from.",
        ),
        Column("agreed", INT, "Those of them on which judge and people agree on pass or fail."),
        Column("kappa", FLOAT, "Cohen's kappa of judge and people on pass or fail; null if both always say the same."),
        Column("kappa_low", FLOAT, "Lower end of the 95% interval of kappa."),
        Column("kappa_high", FLOAT, "Upper end of the 95% interval of kappa."),
        Column("alpha", FLOAT, "Krippendorff's alpha of scores and labels (interval metric)."),
        Column("alpha_low", FLOAT, "Lower end of the 95% interval of alpha."),
        Column("alpha_high", FLOAT, "Upper end of the 95% interval of alpha."),
        Column("sensitivity", FLOAT, "Share of the good trajectories that the judge passes."),
        Column("sensitivity_low", FLOAT, "Lower end of the 95% interval of the sensitivity."),
        Column("sensitivity_high", FLOAT, "Upper end of the 95% interval of the sensitivity."),
        Column("specificity", FLOAT, "Share of the bad trajectories that the judge fails."),
        Column("specificity_low", FLOAT, "Lower end of the 95% interval of the specificity."),
        Column("specificity_high", FLOAT, "Upper end of the 95% interval of the specificity."),
        Column("bias", FLOAT, "Pass rate of the judge minus that of people, on the same trajectories."),
        Column(
            "retest_std",
            FLOAT,
            "Within-subject standard deviation of the judge's repeated verdicts.",
        ),
        Column("coverage", FLOAT, "Share that the judge scored of the labelled subjects it was asked about."),
        Column("cost_usd", FLOAT, "Mean cost of a verdict in US dollars."),
        Column(
            "effective_judges",
            FLOAT,
            "Number of independent judges that the panel is worth.",
        ),
        Column(
            "length_slope",
            FLOAT,
            "Rise of the score for each doubling of the answer's length at equal label, or of a clip's by padding.",
        ),
        Column("length_slope_low", FLOAT, "Lower end of the 95% interval of the slope."),
        Column("length_slope_high", FLOAT, "Upper end of the 95% interval of the slope."),
        Column("length_slope_basis", NAME, "What the slope is from, `labels` or `padding`; else why there is none."),
        Column(
            "adopted",
            NAME,
            "What `panel align` adopted for this version of the judge: `map`, `examples` or `none`.",
        ),
        Column(
            "alignment",
            records(
                change=NAME,
                kappa=FLOAT,
                kappa_low=FLOAT,
                kappa_high=FLOAT,
                bias=FLOAT,
                bias_low=FLOAT,
                bias_high=FLOAT,
                difference=FLOAT,
                difference_low=FLOAT,
                difference_high=FLOAT,
            ),
            "What `panel align` compared on held-out labels: the judge as it was (`none`) and with each change, by "
            "kappa, bias, and difference of kappa from `none`.",
        ),
        Column(
            "gives_in_to",
            NAME,
            "Probes of `panel attack` that raise this judge's scores, and `test_retest` if it changes its mind "
            "without one; `none`, or `not measurable`.",
        ),
        Column("attacked_on", NAME, "Date (UTC) of `panel attack`."),
        Column("attacked_drop", NAME, "Drop whose clips were attacked; null for those of the package."),
        Column("attacked_version", NAME, "Version of the judge that was attacked."),
        Column("attacked_prompt", NAME, "Version of our prompts then; null where the judge is not asked with them."),
        Column(
            "attack",
            records(
                probe=NAME,
                clips=INT,
                at_the_top=INT,
                succeeded=INT,
                rate=FLOAT,
                low=FLOAT,
                high=FLOAT,
                outcome=NAME,
            ),
            "For each probe, the clips whose score could rise, those `at_the_top` that could not, those that rose by "
            "0.2 or more, their share with its 95% interval, and what it shows.",
        ),
        Column("may_gate", BOOL, "Whether kappa reaches the configured minimum."),
    ),
    whole=True,
)
PASS_RATES = Table(
    "pass_rates",
    "the pass rate of a drop according to the panel or a judge, and its label-corrected pass rate",
    (
        DROP,
        Column("judge", NAME, "Whose scores are used: `panel`, or the name of one judge."),
        Column(
            "raw",
            FLOAT,
            "Pass rate according to the scores alone, 0..1: of the mean of the trajectory's criteria, or of `overall` "
            "where the panel scored none of these.",
        ),
        Column("corrected", FLOAT, "Label-corrected pass rate, 0..1."),
        Column("ci_low", FLOAT, "Lower end of the 95% interval of the corrected rate."),
        Column("ci_high", FLOAT, "Upper end of the 95% interval of the corrected rate."),
        Column("n_subjects", INT, "Trajectories with a score."),
        Column("n_labels", INT, "Those of them with a label that counts."),
    ),
    whole=True,
)

TABLES = (REVIEW_QUEUE, LABELS, JUDGE_CARDS, PASS_RATES)
