"""What people read: report data, JSON, Markdown, HTML with its viewer, provenance of figures, and sinks that send scores on."""
