"""`import rlscope.api as rlscope`: scripts annotated for the published profiler go on working under prof-record."""
import millrace_annotations

prof = None
millrace_annotations.offer(globals(), "rlscope")
