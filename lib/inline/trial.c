/* trial.c - see trial.h */
#include "inline/trial.h"
#include "inline/isolate.h"
#include "inline/parts.h"
#include "inline/stock.h"
#include "inline/tool.h"
#include "base/message.h"
#include "base/out.h"
#include "base/progress.h"
#include "measure/clock.h"
#include "measure/count.h"
#include "table/csvio.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    NAME_LENGTH = 150,                                   /* of the executable that is counted, its folder and all */
    LEAST_OWN = 100000                                   /* instructions of a run that tells anything */
};

struct result {
    char decisions[64];
    const char *state, *reason;
    double instructions, text_bytes, build_seconds;
    size_t asked, obeyed, inlined;
    uint64_t output;
    struct parts parts;
    struct buf runs;                                     /* instructions of each */
};

void trials_begin(struct trials *t)
{
    if (mkdir(t->store, 0777) != 0 && errno != EEXIST) die_errno("%s", t->store);
    csvw_close(csvw_append(t->history, HISTORY_COLUMNS));        /* cuts a torn row before anybody reads or appends */
    char *paths[] = { (char *)(uintptr_t)t->history, NULL };
    history_read(&t->known, paths);
    struct stat st;
    if (stat(t->history, &st) != 0 || st.st_size == 0) return;
    csv *c = csv_open(t->history);
    int decisions = csv_need(c, "decisions"), output = csv_need(c, "output_hash");
    while (csv_next(c))
        if (str_is(csv_str(c, decisions), "default"))
            snprintf(t->reference, sizeof t->reference, "%.*s", (int)csv_str(c, output).n, csv_str(c, output).s);
    csv_close(c);
    const struct tried *base = history_find(&t->known, str_of("default"));
    if (base && !base->ok && !str_is(base->state, "missing"))    /* a compiler that is missing may come */
        die("%s: the compiler's own build failed (%.*s), so there is nothing to compare others with; mend the program "
            "or its runs, then begin another history", t->history, (int)base->reason.n, base->reason.s);
    size_t runs = t->work->program->nsearch;
    if (t->run && base && base->nrun && base->nrun != runs)
        die("%s: its rows are of %zu runs, the program has %zu to search on: other inputs want another history",
            t->history, base->nrun, runs);
}

void trials_add(struct trials *t, struct trial one)
{
    t->v = grow(t->v, t->n + 1, &t->cap, sizeof *t->v);
    t->v[t->n++] = one;
}

/* Count the search runs in that folder; false with state and reason when one of them is no good. */
static bool count_runs(const struct trials *t, const char *exe, const char *directory, struct result *r)
{
    r->instructions = 0;
    r->output = 0;
    for (size_t i = 0; i < t->work->program->nsearch; i++) {
        const struct program_run *run = &t->work->program->search_run[i];
        run->argv[0] = (char *)(uintptr_t)exe;
        struct child c = { .argv = run->argv,
                           .directory = directory,
                           .input = run->input,
                           .limits = { .wall_seconds = 4 * t->limit_seconds,
                                       .cpu_seconds = t->limit_seconds,
                                       .output_bytes = (uint64_t)1 << 31 } };
        struct blocks blocks;
        struct counts n = count_blocks(&c, &blocks);
        parts_add_run(&r->parts, exe, &blocks);
        free(blocks.address);
        free(blocks.count);
        if (n.why || n.ran.how != RAN_EXIT) {
            r->state = "run";
            r->reason = n.why ? n.why : ran_word(&n.ran);
            return false;
        }
        /* its input is missing, say; bench-run would refuse it, too */
        if (n.ran.code != run->status && !t->reference[0]) {
            r->state = "run";
            r->reason = xformat("run %zu ends with exit status %d, not %d; where that is well a line `status` says so",
                                i + 1, n.ran.code, run->status);
            return false;
        }
        double own = parts_run(&r->parts, i);
        if (own < LEAST_OWN && !t->reference[0])
            warn("%s: search run %zu executes %.0f instructions of the program's own, fewer than %d: it says little",
                 t->work->program->name, i + 1, own, LEAST_OWN);
        r->instructions += n.value[COUNT_INSTRUCTIONS];
        buf_format(&r->runs, "%s%.0f", i ? " " : "", n.value[COUNT_INSTRUCTIONS]);
        uint64_t both[2] = { r->output, n.ran.output_hash + (uint64_t)n.ran.code };
        r->output = hash_bytes(both, sizeof both, 0);
    }
    return true;
}

