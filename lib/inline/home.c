#include "inline/home.h"
#include "base/message.h"
#include "inline/attributes.h"
#include "inline/emit.h"
#include "table/record.h"
#include <errno.h>
#include <math.h>
#include <sys/stat.h>

static const double STALE = 0.9; /* of the calls to inline are there: below, another program was measured */

static void must(const struct home *h, const char *why)
{
    if (why) die("%s: %s", h->work->program->name, why);
}

static void write_one(csvw *w, const struct home *h, const struct field *field, const void *record)
{
    csvw_names(w, "program,compiler");
    record_names(w, field);
    csvw_end(w);
    csvw_cstr(w, h->work->program->name);
    csvw_cstr(w, h->work->compiler);
    record_write(w, field, record);
    csvw_end(w);
}

bool home_attributes(const struct home *h, csvw *w)
{
    struct row { struct attributed a; double share; } r = { 0 };
    static const struct field field[] = {
        { "always_inline", F_SIZE, offsetof(struct row, a.always) },
        { "noinline", F_SIZE, offsetof(struct row, a.never) },
        { "mixed", F_SIZE, offsetof(struct row, a.mixed) },
        { "elsewhere", F_SIZE, offsetof(struct row, a.elsewhere) },
        { "calls", F_SIZE, offsetof(struct row, a.calls) },
        { "expressed", F_SIZE, offsetof(struct row, a.expressed) },
        { "share", F_KNOWN, offsetof(struct row, share) },
        { "folder", F_TEXT, offsetof(struct row, a.top) },
        { 0 }
    };
    if (mkdir(h->directory, 0777) != 0 && errno != EEXIST) die_errno("%s", h->directory);
    must(h, attributes_patch(h->work, h->level, h->wanted, xformat("%s/attributes.patch", h->directory), &r.a));
    r.share = r.a.calls ? (double)r.a.expressed / (double)r.a.calls : NAN;
    write_one(w, h, field, &r);
    return true;
}

bool home_gcc(const struct home *h, csvw *w)
{
    static const struct field field[] = { { "inlined", F_SIZE, 0 }, { 0 } };
    size_t inlined;
    must(h, emit_gcc(h->work, h->level, h->wanted, h->directory, &inlined));
    write_one(w, h, field, &inlined);
    return true;
}

bool home_replay(const struct home *h, csvw *w)
{
    static const struct field field[] = {
        { "compile_yes", F_SIZE, offsetof(struct emitted, yes[0]) },
        { "compile_no", F_SIZE, offsetof(struct emitted, no[0]) },
        { "link_yes", F_SIZE, offsetof(struct emitted, yes[1]) },
        { "link_no", F_SIZE, offsetof(struct emitted, no[1]) },
        { "rounds", F_SIZE, offsetof(struct emitted, rounds) },
        { "differ", F_SIZE, offsetof(struct emitted, differ) },
        { "same_text", F_YES, offsetof(struct emitted, same_text) },
        { "text_bytes", F_NUM, offsetof(struct emitted, text_bytes) },
        { "emitted_text_bytes", F_NUM, offsetof(struct emitted, open_text_bytes) },
        { "asked", F_SIZE, offsetof(struct emitted, asked) },
        { "applied", F_SIZE, offsetof(struct emitted, applied) },
        { 0 }
    };
    struct emitted e;
    must(h, emit_replay(h->work, h->level, h->wanted, h->directory, &e));
    write_one(w, h, field, &e);
    if ((double)e.applied < STALE * (double)e.asked)
        warn("%s: stale: of %zu calls that %s inlines the source has %zu; search again", h->work->program->name,
             e.asked, h->file, e.applied);
    return e.differ == 0;
}
