"""Log lines of the product after an evaluation in the same process."""

from evaluation_assets.runs.progress import LOG, RunProgress


def test_log_lines_reach_the_caller_again_after_a_run() -> None:
    with RunProgress(quiet=True, verbose=False).over(1):
        assert not LOG.propagate
    assert LOG.propagate