/* The same in isolation: what the runs leave in the program's folder is a part of the output, and is not left there. */
static bool measure(const struct trials *t, const char *exe, struct result *r)
{
    struct isolation apart;
    struct isolated left;
    r->state = "run";
    count_begin();
    r->reason = isolate_begin(&apart, t->work->program->directory, false);
    if (r->reason) return false;
    r->state = "ok";
    bool good = count_runs(t, exe, apart.directory, r);
    isolate_end(&apart, &left);
    if (left.why) {
        r->state = "run";
        r->reason = left.why;
        return false;
    }
    if (!good) return false;
    if (left.files) r->output = hash_bytes(&left.files_hash, sizeof left.files_hash, r->output);
    char hash[17];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)r->output);
    if (t->reference[0] && strcmp(hash, t->reference) != 0) {
        r->state = "output";
        r->reason = "output differs from that of the default";
        return false;
    }
    return true;
}

static void build_and_measure(const struct trials *t, const struct trial *one, const struct live *set, struct result *r)
{
    /* what a program is called lies on its stack and is read at its start, so all have names of one length, as in
     * pipelines/measure: that of the folder holds a process number */
    char *folder = out_scratch_even("run"), *exe = xformat("%s/%0*d", folder, NAME_LENGTH - (int)strlen(folder), 0);
    struct live did = { 0 };
    double begin = now_seconds();
    const char *why = one->stock ? stock_build(t->work, one->name, exe)
                                 : work_build(t->work, t->level, one->name && !one->nothing ? NULL : set,
                                              one->threshold, exe, t->complete, &did);
    r->build_seconds = now_seconds() - begin;
    r->state = "ok";
    if (why) {
        r->state = t->work->missing ? "missing" : "build";
        r->reason = why;
    } else {
        r->inlined = live_inlined(&did);
        for (size_t i = 0; i < set->n; i++) {
            const struct live_site *d = live_find(&did, set->v[i].site);
            r->asked += set->v[i].inlined;
            r->obeyed += set->v[i].inlined && d && d->inlined;
        }
        r->text_bytes = count_size(exe).value[COUNT_TEXT];
        parts_of_program(&r->parts, exe);
        if (t->run && !measure(t, exe, r)) r->instructions = NAN;
        char *parts = xformat("%s/%s.parts.csv", t->store, r->decisions);
        parts_write(&r->parts, parts);
        free(parts);
        parts_free(&r->parts);
        char *path = xformat("%s/%s.sexp", t->store, r->decisions);
        live_write(&did, path, t->work->program->name, t->work->compiler);
        free(path);
    }
    unlink(exe);
    rmdir(folder);
    free(exe);
    free(folder);
    live_free(&did);
}

static void write_row(csvw *w, const struct trials *t, const struct trial *one, const struct result *r)
{
    bool ok = strcmp(r->state, "ok") == 0;
    csvw_cstr(w, t->work->program->name);
    csvw_cstr(w, r->decisions);
    csvw_cstr(w, one->parent);
    csvw_cstr(w, one->chain);
    csvw_cstr(w, one->step);
    csvw_cstr(w, t->level);
    csvw_cstr(w, r->state);
    csvw_cstr(w, r->reason);
    csvw_known(w, ok && t->run ? r->instructions : NAN);
    csvw_known(w, ok ? r->text_bytes : NAN);
    csvw_int(w, (int64_t)r->asked);
    csvw_int(w, (int64_t)r->obeyed);
    csvw_int(w, (int64_t)r->inlined);
    csvw_format(w, "%.3f", r->build_seconds);
    if (ok && t->run) csvw_format(w, "%016llx", (unsigned long long)r->output);
    else csvw_empty(w);
    csvw_cstr(w, ok ? "real" : "");
    csvw_str(w, (str){ r->runs.s, ok ? r->runs.n : 0 });
}

