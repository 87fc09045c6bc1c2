/* count.h - costs that do not depend on noise: instructions, modelled cycles, sizes, allocations.
 *
 * Instructions: qemu-user with a plugin of ours, 2 to 12 times slower than native, exact; other architectures'
 * programs run too.  Where qemu has no plugins (Debian 13's is static): callgrind, 60 times slower, with the same
 * counts in the program's own functions; libraries choose other code there.  Cycles: a model, instructions + 10 x
 * first-level misses + 100 x last-level misses + 10 x mispredictions, of cachegrind, about 30 times slower.
 * Allocations: a preloaded counter, native speed, dynamic programs only.  All of the first process only; processes
 * that it starts are not counted.  Sizes: read from the ELF file, not run at all.  Exact means: a second run gives
 * the same number, for another user too, and on another machine with the same libraries (the loader's search in
 * /etc/ld.so.cache takes some hundred instructions, by what else is installed).
 * Since a program's start reads its whole environment, everything is counted in a small one that is always the same. */
#ifndef MILLRACE_COUNT_H
#define MILLRACE_COUNT_H
#include "measure/child.h"
#include <stdint.h>

enum count_metric {
    COUNT_INSTRUCTIONS,
    COUNT_CYCLES,
    COUNT_CODE,
    COUNT_TEXT,
    COUNT_ALLOCATIONS,
    COUNT_ALLOCATED,
    COUNT_READS,                                         /* the rest: cachegrind's events, see count_events */
    COUNT_WRITES,
    COUNT_FETCH_MISSES,
    COUNT_READ_MISSES,
    COUNT_WRITE_MISSES,
    COUNT_LAST_MISSES,
    COUNT_BRANCHES,
    COUNT_INDIRECT,
    COUNT_MISPREDICTIONS,
    COUNT_METRICS
};
/* instructions, modelled_cycles, code_bytes, text_bytes, allocations, allocated_bytes, data_reads, data_writes,
 * fetch_misses, read_misses, write_misses (of the first level), last_misses, branches (conditional),
 * indirect_branches, mispredictions */
extern const char *const count_name[];

struct counts {
    double value[COUNT_METRICS];                         /* nan: not counted */
    const char *backend;                                 /* qemu-user plugin, callgrind, cachegrind, elf, preload */
    const char *why;                                     /* why not; NULL when all is well */
    /* of the counted run, slowed down; output hash and exit status are real */
    struct ran ran;
};

/* The environment that programs are counted in: PATH, HOME, LC_ALL, TZ and TMPDIR, the same values for all, and those
 * variables of ours that are kept by name (LD_LIBRARY_PATH always).  For child.env; NULL there means nothing kept. */
char **count_environment(const char *const *keep, int n);

/* each fills its own metrics and leaves the others nan; c->argv is the command without the counter */
/* Look where this program lies, before it gets mounts of its own: in a chroot it could not say so then. */
void count_begin(void);
/* Instructions, and unless b is NULL where: those executed in the blocks that begin at each address of the program as
 * it lies in memory, sorted by address.  Arrays are the caller's to free; b->n is 0 when nothing was counted. */
struct blocks { uint64_t *address, *count; size_t n; };
struct counts count_blocks(const struct child *c, struct blocks *b);
struct counts count_cycles(const struct child *c);
struct counts count_events(const struct child *c);       /* what the cycles are made of, each by itself */
struct counts count_allocations(const struct child *c);
/* ELF64 program, library or object: code_bytes: executable sections; text_bytes: all that is loaded and not written,
   as size(1) prints */
struct counts count_size(const char *path);
char *program_path(const char *name);                    /* as execvp finds it, NULL if not; caller frees */
char *program_in(const char *directory, const char *name);       /* for one that is started there, NULL: here */
#endif
