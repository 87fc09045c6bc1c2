/* place-graph.c - fuzz target: a graph that is accepted is written so that it reads back and writes the same bytes. */
#include "fuzz.h"
#include "tensor/graph.h"
#include "base/str.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { FIRST = 100, MOST = 1 << 20 };
static char path[64], first[64], second[64];

static void read_only(const uint8_t *data, size_t n)
{
    snprintf(path, sizeof path, "/proc/self/fd/%d", fuzz_file(data, n));
    graph_read(path);
}

static void twice(const uint8_t *data, size_t n)
{
    snprintf(path, sizeof path, "/proc/self/fd/%d", fuzz_file(data, n));
    struct graph *g = graph_read(path);
    graph_write(g, first);
    struct graph *h = graph_read(first);
    graph_write(h, second);
    fuzz_check(graph_peak(g) == graph_peak(h) && g->nkernel == h->nkernel, "another graph came back");
    graph_free(g);
    graph_free(h);
}

static size_t bytes_of(const char *file, char *to)
{
    int fd = open(file, O_RDONLY);
    ssize_t n = read(fd, to, MOST);
    close(fd);
    return n < 0 ? 0 : (size_t)n;
}

/* the harness gets its files, then all low numbers are taken: what is opened from now on is closed after each run */
static void take_descriptors(void)
{
    for (int slot = 0; slot < 8; slot++) close(fuzz_reuse(slot));
    for (int fd = open("/dev/null", O_RDONLY); fd < FIRST; ) fd = dup(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static char a[MOST], b[MOST];
    if (!*first) {
        take_descriptors();
        snprintf(first, sizeof first, "/dev/shm/fuzz-graph-%ld.1", (long)getpid());
        snprintf(second, sizeof second, "/dev/shm/fuzz-graph-%ld.2", (long)getpid());
    }
    if (!fuzz_run(read_only, data, n)) return 0;
    fuzz_check(fuzz_run(twice, data, n), "what was written is not accepted");
    size_t na = bytes_of(first, a), nb = bytes_of(second, b);
    fuzz_check(na == nb && memcmp(a, b, na) == 0, "the second copy differs");
    unlink(first);
    unlink(second);
    return 0;
}