/* what the row of this trial will be called; its set into *set */
static void identify(const struct trials *t, const struct trial *one, struct live *set, char name[64])
{
    live_clear(set);
    if (one->name) {
        snprintf(name, 64, "%s", one->name);
        return;
    }
    struct live wanted = { 0 };
    live_read(&wanted, one->file);
    work_only_legal(t->work, &wanted, set);
    live_free(&wanted);
    snprintf(name, 64, "%016llx", (unsigned long long)live_hash(set));
}

static bool is_known(const struct trials *t, const char *name, const struct trial *one)
{
    for (size_t i = 0; i < t->known.n; i++) {
        const struct tried *k = &t->known.v[i];
        if (!str_eq(k->decisions, str_of(name))) continue;
        if (str_is(k->state, "missing") && !t->work->missing) continue;      /* the compiler has come */
        if (!one->chain || str_is(k->chain, one->chain)) return true;
    }
    return false;
}

static void one_trial(const struct trials *t, const struct trial *one)
{
    struct live set = { 0 };
    struct result r = { .instructions = NAN, .text_bytes = NAN };
    identify(t, one, &set, r.decisions);
    build_and_measure(t, one, &set, &r);
    csvw *w = csvw_append(t->history, HISTORY_COLUMNS);
    write_row(w, t, one, &r);
    csvw_end(w);
    csvw_close(w);
    free(r.runs.s);
    live_free(&set);
}

/* the text of a file of the store, which goes away; empty where the trial did not come that far */
static void take_text(csvw *w, const struct trials *t, const char *decisions, const char *suffix)
{
    char *path = xformat("%s/%s%s", t->store, decisions, suffix);
    struct buf text = { 0 };
    file_read(path, &text);
    unlink(path);
    csvw_str(w, (str){ text.s, text.n });
    free(text.s);
    free(path);
}

void trial_answer(const struct trials *asked, const struct trial *one)
{
    char *store = out_scratch("store");
    struct trials t = *asked;
    t.store = store;
    struct live set = { 0 };
    struct result r = { .instructions = NAN, .text_bytes = NAN };
    identify(&t, one, &set, r.decisions);
    build_and_measure(&t, one, &set, &r);
    csvw *w = csvw_open(NULL);
    csvw_names(w, TRIAL_COLUMNS);
    csvw_end(w);
    write_row(w, &t, one, &r);
    take_text(w, &t, r.decisions, ".parts.csv");
    take_text(w, &t, r.decisions, ".sexp");
    csvw_end(w);
    rmdir(store);
    free(store);
    csvw_close(w);
    live_free(&set);
}

/* the set as it was given, on one line: blanks of any kind separate the same way in an s-expression */
static void put_set(csvw *w, const char *path)
{
    struct buf text = { 0 };
    if (!file_read(path, &text)) die_errno("%s", path);
    for (size_t i = 0; i < text.n; i++) if (text.s[i] == '\n') text.s[i] = ' ';
    csvw_str(w, (str){ text.s, text.n });
    free(text.s);
}

static void put_option(struct buf *b, const char *name, const char *value)
{
    if (!value || !*value) return;
    buf_format(b, " --%s=", name);
    shell_quote(b, value);
}

/* paths below the root of the file system: where a job runs, that may be a folder */
static void put_command(struct buf *b, const struct trials *t, const struct trial *one)
{
    char *work = realpath(t->work->path, NULL), limit[32];
    if (!work) die_errno("%s", t->work->path);
    snprintf(limit, sizeof limit, "%g", t->limit_seconds);
    b->n = 0;
    buf_format(b, "inline-run --answer --root=.");
    put_option(b, "level", t->level);
    put_option(b, "timeout", limit);
    if (!t->run) buf_format(b, " --text-only");
    if (t->complete) buf_format(b, " --complete");
    put_option(b, "reference", t->reference);
    put_option(b, "parent", one->parent);
    put_option(b, "chain", one->chain);
    put_option(b, "step", one->step);
    put_option(b, "threshold", one->threshold);
    if (one->stock) put_option(b, "stock", one->name);
    else if (one->nothing) buf_format(b, " --none");
    else if (one->name && !one->threshold) buf_format(b, " --default");
    buf_char(b, ' ');
    shell_quote(b, work + 1);
    free(work);
}

