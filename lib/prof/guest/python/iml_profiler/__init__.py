"""The name under which scripts of the original toolkit import the profiler."""
