"""What readers of coding agents share: sessions with sub-agents, and the records of their clients."""
