"""What Lion Studio costs, always measured beside what the bare machine costs."""
