"""What scripts that were annotated for RL-Scope, or IML as it was called before, ask of it, said to the recorder.

rlscope.api and iml_profiler.api offer these names; NAME is rlscope or iml.

    add_NAME_arguments(parser)                             --NAME-directory and the others, so that they are no error
    handle_NAME_args(parser, args, reports_progress=, delay=)     makes NAME.prof; also _click_ and _gflags_
    NAME.prof.profile(process_name=, phase_name=)          what is recorded; .operation(name), .set_phase(name),
    .report_progress(percent_complete, ..)                 ends a pass; .set_metadata, .enable_tracing ..

Where the logs go and whether calls of C are seen is said to prof-record; without it nothing is recorded, which is told.
"""
import contextlib
import sys
import threading

import millrace_prof as _prof

VALUES = {"directory": str, "max-passes": int, "delay-passes": int, "trace-time-sec": float, "calibration": str,
          "phase": str}
FLAGS = ("disable", "disable-pyprof", "disable-pyprof-annotations", "disable-pyprof-interceptions", "disable-tfprof",
         "disable-gpu-hw", "just-sample-util", "keep-traces", "debug", "calibrate")


class Annotations:
    def __init__(self, reports_progress=False, delay=False, disabled=False, max_passes=None, delay_passes=None):
        self.reports_progress, self.delay, self.disabled = reports_progress, delay, disabled
        self.max_passes, self.delay_passes = max_passes, delay_passes
        self.metadata, self.passes, self.tracing_enabled, self.process_name = {}, 0, False, None
        self.open = threading.local()
        if not disabled:
            _prof._rec.disable_start()                    # the start and the imports are no training

    def set_metadata(self, metadata):
        self.metadata.update(metadata)

    def enable_tracing(self):
        if not self.disabled and not self.tracing_enabled:
            self.tracing_enabled = True
            _prof.enable()

    def disable_tracing(self):
        if self.tracing_enabled:
            self.tracing_enabled = False
            _prof.disable()

    start, stop = enable_tracing, disable_tracing

    def _over(self):
        return self.max_passes is not None and self.passes >= self.max_passes + (self.delay_passes or 0)

    @contextlib.contextmanager
    def profile(self, process_name=None, phase_name=None, **_):
        self.set_process_name(process_name)
        if not self.delay and not self.delay_passes:
            self.enable_tracing()
        if phase_name and not self.disabled:
            _prof.phase(phase_name)
        try:
            yield self
        finally:
            self.disable_tracing()

    def operation(self, name, **_):
        return _prof.operation(name) if not self.disabled else contextlib.nullcontext()

    def set_operation(self, name, **_):
        block = self.operation(name)
        block.__enter__()
        self.open.blocks = getattr(self.open, "blocks", []) + [block]

    def end_operation(self, name=None, **_):
        self.open.blocks.pop().__exit__(None, None, None)

    def set_phase(self, name):
        if not self.disabled:
            _prof.phase(name)

    def set_process_name(self, name):
        self.process_name = name

    def set_max_passes(self, passes, skip_if_set=False):
        if not skip_if_set or self.max_passes is None:
            self.max_passes = passes

    def set_delay_passes(self, passes, skip_if_set=False):
        if not skip_if_set or self.delay_passes is None:
            self.delay_passes = passes

    def report_progress(self, percent_complete, num_timesteps=None, total_timesteps=None):
        if self.disabled:
            return
        self.passes += 1
        if self.tracing_enabled:
            _prof.progress(percent_complete)
            _prof.end_pass()
        if self._over():
            self.disable_tracing()
        elif self.passes >= (self.delay_passes or 0) and self.delay_passes:
            self.enable_tracing()

    def __getattr__(self, name):
        raise AttributeError("the recorder does not know %r of the published profiler's interface" % name)


def offer(names, word):
    """Puts the functions of the published module into a module's names."""

    def add(parser):
        for name, kind in VALUES.items():
            parser.add_argument("--%s-%s" % (word, name), type=kind)
        for name in FLAGS:
            parser.add_argument("--%s-%s" % (word, name), action="store_true")

    def handle(parser=None, args=None, directory=None, reports_progress=False, delay=False, **_):
        def given(name):
            name = word + "_" + name
            return args.get(name) if isinstance(args, dict) else getattr(args, name, None)

        disabled = bool(given("disable"))
        if not disabled and not _prof._started:
            print("%s.api: nothing is recorded: begin the script by `prof-record -o DIR script.py ..`" % word,
                  file=sys.stderr)
            disabled = True
        names["prof"] = Annotations(reports_progress, delay, disabled, given("max_passes"), given("delay_passes"))

    def handle_values(values, directory=None, reports_progress=False, **more):
        handle(None, values, directory, reports_progress, **more)

    names["add_%s_arguments" % word] = names["add_%s_args" % word] = add
    names["handle_%s_args" % word] = handle
    names["handle_click_%s_args" % word] = names["handle_gflags_%s_args" % word] = handle_values
