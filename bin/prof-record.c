/* prof-record - run a program and record where its time goes
 *
 * Usage: prof-record [OPTION]... SCRIPT|-m MODULE|-c CODE|COMMAND [ARG]...
 *
 * Runs the Python script, or the command, unchanged and records it and the
 * Python processes it starts to logs in a directory, see prof-log.  Of Python
 * every entry into C is recorded: functions, methods, getters and operators of
 * extension modules (category Backend, of simulators Simulator), those of the
 * standard library (C), and where a thread waits (Waiting); the rest is
 * Python's.  Where nothing is recorded for 20 us, the thread's CPU clock is read:
 * what was not on the CPU is Off CPU, or Waiting if the call's name or the lock
 * of the interpreter (GIL) says why.  Samples of the main thread's CPU time are
 * noted besides (--judge): judge.PID.csv says how much of C was seen.  --wrap
 * records C functions by a pattern on MODULE.FUNCTION, also where C calls them,
 * and one of Python that it names in full, without * and ?, where that is looked
 * up in its module; --tree every Python function and builtin instead, which slows
 * Python down.  The script may name operations and phases through the module
 * millrace_prof, or iml_profiler.  --calls records, in any program, the calls
 * that its objects make to C functions of shared libraries.  Where a CUDA driver
 * and the injection library are there, --gpu records GPU work.
 *
 * --calibrate runs a Python program ten times, in turn with and without what
 * records calls, and leaves calibration.sexp beside the logs of the last run:
 * prof-top and make prof-process take out what recording cost.  The output of
 * the other nine goes nowhere; what else they do, they do nine times.
 *
 * Calls of a C function that takes less than 2 us and is called more than
 * 100 000 times a second are counted; what they took is told from those that
 * are timed now and then and from samples of the CPU time, in rows flagged
 * estimated.  --each gives each call a row, and costs up to 2.6 times the CPU.
 *
 * The program's files, output and descriptors are its own: the recorder keeps no
 * descriptor open.  Where less than 5 % of the disk, and less than 1 GiB, is
 * left, recording ends, and it is said in the end; so it is with --limit, unless
 * --quiet.  What is missing counts as lost.  Logs are readable by their owner
 * alone.  A program that begins under a filter of system calls (seccomp) which
 * another program set since is not recorded: the filter might kill it for what
 * the recorder does.
 *
 * The exit status is the program's.
 *
 * Examples:
 *   $ prof-record -o out/run train.py --steps=1000
 *   $ prof-record -o out/test -m unittest discover tests
 *   $ prof-record --wrap='math.*' --wrap='zlib.*=Simulator' script.py
 *   $ prof-record --wrap=statistics.mean --wrap=json.dumps script.py
 *   $ prof-record --calibrate -o out/run train.py --steps=100 && prof-top out/run
 *   $ prof-record --calls='cbrt,XOpen*' ./simulator
 */
#include "base/filter.h"
#include "base/str.h"
#include "prof/calibrate.h"
#include "prof/launch.h"
#include HELP
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *out = "prof.out", *python, *calls, *pid;
static struct list rules;
static long judge = 50, max_events, max_passes, skip_after, ring;
static uint64_t limit;
static double delay;
static bool tree, bare, waits, force, gpu, calibrate, each;
enum { ROUNDS = 5 };
static const struct opt options[] = {
    { 'o', "out", STR, &out, "DIR", "directory for the logs, made if missing" },
    { 0, "wrap", LIST, &rules, "PATTERN[=CATEGORY]", "record MODULE.FUNCTION in place [Backend]; repeatable" },
    { 0, "tree", FLAG, &tree, NULL, "record the whole call tree" },
    { 0, "bare", FLAG, &bare, NULL, "record only what --wrap names" },
    { 0, "wait", FLAG, &waits, NULL, "only between enable_profiling and disable_profiling" },
    { 0, "calls", STR, &calls, "NAME,...", "C functions recorded by the preload library; * and ? match" },
    { 0, "gpu", FLAG, &gpu, NULL, "record kernels, copies and CUDA calls" },
    { 0, "calibrate", FLAG, &calibrate, NULL, "find out what recording costs it, by 9 more runs" },
    { 0, "judge", INT, &judge, "HZ", "samples a second that say how much of C was seen; 0: none", 0, 10000 },
    { 0, "delay", NUM, &delay, "SECONDS", "record only after that", 0, 1e9 },
    { 0, "max-events", INT, &max_events, "N", "stop after so many records of a process; 0: never", 0, 1e15 },
    { 0, "limit", SIZE, &limit, "BYTES", "stop after so many bytes of a process, and say so; 0: never", 0, 1e18 },
    { 0, "max-passes", INT, &max_passes, "N", "stop after so many end_pass() of a process; 0: never", 0, 1e9 },
    { 0, "skip-after", INT, &skip_after, "N", "of more calls of a function keep only their number; 0: all", 0, 1e9 },
    { 0, "each", FLAG, &each, NULL, "a row for each call, also of what is short and called 100 000 times a second" },
    { 0, "ring", INT, &ring, "N", "keep the last N records of a thread, and some before; 0: all", 0, 1e9 },
    { 0, "force", FLAG, &force, NULL, "remove the logs of an earlier run from DIR" },
    { 0, "pid", STR, &pid, "N", "refused: of a program that runs already py-spy takes samples" },
    { 0, "python", STR, &python, "PROGRAM",
      "interpreter for scripts [the script's own, the active environment's, PATH's]" },
    { 0 } };

