/* jobs.c - see jobs.h */
#include "measure/jobs.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/num.h"
#include "measure/child.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* what may stand in a file name and in a word of sh as it is */
static bool is_name(str s)
{
    static const char legal[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:+=@%/-";
    for (size_t i = 0; i < s.n; i++) if (!memchr(legal, s.s[i], sizeof legal - 1)) return false;
    return s.n > 0 && s.n < 200 && s.s[0] != '-';
}

struct jobs jobs_read(const char *path)
{
    csv *t = csv_open(path);
    struct jobs j = { .job = csv_need(t, "job"), .command = csv_need(t, "command"), .input = csv_find(t, "input"),
                      .text = csv_find(t, "stdin"), .out = csv_find(t, "out") };
    j.table = table_like(t);
    while (csv_next(t)) {
        str name = csv_str(t, j.job), command = csv_str(t, j.command);
        if (!is_name(name)) csv_die(t, j.job, "a name of letters, digits and . _ : + = @ % / -");
        size_t before = j.name.n;
        if (intern(&j.name, name) < before) csv_die(t, j.job, "a new name: there is a job with it already");
        if (memchr(command.s, '\n', command.n)) csv_die(t, j.command, "one line");
        if (j.text >= 0 && memchr(csv_str(t, j.text).s, '\n', csv_str(t, j.text).n)) csv_die(t, j.text, "one line");
        struct arena a = { 0 };
        const char *why;
        char **words = shell_words(csv_cstr(t, j.command, &a), &why);
        if (!words) die_at(csv_file(t), csv_line(t), "job '%.*s': its command: %s", (int)name.n, name.s, why);
        shell_words_free(words);
        arena_free(&a);
        table_add(&j.table, t);
    }
    csv_close(t);
    return j;
}

size_t jobs_batch(size_t left, size_t n, size_t slots)
{
    size_t take = (left + 2 * slots - 1) / (2 * slots);
    size_t least = (n + 32 * slots - 1) / (32 * slots), most = (n + 4 * slots - 1) / (4 * slots);
    if (take < least) take = least;
    if (take > most) take = most;
    return take < left ? take : left;
}

uint64_t jobs_task(const struct jobs *j, size_t row)
{
    uint64_t h = 0;
    const int col[] = { j->command, j->input, j->text };
    for (int i = 0; i < 3; i++) {
        str s = { NULL, 0 };
        if (col[i] >= 0) s = table_str(&j->table, row, col[i]);
        h = hash_bytes(s.s, s.n, h);
    }
    return h;
}

static const char plain[] = "\\\n\r\",", escaped[] = "\\nrqc";

static void escape(struct buf *b, str s)
{
    for (size_t i = 0; i < s.n; i++) {
        const char *p = memchr(plain, s.s[i], sizeof plain - 1);
        if (p) buf_char(b, '\\');
        buf_char(b, p ? escaped[p - plain] : s.s[i]);
    }
}

static bool unescape(struct buf *b, str s)
{
    for (size_t i = 0; i < s.n; i++) {
        const char *p = NULL;
        if (s.s[i] == '\\' && (++i == s.n || !(p = memchr(escaped, s.s[i], sizeof escaped - 1)))) return false;
        buf_char(b, p ? plain[p - escaped] : s.s[i]);
    }
    return true;
}

/* the fields before sum, joined as they are written, and the output as it is escaped */
static uint64_t sum_of(str fields, str output)
{
    return hash_bytes(output.s, output.n, hash_bytes(fields.s, fields.n, 1));
}

void answer_write(csvw *w, const struct answer *a)
{
    struct buf fields = { 0 }, output = { 0 };
    buf_format(&fields, "%.*s,%016llx,%.*s,%.6f,%.*s", (int)a->job.n, a->job.s, (unsigned long long)a->task,
               (int)a->status.n, a->status.s, a->seconds, (int)a->machine.n, a->machine.s);
    escape(&output, a->output);
    csvw_str(w, a->job);
    csvw_format(w, "%016llx", (unsigned long long)a->task);
    csvw_str(w, a->status);
    csvw_format(w, "%.6f", a->seconds);
    csvw_str(w, a->machine);
    csvw_format(w, "%016llx",
                (unsigned long long)sum_of((str){ fields.s, fields.n }, (str){ output.s, output.n }));
    csvw_str(w, (str){ output.s, output.n });
    csvw_end(w);
    free(fields.s);
    free(output.s);
}

static bool parse_hex(str s, uint64_t *v)
{
    *v = 0;
    for (size_t i = 0; i < s.n; i++) {
        static const char digits[] = "0123456789abcdef";
        const char *p = memchr(digits, s.s[i], 16);
        if (!p) return false;
        *v = *v << 4 | (uint64_t)(p - digits);
    }
    return s.n == 16;
}

bool answer_parse(str line, struct answer *a, struct buf *scratch)
{
    enum { JOB, TASK, STATUS, SECONDS, MACHINE, SUM, OUTPUT, N };
    str f[N];
    const char *p = line.s, *end = line.s + line.n;
    for (int i = 0; i < N; i++) {
        const char *comma = i < OUTPUT ? memchr(p, ',', (size_t)(end - p)) : end;
        if (!comma) return false;
        f[i] = (str){ p, (size_t)(comma - p) };
        p = comma + 1;
    }
    uint64_t sum;
    str fields = { line.s, (size_t)(f[MACHINE].s + f[MACHINE].n - line.s) };
    if (!parse_hex(f[TASK], &a->task) || !parse_hex(f[SUM], &sum) || sum != sum_of(fields, f[OUTPUT]) ||
        !is_name(f[JOB]) || !num_parse(f[SECONDS].s, f[SECONDS].n, &a->seconds)) return false;
    scratch->n = 0;
    if (!unescape(scratch, f[OUTPUT])) return false;
    a->job = f[JOB];
    a->status = f[STATUS];
    a->machine = f[MACHINE];
    a->output = (str){ scratch->s, scratch->n };
    return true;
}

static char *key_of(str job, uint64_t task)
{
    return xformat("%.*s,%016llx", (int)job.n, job.s, (unsigned long long)task);
}

static str keep(struct arena *text, str s)
{
    return (str){ arena_copy(text, s.s, s.n), s.n };
}

bool answers_add(struct answers *a, const struct answer *new, bool *differs)
{
    *differs = false;
    if (!str_is(new->status, "ok")) return false;
    const struct answer *old = answers_find(a, new->job, new->task);
    if (old) {
        *differs = !str_eq(old->output, new->output);
        return false;
    }
    char *key = key_of(new->job, new->task);
    uint32_t k = intern(&a->key, str_of(key));
    free(key);
    a->v = grow(a->v, a->key.n, &a->cap, sizeof *a->v);
    a->v[k] = (struct answer){ .job = keep(&a->text, new->job), .status = keep(&a->text, new->status),
                               .machine = keep(&a->text, new->machine), .output = keep(&a->text, new->output),
                               .task = new->task, .seconds = new->seconds };
    return true;
}

struct answers answers_read(const char *path)
{
    struct answers a = { 0 };
    FILE *f = fopen(path, "re");
    if (!f && errno == ENOENT) return a;
    if (!f) die_errno("%s", path);
    char *line = NULL;
    size_t cap = 0;
    struct buf scratch = { 0 };
    bool differs;
    for (ssize_t n; (n = text_line(f, path, &line, &cap)) > 0;) {
        if (line[n - 1] != '\n') break;                  /* torn: whoever appends next cuts it off */
        str s = { line, (size_t)n - 1 };
        struct answer one;
        if (str_is(s, ANSWER_COLUMNS)) continue;
        if (answer_parse(s, &one, &scratch)) answers_add(&a, &one, &differs);
        else a.n_broken++;
    }
    fclose(f);
    free(line);
    free(scratch.s);
    return a;
}

const struct answer *answers_find(const struct answers *a, str job, uint64_t task)
{
    char *key = key_of(job, task);
    long k = intern_find(&a->key, str_of(key));
    free(key);
    return k < 0 ? NULL : &a->v[k];
}
