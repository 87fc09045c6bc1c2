/* child.h - run one command under limits, in a process group of its own, and say exactly what it cost.
 *
 * No shell: argv is executed directly.  Standard output goes to memory, so that nobody has to run beside the command to
 * drain a pipe, and is hashed after its end.  When the first process ends, all that is left of its group is killed.
 * The child dies with its parent, also by kill -9.  Times: wall is CLOCK_MONOTONIC around exec and exit; user and
 * system are those of wait4(2), with waited-for descendants.  Never dies because of what the command does. */
#ifndef MILLRACE_CHILD_H
#define MILLRACE_CHILD_H
#include "base/str.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct limits {                                          /* 0 everywhere: no limit */
    double wall_seconds;                                 /* the group is killed, the time is censored: more than this */
    double cpu_seconds;                                  /* per process, rounded up to whole seconds */
    uint64_t memory_bytes;                               /* address space per process */
    uint64_t output_bytes;                               /* largest file it may write, standard output included */
};

struct child {
    char *const *argv;                                   /* NULL-terminated, argv[0] is looked up in PATH */
    char *const *env;                                    /* NULL: that of the parent */
    const char *directory;                               /* NULL: that of the parent */
    const char *input;                                   /* file for standard input; NULL: /dev/null */
    /* file for standard error; NULL: /dev/null; "-": the parent's */
    const char *error;
    struct limits limits;
    bool keep_output;                                    /* leave standard output in ran.output */
    /* called between fork and exec, may be NULL: attach counters */
    void (*started)(pid_t, void *);
    void *started_arg;
};

enum ran_how { RAN_EXIT, RAN_SIGNAL, RAN_TIMEOUT, RAN_CPU_LIMIT, RAN_OUTPUT_LIMIT, RAN_NOT_STARTED };

struct ran {
    enum ran_how how;                                    /* TIMEOUT and CPU_LIMIT: the times are lower bounds */
    int code, signal;                                    /* exit status, or -1 | signal, or 0 */
    int error;                                           /* NOT_STARTED: errno of exec */
    double wall_seconds, user_seconds, system_seconds, cpu_seconds;
    /* peak of the largest process; nan when hidden below the parent's own, which the kernel counts in */
    double rss_bytes;
    long minor_faults, major_faults, voluntary_switches, involuntary_switches;
    int cpu;                                             /* where it ran last; -1 not known */
    uint64_t output_bytes, output_hash;                  /* hash_bytes with seed 0; 0 for no output */
    struct buf output;                                   /* with keep_output; the caller frees output.s */
};

struct ran child_run(const struct child *);
/* ok, exit, signal, timeout, cpu_limit, output_limit, not_started */
const char *ran_word(const struct ran *);

/* Split a command as sh would, quotes and backslashes included, into a NULL-terminated argv (free argv[0], then argv).
 * NULL and a sentence in *why when it has none or would need a shell: | & ; < > ( ) $ ` * ? [ ~ # outside quotes. */
char **shell_words(const char *command, const char **why);
void shell_words_free(char **);
void shell_quote(struct buf *, const char *word);        /* append so that sh reads it back as one word */
#endif
