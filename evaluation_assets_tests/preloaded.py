"""What the process that commands are forked from has imported and made: each command would need it."""

import pandas  # noqa: F401  (PyArrow imports it when it makes its first column)
import scipy.special  # noqa: F401

import evaluation_assets.cli.evaluate
import evaluation_assets.definitions
import evaluation_assets.runs.jobs
import evaluation_assets.runs.paid  # noqa: F401
from evaluation_assets_tests.prepared_databases import made, use_prepared_databases

made()
use_prepared_databases()
