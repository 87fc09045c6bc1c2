"""`from iml_profiler.profiler import Profiler` goes on working."""
from millrace_prof import Profiler, operation, phase, progress

__all__ = ["Profiler", "operation", "phase", "progress"]
