"""A team's own Dagster project: an agent answers tickets every night, and its runs are evaluated."""
