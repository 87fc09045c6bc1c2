/* import_text.c - line formats: folded stacks, perf script, pstats' listing, nvprof's CSV; see import.h */
#include "prof/import/import.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/num.h"
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t TIME_MAX = (int64_t)1 << 61;
enum { COLUMNS = 64, DEPTH = 100000 };

struct text {
    struct stacks stacks;
    int64_t now;                                         /* pstats */
    bool begun;                                          /* pstats, nvprof: past the header */
    int column[8];                                       /* nvprof: see below */
    double start_unit, duration_unit;                    /* ns */
    bool units;
    struct buf field, kept[8], device;                   /* nvprof: unquoted; of a row; of a stream */
    double weight;                                       /* perf: ns of the sample so far */
};

static struct text *state_of(void **state, enum import_format format)
{
    if (*state) return *state;
    struct text *t = *state = xcalloc(1, sizeof *t);
    t->stacks = format == FROM_PERF ? (struct stacks){ .proc = "perf", .cat = "C" }
                                    : (struct stacks){ .proc = "folded", .cat = "Python" };
    return t;
}

/* ---- stacks: equal beginnings of neighbours are one interval */

/* inner ones first; of equal intervals the outer one first, which readers of events take for the caller */
static void close_frames(struct importer *m, struct stacks *s, size_t depth)
{
    while (s->depth > depth) {
        size_t end = s->depth--;
        while (s->depth > depth && s->open[s->depth - 1].start == s->open[s->depth].start) s->depth--;
        for (size_t i = s->depth; i < end; i++) {
            struct event e = { .proc = str_of(s->proc), .tid = str_of("1"), .cat = str_of(s->cat),
                               .name = s->names.name[s->open[i].name], .flag = str_of("est"),
                               .start = s->open[i].start, .end = s->now };
            if (e.end > e.start) import_put(m, &e);
        }
    }
}

void stacks_add(struct stacks *s, str name)
{
    if (s->n == DEPTH) return;
    s->frame = grow(s->frame, s->n + 1, &s->cap, sizeof *s->frame);
    s->frame[s->n++] = intern(&s->names, name);
}

void stacks_put(struct importer *m, struct stacks *s, size_t inner, double ns)
{
    size_t depth = 0, n = s->n;
    s->n = 0;
    if (!n || !(ns >= 0) || !(ns < 1e18) || s->now > TIME_MAX - (int64_t)ns) {
        m->malformed++;
        return;
    }
    for (size_t i = inner, k = n; i < n && i + 1 < k; i++) {
        uint32_t f = s->frame[i];
        s->frame[i] = s->frame[--k];
        s->frame[k] = f;
    }
    while (depth < s->depth && depth < n && s->open[depth].name == s->frame[depth]) depth++;
    close_frames(m, s, depth);
    s->open = grow(s->open, n, &s->open_cap, sizeof *s->open);
    for (; depth < n; depth++) s->open[depth] = (struct stack_level){ s->frame[depth], s->now };
    s->depth = n;
    s->now += llround(ns);
}

void stacks_end(struct importer *m, struct stacks *s)
{
    close_frames(m, s, 0);
    intern_free(&s->names);
    free_all(s->open, s->frame);
}

static void folded_line(struct importer *m, struct stacks *s, char *line, size_t n)
{
    while (n && (line[n - 1] == '\n' || line[n - 1] == '\r' || line[n - 1] == ' ')) n--;
    if (!n) return;
    char *blank = memrchr(line, ' ', n);
    double count;
    if (!blank || blank == line || !num_parse(blank + 1, (size_t)(line + n - blank - 1), &count)) {
        m->malformed++;
        return;
    }
    for (char *name = line, *semi; name; name = semi ? semi + 1 : NULL) {
        semi = memchr(name, ';', (size_t)(blank - name));
        stacks_add(s, (str){ name, (size_t)((semi ? semi : blank) - name) });
    }
    stacks_put(m, s, SIZE_MAX, count * m->unit_ns);
}

/* ---- perf script: COMM PID .. TIME: PERIOD EVENT:, its frames indented, innermost first, and a blank line.  Of a
 * clock the period is ns; a sample of another event counts one. */

