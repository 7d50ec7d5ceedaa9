"""What `ui`, `receive` and `review` serve: Dagster's services, reports, and which requests they answer."""