int main(int argc, char **argv)
{
    int of_python = launch_python_option(argc, argv, options);   /* where our own end */
    int i = filter_init_strict(of_python, argv, help, options);
    if (pid)
        usage("only what prof-record starts can be recorded; of a program that runs: py-spy record --pid=%s "
              "--format=raw -o stacks, then prof-import --from=folded stacks", pid);
    if (i == argc) usage("no program given");
    if (!calls && !gpu) launch_refuse_isolated(argv + i);
    char *dir = launch_directory(out, force);
    setenv("MILLRACE_PROF_DIR", dir, 1);
    struct buf all = { 0 };
    for (int k = 0; k < rules.n; k++) buf_format(&all, "%s\n", rules.v[k]);
    setenv("MILLRACE_PROF_RULES", all.n ? all.s : "", 1);
    setenv("MILLRACE_PROF_TREE", tree ? "1" : "0", 1);
    setenv("MILLRACE_PROF_DEFAULTS", bare ? "0" : "1", 1);
    setenv("MILLRACE_PROF_WAIT", waits ? "1" : "0", 1);
    launch_set_number("MILLRACE_PROF_JUDGE", (double)judge);
    launch_set_number("MILLRACE_PROF_DELAY", delay);
    launch_set_number("MILLRACE_PROF_MAX_EVENTS", (double)max_events);
    launch_set_number("MILLRACE_PROF_LIMIT", (double)limit);
    launch_set_number("MILLRACE_PROF_QUIET", quiet);
    launch_set_number("MILLRACE_PROF_RING", (double)ring);
    launch_set_number("MILLRACE_PROF_MAX_PASSES", (double)max_passes);
    launch_set_number("MILLRACE_PROF_SKIP_AFTER", (double)skip_after);
    launch_set_number("MILLRACE_PROF_FILTERS", launch_filters());
    launch_set_number("MILLRACE_PROF_EACH", each || calibrate);
    bool script = i == of_python || launch_is_script(argv[i]);
    char *extension = launch_library("millrace_prof.py", script);
    if (extension) {
        *strrchr(extension, '/') = '\0';
        launch_add_path("PYTHONPATH", extension, true);
    }
    if (calls) {
        /* behind what is there: a sanitizer's runtime must stay first */
        launch_add_path("LD_PRELOAD", launch_library("libmillrace-calls.so", true), false);
        setenv("MILLRACE_PROF_CALLS", calls, 1);
    }
    if (gpu) setenv("CUDA_INJECTION64_PATH", launch_library("libmillrace-gpu.so", true), 1);
    const char **command = xcalloc((size_t)(argc - i) + 2, sizeof *command);
    int n = 0;
    if (script) command[n++] = python ? python : launch_python(i == of_python ? NULL : argv[i]);
    for (int k = i; k < argc; k++) command[n++] = argv[k];
    launch_set_number("MILLRACE_PROF_MAIN", calibrate ? 0 : (double)getpid());   /* this process becomes the program */
    if (calibrate) return calibrate_program(dir, (char *const *)(uintptr_t)command, ROUNDS);
    execvp(command[0], (char *const *)(uintptr_t)command);
    die_errno("%s", command[0]);
}
