"""The context of a step, for one of the drops of its run or for a part of one."""

from collections.abc import Set

import dagster as dg

from evaluation_assets.core.pipeline.parts import Parts


class DropContext(dg.AssetExecutionContext):
    """The context of a run, for one of its drops. `parts` are those that the drop was judged in, once it is."""

    def __init__(self, context: dg.AssetExecutionContext | dg.OpExecutionContext, drop: str) -> None:
        super().__init__(context.op_execution_context if isinstance(context, dg.AssetExecutionContext) else context)
        self._drop = drop
        self.parts: Parts | None = None

    @property
    def partition_key(self) -> str:
        """The drop."""
        return self._drop


class PartContext(DropContext):
    """The context of a run, for a part of a drop of which it judges the named tables."""

    def __init__(
        self, context: dg.AssetExecutionContext | dg.OpExecutionContext, drop: str, tables: Set[dg.AssetKey]
    ) -> None:
        super().__init__(context, drop)
        self._tables = tables

    @property
    def selected_asset_keys(self) -> Set[dg.AssetKey]:
        """The tables to judge."""
        return self._tables


def parts_of(context: dg.AssetExecutionContext) -> Parts | None:
    """The parts that the drop of a context was judged in; Dagster lets no step declare a context of its own."""
    return context.parts if isinstance(context, DropContext) else None
