"""What readers of messages share: chat messages, lists of parts, and the dialects of providers and frameworks."""
