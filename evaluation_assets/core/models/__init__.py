"""The client for models that pays once: providers, ledger, limits, batches, budget, embeddings, redaction.

What models are asked belongs to `judging` and `suites`. May become a package of its own.
"""
