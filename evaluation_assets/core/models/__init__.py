"""The client for models that pays once: protocols of providers, ledger, limits, prices, batches, embeddings, redaction.

What is asked is in the rooms that ask: `judging`, `suites.agents`.
"""
