/* work.c - see work.h */
#include "inline/work.h"
#include "inline/tool.h"
#include "base/message.h"
#include "base/out.h"
#include "table/csvio.h"
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void work_remove_begun(const char *directory)
{
    DIR *d = opendir(directory);
    if (!d) return;
    for (const struct dirent *e; (e = readdir(d));) {
        const char *name = e->d_name;
        size_t n = strlen(name);
        bool ours = strncmp(name, "unit", 4) == 0 || strncmp(name, "module", 6) == 0 || (*name >= '0' && *name <= '9');
        if (ours && n > 4 && strcmp(name + n - 4, ".tmp") == 0) unlinkat(dirfd(d), name, 0);
    }
    closedir(d);
}

void work_make(const char *path, const struct program *p, const struct compiler *c, enum build_scope scope,
               const char *profile)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST) die_errno("%s", path);
    char *absolute = realpath(path, NULL), *table = xformat("%s/program.csv", path);
    if (!absolute) die_errno("%s", path);
    work_remove_begun(path);
    if (unlink(table) != 0 && errno != ENOENT) die_errno("%s", table);
    char *units = xformat("%s/units.csv", path);
    program_write_units(p, units);
    const char *why = c->make(c, absolute, p, scope, profile);
    if (why) die("%s: %s", p->name, why);
    struct buf libraries = { 0 };
    program_quote(&libraries, p->libraries);
    csvw *w = csvw_open(table);                          /* last: with it the directory is complete */
    csvw_names(w, "name,set,package,build,search,confirm,directory,libraries,compiler,unit,profile,status");
    csvw_end(w);
    const char *field[] = { p->name,   p->set,       p->package,  p->build, p->search,
                            p->confirm, p->directory, libraries.s, c->name,  scope_name[scope], profile, p->status };
    for (size_t i = 0; i < sizeof field / sizeof *field; i++) csvw_cstr(w, field[i]);
    csvw_end(w);
    csvw_close(w);
    free_all(libraries.s, units, absolute, table);
}

void work_read_calls(struct work *w)
{
    char *never = xformat("%s/never.csv", w->path), *calls = xformat("%s/calls.csv", w->path);
    csv *t = csv_open(never);
    for (int callee = csv_need(t, "callee"), reason = csv_need(t, "reason"); csv_next(t);) {
        /* lto numbers static functions of one name anew, so what is said of one of them is said of all */
        str name = csv_str(t, callee), names[] = { name, site_plain(name) };
        for (int i = 0; i <= (w->scope == SCOPE_LTO); i++) {
            size_t k = intern(&w->never, names[i]);
            w->never_reason = grow(w->never_reason, k + 1, &w->cap_never, sizeof *w->never_reason);
            w->never_reason[k] = csv_cstr(t, reason, &w->text);
        }
    }
    csv_close(t);
    free(never);
    if (access(calls, R_OK) == 0) {
        static const char *const name[] = { "callee", "caller", "chain", "file",
                                            "line",   "column", "cost",  "threshold" };
        int col[8];
        t = csv_open(calls);
        for (int i = 0; i < 8; i++) col[i] = csv_need(t, name[i]);
        while (csv_next(t)) {
            struct call_row r = { .line = (uint32_t)csv_int(t, col[4]), .column = (uint32_t)csv_int(t, col[5]),
                                  .cost = csv_num_or(t, col[6], NAN), .threshold = csv_num_or(t, col[7], NAN) };
            str *part[] = { &r.callee, &r.caller, &r.chain, &r.file };
            for (int i = 0; i < 4; i++) {
                str s = csv_str(t, col[i]);
                *part[i] = (str){ arena_copy(&w->text, s.s, s.n), s.n };
            }
            w->call = grow(w->call, w->ncalls + 1, &w->cap_calls, sizeof *w->call);
            w->call[w->ncalls++] = r;
        }
        csv_close(t);
    }
    free(calls);
}

struct work *work_open(const char *path)
{
    struct work *w = xcalloc(1, sizeof *w);
    w->path = xstrdup(path);
    char *table = xformat("%s/program.csv", path), *units = xformat("%s/units.csv", path);
    if (access(table, R_OK) != 0) die_errno("%s (made by inline-module)", table);
    if (access(units, R_OK) != 0) die("%s: laid out by an older inline-module: make it again", path);
    out_sweep(path);                                     /* what a killed build left */
    char *cache = xformat("%s/cache", path);
    out_sweep(cache);
    free(cache);
    csv *t = csv_open(table);
    int unit = csv_need(t, "unit"), compiler = csv_need(t, "compiler"), profile = csv_need(t, "profile");
    if (!csv_next(t)) die_at(table, 2, "no row");
    snprintf(w->compiler, sizeof w->compiler, "%s", csv_cstr(t, compiler, &w->text));
    w->profile = xstrdup(csv_cstr(t, profile, &w->text));
    while (w->scope < SCOPE_LTO && !str_is(csv_str(t, unit), scope_name[w->scope])) w->scope++;
    if (!str_is(csv_str(t, unit), scope_name[w->scope])) csv_die(t, unit, "program, file or lto");
    csv_close(t);
    w->program = program_of_work(table, units);
    free(table);
    free(units);
    const char *why;
    w->adapter = compiler_find(w->compiler, &why);
    w->llvm = compiler_llvm(w->adapter);
    if (!w->adapter) w->missing = xstrdup(why);
    work_read_calls(w);
    return w;
}