static void perf_line(struct importer *m, struct text *t, char *line, size_t n)
{
    struct stacks *s = &t->stacks;
    while (n && strchr("\n\r ", line[n - 1])) n--;
    line[n] = '\0';
    bool frame = line[0] == ' ' || line[0] == '\t';
    if (!frame && s->n) stacks_put(m, s, 1, t->weight);  /* the sample before is whole */
    if (!n || line[0] == '#') return;
    char *name = line + (frame ? strspn(line, " \t") : 0);
    size_t k = 0;
    if (frame) {
        name += strcspn(name, " ");                      /* the address */
        name += *name == ' ';
        const char *end = strstr(name, "+0x") ?: strstr(name, " (/"), *file = strrchr(name, '(');
        k = end ? (size_t)(end - name) : file && file > name ? (size_t)(file - name - 1) : strlen(name);
    } else while (line[k] && !(line[k] == ' ' && line[k + 1] >= '0' && line[k + 1] <= '9')) k++;
    const char *colon = strstr(line + k, ": ");          /* a command's name may have one: "tmux: server" */
    while (k && name[k - 1] == ' ') k--;
    if (!k || (frame ? !s->n : !colon)) {
        m->malformed++;
        return;
    }
    if (!frame) {                                        /* a period may have been left out (-F) */
        char *end = NULL;
        t->weight = strstr(colon, "-clock") ? strtod(colon + 1, &end) : m->unit_ns;
        if (end == colon + 1) t->weight = m->unit_ns;
    }
    for (size_t i = 0; i < k; i++) if (name[i] == ';') name[i] = ':';
    stacks_add(s, (str){ name, k });
}

/* ---- pstats: ncalls tottime percall cumtime percall filename:lineno(function) */

static const char *word(const char **p, size_t *n)
{
    while (**p == ' ') ++*p;
    const char *w = *p;
    while (**p && **p != ' ') ++*p;
    *n = (size_t)(*p - w);
    return w;
}

static void pstats_line(struct importer *m, struct text *t, char *line, size_t n)
{
    while (n && (line[n - 1] == '\n' || line[n - 1] == '\r')) n--;
    line[n] = '\0';
    const char *p = line;
    if (!t->begun) {
        size_t k;
        t->begun = strncmp(word(&p, &k), "ncalls", 6) == 0;
        return;
    }
    size_t len[5];
    const char *w[5];
    double number[5];
    for (int i = 0; i < 5; i++) {
        w[i] = word(&p, &len[i]);
        if (!len[i]) return;                             /* blank lines and what follows the table */
        const char *slash = i == 0 ? memchr(w[0], '/', len[0]) : NULL;
        size_t k = slash ? (size_t)(slash - w[0]) : len[i];
        if (!num_parse(w[i], k, &number[i]) || !(fabs(number[i]) < (i ? 1e9 : 1e18))) {
            m->malformed++;
            return;
        }
        if (slash) {
            double primitive;
            if (!num_parse(slash + 1, len[0] - k - 1, &primitive) || !(fabs(primitive) < 1e18)) primitive = number[0];
            m->primitive_calls = (uint64_t)fabs(primitive);
        } else if (i == 0) m->primitive_calls = (uint64_t)fabs(number[0]);
    }
    while (*p == ' ') p++;
    m->calls = (uint64_t)fabs(number[0]);
    m->cumulative_ns = llround(number[3] * 1e9);
    bool builtin = *p == '{' || strncmp(p, "~:", 2) == 0;
    struct event e = { .proc = str_of("pstats"), .tid = str_of("1"), .cat = str_of(builtin ? "C" : "Python"),
                       .name = str_of(p), .flag = str_of("est"), .start = t->now,
                       .end = t->now + llround(number[1] * 1e9) };
    if (e.end > TIME_MAX) {
        m->malformed++;
        return;
    }
    import_put(m, &e);
    if (e.end > t->now) t->now = e.end;
}

/* ---- nvprof --csv: '==' comments, a quoted header, a line of units, rows */

enum { START, DURATION, NAME, CORRELATION, DEVICE, STREAM, PID, TID };
static const char *const column_name[] = { "Start",  "Duration", "Name",       "Correlation_ID",
                                           "Device", "Stream",   "Process ID", "Thread ID" };

/* the next field of a CSV line, unquoted into t->field or a slice of the line */
static str next_field(struct text *t, const char **p, const char *end, bool *more)
{
    str s = { *p, 0 };
    if (*p < end && **p == '"') {
        t->field.n = 0;
        for (++*p; *p < end; ++*p) {
            if (**p == '"' && *p + 1 < end && (*p)[1] == '"') ++*p;
            else if (**p == '"') break;
            buf_char(&t->field, **p);
        }
        while (*p < end && **p != ',') ++*p;
        s = (str){ t->field.s ? t->field.s : "", t->field.n };
    } else {
        while (*p < end && **p != ',') ++*p;
        s.n = (size_t)(*p - s.s);
    }
    *more = *p < end;
    if (*more) ++*p;
    return s;
}

static double unit_of(str s)
{
    return str_is(s, "s") ? 1e9 : str_is(s, "ms") ? 1e6 : str_is(s, "us") ? 1e3 : str_is(s, "ns") ? 1 : 0;
}

