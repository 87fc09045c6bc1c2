"""`import iml_profiler.api as iml`: scripts annotated for the published toolkit go on working under prof-record."""
import millrace_annotations

prof = None
millrace_annotations.offer(globals(), "iml")