void trials_plan(struct trials *t)
{
    struct live set = { 0 };
    struct intern planned = { 0 };
    struct buf b = { 0 };
    char name[64];
    bool reference = history_find(&t->known, str_of("default")) != NULL;
    for (size_t i = 0; i < t->n && !reference; i++) reference = t->v[i].name && strcmp(t->v[i].name, "default") == 0;
    bool alone = reference && !history_find(&t->known, str_of("default"));
    csvw *w = csvw_open(NULL);
    csvw_names(w, "job,command,stdin");
    csvw_end(w);
    for (size_t i = 0; i < t->n; i++) {
        const struct trial *one = &t->v[i];
        identify(t, one, &set, name);
        if (is_known(t, name, one) || (alone && strcmp(name, "default") != 0)) continue;
        char *job = one->chain && *one->chain ? xformat("%s@%s", name, one->chain) : xstrdup(name);
        size_t before = planned.n;
        if (intern(&planned, str_of(job)) == before) {
            csvw_cstr(w, job);
            put_command(&b, t, one);
            csvw_str(w, (str){ b.s, b.n });
            if (one->name) csvw_empty(w);
            else put_set(w, one->file);
            csvw_end(w);
        }
        free(job);
    }
    csvw_close(w);
    live_free(&set);
}

static void store_text(const struct trials *t, const csv *c, int decisions, int text, const char *suffix)
{
    if (!csv_has(c, text)) return;
    str name = csv_str(c, decisions), s = csv_str(c, text);
    char *path = xformat("%s/%.*s%s", t->store, (int)name.n, name.s, suffix);
    struct out *o = out_open(path);
    fwrite(s.s, 1, s.n, out_file(o));
    out_close(o);
    free(path);
}

void trials_take(struct trials *t, const char *path)
{
    csv *c = csv_open(path);
    int decisions = csv_need(c, "decisions"), chain = csv_need(c, "chain"), parts = csv_need(c, "parts"),
        set = csv_need(c, "set");
    struct arena text = { 0 };
    csvw *w = csvw_append(t->history, HISTORY_COLUMNS);
    while (csv_next(c)) {
        str name = csv_str(c, decisions);
        for (size_t i = 0; i < name.n; i++)
            if (!isalnum((unsigned char)name.s[i]) && name.s[i] != '-') csv_die(c, decisions, "the name of a set");
        struct trial one = { .chain = csv_has(c, chain) ? csv_cstr(c, chain, &text) : NULL };
        if (!name.n || is_known(t, csv_cstr(c, decisions, &text), &one)) continue;
        store_text(t, c, decisions, parts, ".parts.csv");
        store_text(t, c, decisions, set, ".sexp");
        for (int i = 0; i < csv_ncol(c); i++) if (i != parts && i != set) csvw_copy(w, c, i);
        csvw_end(w);
    }
    csvw_close(w);
    csv_close(c);
    arena_free(&text);
    t->known.n = 0;
    trials_begin(t);                                     /* is the default among them, and no good? */
}

static void wait_one(long *running)
{
    int status;
    while (waitpid(-1, &status, 0) < 0) if (errno != EINTR) die_errno("wait");
    --*running;
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_OK) return;
    while (*running && waitpid(-1, NULL, 0) > 0) --*running;
    die("a trial ended badly (status %d)", status);
}

void trials_run(struct trials *t)
{
    struct live set = { 0 };
    char name[64];
    long running = 0;
    progress_start("trying decisions", (double)t->n);
    for (size_t i = 0; i < t->n; i++) {
        identify(t, &t->v[i], &set, name);
        progress((double)i, "%s", name);
        if (is_known(t, name, &t->v[i])) continue;
        bool reference = strcmp(name, "default") == 0;
        if (running >= t->jobs) wait_one(&running);
        pid_t pid = fork();
        if (pid < 0) die_errno("fork");
        if (pid == 0) {
            one_trial(t, &t->v[i]);
            _exit(EXIT_OK);
        }
        running++;
        if (!reference) continue;
        while (running) wait_one(&running);              /* the others compare their output with it */
        t->known.n = 0;
        trials_begin(t);
    }
    while (running) wait_one(&running);
    progress_end();
    live_free(&set);
}
