"""Functions of steps, called by other steps: several assets then cost one start and no events of their own."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import dagster as dg

from evaluation_assets.resources.installation import HomeResource


def results(step: dg.AssetsDefinition, context: Any, config: dg.Config, home: HomeResource) -> Iterator[Any]:
    """What the function of a step yields or returns; the functions of steps without settings take no config."""
    available = {"context": context, "config": config, "home": home}
    function = _function(step)
    produced = function(**{name: available[name] for name in inspect.signature(function).parameters})
    if isinstance(produced, AsyncIterator):
        return _awaited(produced)
    return produced if isinstance(produced, Iterator) else iter([produced])


def _awaited(produced: AsyncIterator[Any]) -> Iterator[Any]:
    with asyncio.Runner() as runner:
        while (each := runner.run(_next(produced))) is not None:
            yield each


async def _next(produced: AsyncIterator[Any]) -> Any:
    return await anext(produced, None)


def _function(step: dg.AssetsDefinition) -> Callable[..., Any]:
    decorated: Any = step.op.compute_fn
    return decorated.decorated_fn
