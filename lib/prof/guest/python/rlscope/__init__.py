"""The name under which scripts of the published profiler import it."""