struct work *work_open_llvm(const char *path)
{
    struct work *w = work_open(path);
    if (!w->llvm) die("%s: %s, and only clang's modules can be built in here", path, w->compiler);
    return w;
}

struct work *work_open_for(const char *path, const char *compiler)
{
    struct work *w = work_open(path);
    const char *why;
    if (!compiler) return w;
    const struct compiler *c = compiler_find(compiler, &why);
    if (c && strcmp(c->name, w->compiler) == 0) return w;
    w->path = xformat("%s/%s", path, c ? c->name : compiler);
    char *table = xformat("%s/program.csv", w->path);
    if (c && access(table, R_OK) != 0) work_make(w->path, w->program, c, w->scope, w->profile);
    if (access(table, R_OK) == 0) return work_open(w->path);
    snprintf(w->compiler, sizeof w->compiler, "%s", compiler);
    w->missing = xstrdup(why);
    w->adapter = NULL;
    w->llvm = NULL;
    return w;
}

const char *work_illegal(const struct work *w, str callee, str chain)
{
    if (!site_stable(chain)) return "merged location";
    if (site_recursive((struct site){ callee, chain })) return "recursive";
    long k = intern_find(&w->never, w->scope == SCOPE_LTO ? site_plain(callee) : callee);
    return k < 0 ? NULL : w->never_reason[k];
}

static bool in_source(const struct work *w, str callee, str chain)
{
    struct buf wanted = { 0 }, here = { 0 };
    bool found = w->ncalls == 0;                         /* not known */
    site_base_key(&wanted, (struct site){ callee, chain });
    for (size_t i = 0; i < w->ncalls && !found; i++) {
        if (!str_eq(w->call[i].callee, callee)) continue;
        site_base_key(&here, (struct site){ w->call[i].callee, w->call[i].chain });
        found = str_eq((str){ here.s, here.n }, (str){ wanted.s, wanted.n }) ||
                str_eq((str){ here.s, here.n }, site_plain((str){ wanted.s, wanted.n }));        /* f:3:5.2 -> f:3:5 */
    }
    free(wanted.s);
    free(here.s);
    return found;
}

const char *work_disobeyed(const struct work *w, const struct live_site *s, const struct live *did)
{
    static char sentence[256];
    const struct live_site *d = live_find(did, s->site);
    str chain = site_bare(s->site.chain);
    const char *end = memmem(chain.s, chain.n, " @ ", 3), *why = work_illegal(w, s->site.callee, s->site.chain);
    if (why) snprintf(sentence, sizeof sentence, "illegal: %s", why);
    else if (d) {
        snprintf(sentence, sizeof sentence, "refused: %.*s", d->reason.n ? (int)d->reason.n : 26,
                 d->reason.n ? d->reason.s : "the call is still there");
    } else if (!in_source(w, s->site.callee, s->site.chain)) return "no such call: not in the source";
    else if (!end) return "no such call: its code is gone";
    else if (w->adapter && !w->adapter->contexts) return "context: this compiler decides a call once";
    else {
        /* the call that brings this one: its own callee is the function of the innermost element */
        str inner = { s->site.chain.s, (size_t)(end - s->site.chain.s) };
        str outer = { end + 3, s->site.chain.n - inner.n - 3 };
        const char *colon = memchr(inner.s, ':', inner.n);
        str around = { inner.s, colon ? (size_t)(colon - inner.s) : inner.n };
        const struct live_site *o = live_find(did, (struct site){ around, outer });
        return o && o->inlined ? "no such call: inlined in its caller before or gone with its code"
                               : "no such call: the call around it is not inlined";
    }
    return sentence;
}

bool work_legal(const struct work *w, str callee, str chain)
{
    return !work_illegal(w, callee, chain);
}

void work_only_legal(const struct work *w, const struct live *wanted, struct live *legal)
{
    live_clear(legal);
    for (size_t i = 0; i < wanted->n; i++) {
        const struct live_site *s = &wanted->v[i];
        if (!s->inlined || work_legal(w, s->site.callee, s->site.chain)) live_add(legal, s->site, s->inlined);
    }
    live_sort(legal);
}

const char *work_build(const struct work *w, const char *level, const struct live *wanted, const char *threshold,
                       const char *exe, bool sites, struct live *did)
{
    if (w->missing) return w->missing;
    char *absolute = realpath(w->path, NULL);
    if (!absolute) die_errno("%s", w->path);
    struct build b = { .work = absolute, .program = w->program, .scope = w->scope, .profile = w->profile,
                       .level = level,
                       .threshold = threshold, .wanted = wanted, .exe = exe, .sites = sites };
    if (did) live_clear(did);
    const char *why = w->adapter->build(w->adapter, &b, did);
    if (did) live_sort(did);
    free(absolute);
    return why;
}
