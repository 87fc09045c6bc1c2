#include "rl/checkpoint.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/out.h"
#include "base/str.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct header { char magic[24], kind[16]; uint64_t task; };
static const char magic[24] = "millrace checkpoint 1\n";

struct checkpoint { const char *path; struct out *out; FILE *f; uint64_t hash; };

static struct header header_of(const char *kind, uint64_t task)
{
    struct header h = { .task = task };
    memcpy(h.magic, magic, sizeof h.magic);
    snprintf(h.kind, sizeof h.kind, "%s", kind);
    return h;
}

struct checkpoint *checkpoint_create(const char *path, const char *kind, uint64_t task)
{
    struct checkpoint *c = xcalloc(1, sizeof *c);
    c->path = path;
    c->out = out_open(path);
    c->f = out_file(c->out);
    struct header h = header_of(kind, task);
    checkpoint_item(c, &h, sizeof h);
    return c;
}

static void verify(struct checkpoint *c, const void *p, size_t bytes)
{
    uint64_t hash;
    c->hash = hash_bytes(p, bytes, c->hash);
    if (fread(&hash, sizeof hash, 1, c->f) != 1 || hash != c->hash) checkpoint_damaged(c);
}

struct checkpoint *checkpoint_open(const char *path, const char *kind, uint64_t task)
{
    FILE *f = fopen(path, "rb");
    if (!f && errno == ENOENT) return NULL;
    if (!f) die_errno("%s", path);
    struct header h = { 0 }, want = header_of(kind, task);
    if (fread(&h, sizeof h, 1, f) != 1 || memcmp(h.magic, magic, sizeof magic)) die("%s: not a checkpoint", path);
    if (strncmp(h.kind, want.kind, sizeof h.kind))
        die("%s: a checkpoint of %.*s, not of %s", path, (int)sizeof h.kind, h.kind, kind);
    if (h.task != task) die("%s: a checkpoint of another training (problems, options or seed)", path);
    struct checkpoint *c = xcalloc(1, sizeof *c);
    *c = (struct checkpoint){ .path = path, .f = f };
    verify(c, &h, sizeof h);
    return c;
}

void checkpoint_item(struct checkpoint *c, void *p, size_t bytes)
{
    if (!bytes) return;
    if (c->out) {                                        /* errors of writing are found at the end */
        fwrite(p, 1, bytes, c->f);
        c->hash = hash_bytes(p, bytes, c->hash);
        fwrite(&c->hash, sizeof c->hash, 1, c->f);
    } else {
        if (fread(p, 1, bytes, c->f) != bytes) checkpoint_damaged(c);
        verify(c, p, bytes);
    }
}

void checkpoint_damaged(const struct checkpoint *c)
{
    die("%s: cut short or damaged", c->path);
}

void checkpoint_close(struct checkpoint *c)
{
    if (c->out) {
        out_close(c->out);
    } else {
        if (getc(c->f) != EOF) checkpoint_damaged(c);
        fclose(c->f);
    }
    free(c);
}
