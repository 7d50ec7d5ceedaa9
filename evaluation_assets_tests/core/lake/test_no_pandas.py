"""Tables are written without pandas, and pandas works afterwards."""

import subprocess
import sys

PROGRAM = """
import sys
import pyarrow as pa
from evaluation_assets.core.lake.no_pandas import write_without_pandas
write_without_pandas()
column = pa.array([1, None], pa.int64())
print("pandas" in sys.modules)
print(column.to_pandas().isna().tolist(), "pandas" in sys.modules)
import pandas as pd
print(pa.array(pd.Series([1.0, float("nan")])).null_count)
"""


def test_a_column_is_made_without_pandas_which_works_when_it_is_needed() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["False", "[False, True] True", "1"]