/* is it a header?  Then a table begins, in units of its own */
static bool nvprof_header(struct text *t, const char *p, const char *end)
{
    bool more = true;
    int column[8];
    for (int k = 0; k < 8; k++) column[k] = -1;
    for (int c = 0; more && c < COLUMNS; c++) {
        str s = next_field(t, &p, end, &more);
        for (int k = 0; k < 8; k++) if (column[k] < 0 && str_is(s, column_name[k])) column[k] = c;
    }
    if (column[START] < 0 || column[DURATION] < 0) return false;
    memcpy(t->column, column, sizeof column);
    t->begun = true;
    t->units = false;
    return true;
}

static void nvprof_line(struct importer *m, struct text *t, const char *line, size_t n)
{
    while (n && (line[n - 1] == '\n' || line[n - 1] == '\r')) n--;
    if (!n || (n >= 2 && line[0] == '=' && line[1] == '=')) return;
    const char *p = line, *end = line + n;
    str f[8] = { { "", 0 } };
    bool more = true;
    if ((!t->begun || memmem(line, n, "Duration", 8)) && nvprof_header(t, line, end)) return;
    if (!t->begun) {
        m->skipped++;
        return;
    }
    for (int c = 0; more && c < COLUMNS; c++) {
        str s = next_field(t, &p, end, &more);
        for (int k = 0; k < 8; k++) {
            if (t->column[k] != c) continue;
            t->kept[k].n = 0;
            buf_add(&t->kept[k], s.s, s.n);
            f[k] = (str){ t->kept[k].s, s.n };
        }
    }
    if (!t->units) {                                     /* read it: the unit changes from file to file */
        t->start_unit = unit_of(f[START]);
        t->duration_unit = unit_of(f[DURATION]);
        t->units = true;
        if (t->start_unit > 0 && t->duration_unit > 0) return;
        t->start_unit = t->duration_unit = 1e9;
    }
    double start, duration;
    if (!num_parse(f[START].s, f[START].n, &start) || !num_parse(f[DURATION].s, f[DURATION].n, &duration)
        || !(fabs(start * t->start_unit) < 1e18) || !(fabs(duration * t->duration_unit) < 1e18)) {
        m->malformed++;
        return;
    }
    bool gpu = f[DEVICE].n > 0;
    /* "Tesla T4 (0)": the number is what counts */
    const char *open = gpu ? memrchr(f[DEVICE].s, '(', f[DEVICE].n) : NULL;
    int number = open ? (int)strcspn(open + 1, ")") : 0;
    t->device.n = 0;
    buf_format(&t->device, "d%.*s.s%.*s", open ? number : (int)f[DEVICE].n, open ? open + 1 : f[DEVICE].s,
               (int)f[STREAM].n, f[STREAM].s);
    struct event e = { .kind = gpu ? EVENT_GPU : EVENT_CAT, .cat = str_of(gpu ? "GPU" : "CUDA"), .name = f[NAME],
                       .link = f[CORRELATION], .proc = f[PID].n ? f[PID] : str_of("0"),
                       .tid = gpu ? (str){ t->device.s, t->device.n } : f[TID],
                       .start = llround(start * t->start_unit) };
    e.end = e.start + llround(duration * t->duration_unit);
    if (e.end < e.start) {                               /* seen in the wild: the time is lost, the call is not */
        m->reversed++;
        e.end = e.start;
    }
    import_put(m, &e);
}

void import_text_line(struct importer *m, enum import_format format, char *line, size_t n, void **state)
{
    struct text *t = state_of(state, format);
    if (!line) {
        char none[] = "";
        if (format == FROM_PERF) perf_line(m, t, none, 0);
        stacks_end(m, &t->stacks);
        for (int k = 0; k < 8; k++) free(t->kept[k].s);
        free_all(t->field.s, t->device.s);
        free(t);
        *state = NULL;
    } else if (format == FROM_FOLDED) folded_line(m, &t->stacks, line, n);
    else if (format == FROM_PERF) perf_line(m, t, line, n);
    else if (format == FROM_PSTATS) pstats_line(m, t, line, n);
    else nvprof_line(m, t, line, n);
}

void import_lines(struct importer *m, enum import_format format, const char *path)
{
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!f) die_errno("%s", path);
    char *line = NULL;
    size_t cap = 0, number = 0, bytes = 0;
    void *state = NULL;
    bool cut = false;
    for (ssize_t got; (got = text_line(f, path, &line, &cap)) > 0; number++) {
        bytes += (size_t)got;
        cut = line[got - 1] != '\n';
        import_text_line(m, format, line, (size_t)got, &state);
    }
    import_text_line(m, format, NULL, 0, &state);
    if (!number) m->fault = xformat("%s: empty input", path);
    else if (cut) {
        m->fault = xformat("%s:%zu: the input ends inside this line (byte %zu), which is taken as it is", path,
                            number, bytes);
        m->truncated = true;
    }
    free(line);
    if (f != stdin) fclose(f);
}
