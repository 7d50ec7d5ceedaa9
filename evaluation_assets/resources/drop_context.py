"""The context of a step, for one of the drops of its run."""

import dagster as dg


class DropContext(dg.AssetExecutionContext):
    """The context of a run, for one of its drops."""

    def __init__(self, context: dg.AssetExecutionContext, drop: str) -> None:
        super().__init__(context.op_execution_context)
        self._drop = drop

    @property
    def partition_key(self) -> str:
        """The drop."""
        return self._drop
