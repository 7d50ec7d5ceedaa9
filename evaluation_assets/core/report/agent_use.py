"""What the agents of a drop called and cost, as its source recorded it."""

from evaluation_assets.core.system.frozen import Frozen
from evaluation_assets.core.text.counted import counted, to_a_hundredth_cent
from evaluation_assets.core.text.nullable import sum_of
from evaluation_assets.core.traces.trajectories.model import Usage


class AgentUse(Frozen):
    """Sums over the runs that are evaluated. `tokens` and `cost_usd` are `None` where no run has them, never 0.

    `n_counted` and `n_priced` are the runs that have tokens and a cost. `is_list_price`: list prices are in the cost.
    """

    n_runs: int = 0
    calls: int = 0
    n_counted: int = 0
    tokens: int | None = None
    n_priced: int = 0
    cost_usd: float | None = None
    is_list_price: bool = False

    def with_run(self, calls: int, usage: Usage | None) -> "AgentUse":
        """The sums with another run."""
        used = usage or Usage()
        parts = (used.input_tokens, used.output_tokens)
        tokens = None if None in parts else sum_of(parts)
        return AgentUse(
            n_runs=self.n_runs + 1,
            calls=self.calls + calls,
            n_counted=self.n_counted + (tokens is not None),
            tokens=sum_of((self.tokens, tokens)),
            n_priced=self.n_priced + (used.cost_usd is not None),
            cost_usd=sum_of((self.cost_usd, used.cost_usd)),
            is_list_price=self.is_list_price or used.is_list_price,
        )

    @property
    def cost(self) -> str:
        """The cost as text: `unknown`, `$0.1560 (12 of 12 runs)`, `$0.1560 at list prices (3 of 12 runs)`."""
        if self.cost_usd is None:
            return "unknown"
        listed = " at list prices" if self.is_list_price else ""
        return f"{to_a_hundredth_cent(self.cost_usd)}{listed} ({self.n_priced:,} of {counted(self.n_runs, 'run')})"

    @property
    def use(self) -> str:
        """Calls and tokens as text: `12 tool calls, 15,600 tokens`."""
        calls = counted(self.calls, "tool call")
        if self.tokens is None:
            return calls
        partly = "" if self.n_counted == self.n_runs else f" ({self.n_counted:,} of {counted(self.n_runs, 'run')})"
        return f"{calls}, {counted(self.tokens, 'token')}{partly}"

    @property
    def text(self) -> str:
        """Cost, calls and tokens in one line."""
        return f"{self.cost}, {self.use}"
