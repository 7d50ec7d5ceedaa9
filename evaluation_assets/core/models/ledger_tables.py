"""The tables of the ledger's database."""

import sqlalchemy as sa

METADATA = sa.MetaData()
REPLIES = sa.Table(
    "replies",
    METADATA,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("run", sa.String(64), nullable=False),
    sa.Column("provider", sa.String(64), nullable=False),
    sa.Column("model", sa.String(255), nullable=False),
    sa.Column("reply", sa.LargeBinary, nullable=False),
    sa.Column("cost_usd", sa.Float),
    sa.Column("latency_ms", sa.Float, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
)
sa.Table(
    "leases",
    METADATA,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("worker", sa.String(32), nullable=False),
    sa.Column("process", sa.Text, nullable=False),
    sa.Column("expires_at", sa.Float, nullable=False),
)
sa.Table(
    "reservations",
    METADATA,
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("ends_at", sa.Float(53), nullable=False),
)
sa.Table(
    "learned_rates",
    METADATA,
    sa.Column("name", sa.String(64), primary_key=True),
    *(sa.Column(name, sa.Integer, nullable=False) for name in ("version", "is_measured", "taken")),
    *(sa.Column(name, sa.Float(53), nullable=False) for name in ("per_second", "since", "ends_at")),
)
UNREAD = sa.Table(
    "estimated_costs",
    METADATA,
    sa.Column("run", sa.String(64), nullable=False),
    sa.Column("usd", sa.Float(53), nullable=False),
)
BATCH_ITEMS = sa.Table(
    "batch_items",
    METADATA,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("batch", sa.String(255), nullable=False),
    sa.Column("submitted_at", sa.Float, nullable=False),
)
SETTINGS = sa.Table(
    "settings",
    METADATA,
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("value", sa.String(255), nullable=False),
)
