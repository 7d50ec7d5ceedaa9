"""Names of the checks that block a drop's run after its report is written. Importing it is cheap."""

ENOUGH_SCORED = "enough_scored"
JUDGES_ANSWERED = "judges_answered"
SUITE_PASS_RATE = "suite_pass_rate"  # noqa: S105  (no password)
CONSTRAINTS_HOLD = "constraints_hold"
REGRESSION_GATE = "regression_gate"
