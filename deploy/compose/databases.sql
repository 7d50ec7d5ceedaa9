-- Dagster's tables and the ledger are databases of their own, so that each can be saved and restored alone.
CREATE DATABASE dagster;
CREATE DATABASE ledger;
