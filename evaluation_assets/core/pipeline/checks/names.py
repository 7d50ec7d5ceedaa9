"""Names of blocking checks that other modules than `blocking` refer to. Importing it is cheap."""

CONSTRAINTS_HOLD = "constraints_hold"
JUDGES_ANSWERED = "judges_answered"
REGRESSION_GATE = "regression_gate"
