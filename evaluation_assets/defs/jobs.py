"""What is run: the whole chain of one drop, or only its preprocessing."""

import dagster as dg

EVALUATE = "evaluate"
PREPROCESS_ONLY = "preprocess_only"

evaluate_job = dg.define_asset_job(
    EVALUATE,
    selection=dg.AssetSelection.all() - dg.AssetSelection.assets("preprocessed_files"),
    description="From the dropped file to the report, for one drop.",
)

preprocess_job = dg.define_asset_job(
    PREPROCESS_ONLY,
    selection=dg.AssetSelection.assets("preprocessed_files", "rejected_records").upstream(),
    description="Read and preprocess one drop; nothing is judged.",
)
