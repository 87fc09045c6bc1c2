/* policy.c - fuzz target: a learned network that is accepted judges finite inputs with numbers and reads back equal; a
 * checkpoint that was changed anywhere is refused. */
#include "fuzz.h"
#include "rl/agent.h"
#include "rl/checkpoint.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { ROWS = 2, MOST = 4096 };
static char first[1 << 16], second[1 << 16];
static size_t nfirst, nsecond;

static size_t written(const struct agent *g, char *to, size_t room)
{
    FILE *f = fmemopen(to, room, "w");
    sexpw *w = sexpw_file(f);
    agent_write(g, w);
    sexpw_close(w);
    size_t n = (size_t)ftell(f);
    fclose(f);
    return n;
}

static struct agent read_text(const char *text, size_t n, const char *name)
{
    sexpr *r = sexp_open_text(text, n, name, SEXP_CORE);
    struct agent g = agent_read(sexp_only(r), 0, ROWS);
    sexp_close(r);
    return g;
}

static void judge(const struct agent *g)
{
    float *x = calloc((size_t)g->inputs * ROWS, sizeof *x), *q = calloc((size_t)g->actions * ROWS, sizeof *q);
    uint32_t mask[ROWS] = { 1, 3 };
    if (g->actions <= 32) agent_values(g, x, mask, ROWS, q);
    free(x);
    free(q);
}

static void read_write(const uint8_t *data, size_t n)
{
    struct agent g = read_text((const char *)data, n, "in");
    judge(&g);
    nfirst = written(&g, first, sizeof first);
    agent_free(&g);
}

static void read_again(const uint8_t *data, size_t n)
{
    (void)data;
    (void)n;
    struct agent g = read_text(first, nfirst, "again");
    nsecond = written(&g, second, sizeof second);
    agent_free(&g);
}

/* data: the items of a checkpoint, and (first bytes) where it is broken afterwards */
static char path[64];
static unsigned char back[MOST];
static void load(const uint8_t *data, size_t n)
{
    (void)data;
    struct checkpoint *c = checkpoint_open(path, "fuzz", 7);
    checkpoint_item(c, back, n / 2);
    checkpoint_item(c, back + n / 2, n - n / 2);
    checkpoint_close(c);
}

static void save(const uint8_t *data, size_t n)
{
    struct checkpoint *c = checkpoint_create(path, "fuzz", 7);
    checkpoint_item(c, (void *)(uintptr_t)data, n / 2);
    checkpoint_item(c, (void *)(uintptr_t)(data + n / 2), n - n / 2);
    checkpoint_close(c);
}

static void checkpoints(const uint8_t *data, size_t n)
{
    if (!*path) snprintf(path, sizeof path, "/dev/shm/fuzz-policy-%ld", (long)getpid());
    fuzz_check(fuzz_run(save, data, n), "a checkpoint is written");
    fuzz_check(fuzz_run(load, data, n) && !memcmp(back, data, n), "and read back");
    FILE *f = fopen(path, "r+b");
    fseek(f, 0, SEEK_END);
    long size = ftell(f), at = (data[0] | data[1] << 8) % size;
    fseek(f, at, SEEK_SET);
    int old = getc(f);
    fseek(f, at, SEEK_SET);
    putc(old ^ (1 << (data[2] & 7)), f);
    fclose(f);
    fuzz_check(!fuzz_run(load, data, n), "but not with one bit changed");
    fuzz_check(truncate(path, at) == 0 && !fuzz_run(load, data, n), "nor cut anywhere");
    unlink(path);
}

static void any_file(const uint8_t *data, size_t n)
{
    FILE *f = fopen(path, "wb");
    fwrite(data, 1, n, f);
    fclose(f);
    fuzz_check(!fuzz_run(load, data, n), "what is no checkpoint is refused");
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n > MOST || n < 4) return 0;
    if (data[3] < 128) {
        if (!fuzz_run(read_write, data, n)) return 0;
        fuzz_check(fuzz_run(read_again, data, n), "what was written is a network");
        fuzz_check(nfirst == nsecond && !memcmp(first, second, nfirst), "the same one");
    } else {
        checkpoints(data, n);
        if (n > 16) any_file(data, n);
    }
    return 0;
}
