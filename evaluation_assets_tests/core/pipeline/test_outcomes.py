"""Predictions of outcomes from the tables of an installation."""

import subprocess
import sys


def test_scikit_learn_is_not_imported_before_a_model_is_fitted() -> None:
    """It takes a second, and most drops need no model."""
    code = (
        "import sys; import evaluation_assets.core.pipeline.outcomes; import evaluation_assets.core.review.queue; "
        "print('sklearn' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"
