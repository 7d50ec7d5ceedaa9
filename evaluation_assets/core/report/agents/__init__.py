"""Pages that compare agents, and the page of one run of an agent on a suite."""
