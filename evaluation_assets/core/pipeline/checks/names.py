"""Names of blocking checks that other modules than `blocking` refer to. Importing it is cheap."""

CONSTRAINTS_HOLD = "constraints_hold"
REGRESSION_GATE = "regression_gate"
