/* import_text.c - line formats: folded stacks, perf script, pstats' listing, nvprof's CSV; see import.h */
#include "prof/import/import.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/num.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t TIME_MAX = (int64_t)1 << 61;
enum { COLUMNS = 64, DEPTH = 100000 };

struct level { uint32_t name; int64_t start; };
struct text {
    struct intern names;
    struct level *open;                                  /* folded: frames of the stack so far */
    size_t depth, cap;
    int64_t now;
    bool begun;                                          /* pstats, nvprof: past the header */
    int column[8];                                       /* nvprof: see below */
    double start_unit, duration_unit;                    /* ns */
    bool units;
    struct buf field, stack;                             /* unquoted; perf: of the sample so far */
    double weight;                                       /* of it, in counts */
    bool perf;
};

static struct text *state_of(void **state)
{
    if (!*state) *state = xcalloc(1, sizeof(struct text));
    return *state;
}

static void free_state(void **state)
{
    struct text *t = *state;
    if (!t) return;
    intern_free(&t->names);
    free(t->open);
    free_all(t->field.s, t->stack.s);
    free(t);
    *state = NULL;
}

/* ---- folded stacks: equal beginnings of neighbouring lines are one interval */

static void close_frame(struct importer *m, const struct text *t, const struct level *l)
{
    struct event e = { .proc = str_of(t->perf ? "perf" : "folded"), .tid = str_of("1"),
                       .cat = str_of(t->perf ? "C" : "Python"),
                       .name = t->names.name[l->name], .flag = str_of("est"), .start = l->start, .end = t->now };
    if (e.end > e.start) import_put(m, &e);
}

/* inner ones first; of equal intervals the outer one first, which readers of events take for the caller */
static void close_frames(struct importer *m, struct text *t, size_t depth)
{
    while (t->depth > depth) {
        size_t end = t->depth--;
        while (t->depth > depth && t->open[t->depth - 1].start == t->open[t->depth].start) t->depth--;
        for (size_t i = t->depth; i < end; i++) close_frame(m, t, &t->open[i]);
    }
}

static void folded_line(struct importer *m, struct text *t, char *line, size_t n)
{
    while (n && (line[n - 1] == '\n' || line[n - 1] == '\r' || line[n - 1] == ' ')) n--;
    if (!n) return;
    char *blank = memrchr(line, ' ', n);
    double count;
    if (!blank || blank == line || !num_parse(blank + 1, (size_t)(line + n - blank - 1), &count) || !(count >= 0)
        || !(count * m->unit_ns < 1e18) || t->now > TIME_MAX - (int64_t)(count * m->unit_ns)) {
        m->malformed++;
        return;
    }
    size_t depth = 0, end = (size_t)(blank - line);
    bool same = true;
    for (size_t i = 0; i <= end && depth < DEPTH; depth++) {
        const char *semi = memchr(line + i, ';', end - i);
        size_t k = semi ? (size_t)(semi - line) : end;
        uint32_t name = intern(&t->names, (str){ line + i, k - i });
        if (same && (depth >= t->depth || t->open[depth].name != name)) {
            same = false;
            close_frames(m, t, depth);
        }
        if (!same) {
            t->open = grow(t->open, depth + 1, &t->cap, sizeof *t->open);
            t->open[depth] = (struct level){ name, t->now };
            t->depth = depth + 1;
        }
        i = k + 1;
        if (k == end) {
            depth++;
            break;
        }
    }
    close_frames(m, t, depth);
    t->now += llround(count * m->unit_ns);
}

/* ---- perf script: COMM PID .. TIME: PERIOD EVENT:, its frames indented, innermost first, and a blank line.  Of a
 * clock the period is ns; a sample of another event counts one. */

static void perf_line(struct importer *m, struct text *t, char *line, size_t n)
{
    while (n && strchr("\n\r ", line[n - 1])) n--;
    line[n] = '\0';
    bool frame = line[0] == ' ' || line[0] == '\t';
    if (!frame && t->stack.n) {                          /* the sample before is whole */
        buf_format(&t->stack, " %.17g", t->weight);
        folded_line(m, t, t->stack.s, t->stack.n);
        t->stack.n = 0;
    }
    if (!n || line[0] == '#') return;
    const char *name = line + (frame ? strspn(line, " \t") : 0), *colon = strstr(line, ": ");
    size_t k = 0;
    if (frame) {
        name += strcspn(name, " ");                      /* the address */
        name += *name == ' ';
        const char *offset = strstr(name, "+0x"), *file = strrchr(name, '(');
        k = offset ? (size_t)(offset - name) : file && file > name ? (size_t)(file - name - 1) : strlen(name);
    } else while (line[k] && !(line[k] == ' ' && line[k + 1] >= '0' && line[k + 1] <= '9')) k++;
    if (!k || (frame ? !t->stack.n : !colon)) {
        m->malformed++;
        return;
    }
    if (!frame) t->weight = strstr(colon, "-clock") ? strtod(colon + 1, NULL) / m->unit_ns : 1;
    buf_char(&t->stack, '\0');
    char *comm = t->stack.s, *rest = comm + strcspn(comm, ";"), *inner = xstrdup(rest);   /* comm stays the outermost */
    t->stack.n = (size_t)(rest - comm);
    if (frame) buf_char(&t->stack, ';');
    for (size_t i = 0; i < k; i++) buf_char(&t->stack, name[i] == ';' ? ':' : name[i]);
    buf_str(&t->stack, str_of(inner));
    free(inner);
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
        if (!num_parse(w[i], k, &number[i]) || !(fabs(number[i]) < 1e9)) {
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

static void nvprof_line(struct importer *m, struct text *t, const char *line, size_t n)
{
    while (n && (line[n - 1] == '\n' || line[n - 1] == '\r')) n--;
    if (!n || (n >= 2 && line[0] == '=' && line[1] == '=')) return;
    const char *p = line, *end = line + n;
    char copy[8][512];
    str f[8] = { { "", 0 } };
    bool more = true, header = !t->begun;
    if (header) for (int k = 0; k < 8; k++) t->column[k] = -1;
    for (int c = 0; more && c < COLUMNS; c++) {
        str s = next_field(t, &p, end, &more);
        for (int k = 0; k < 8; k++) {
            if (header && t->column[k] < 0 && str_is(s, column_name[k])) t->column[k] = c;
            else if (!header && t->column[k] == c) {
                f[k].n = s.n < sizeof copy[k] ? s.n : sizeof copy[k];
                if (f[k].n) memcpy(copy[k], s.s, f[k].n);
                f[k].s = copy[k];
            }
        }
    }
    if (header) {
        t->begun = t->column[START] >= 0 && t->column[DURATION] >= 0;
        if (!t->begun) m->skipped++;
        return;
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
    char device[640];
    /* "Tesla T4 (0)": the number is what counts */
    const char *open = gpu ? memrchr(f[DEVICE].s, '(', f[DEVICE].n) : NULL;
    int number = open ? (int)strcspn(open + 1, ")") : 0;
    if (open && open + 1 + number > f[DEVICE].s + f[DEVICE].n) number = 0;
    int k = snprintf(device, sizeof device, "d%.*s.s%.*s", open ? number : (int)f[DEVICE].n,
                     open ? open + 1 : f[DEVICE].s, (int)f[STREAM].n, f[STREAM].s);
    struct event e = { .kind = gpu ? EVENT_GPU : EVENT_CAT, .cat = str_of(gpu ? "GPU" : "CUDA"), .name = f[NAME],
                       .link = f[CORRELATION], .proc = f[PID].n ? f[PID] : str_of("0"),
                       .tid = gpu ? (str){ device, (size_t)k } : f[TID], .start = llround(start * t->start_unit) };
    e.end = e.start + llround(duration * t->duration_unit);
    if (e.end < e.start) {                               /* seen in the wild: the time is lost, the call is not */
        m->reversed++;
        e.end = e.start;
    }
    import_put(m, &e);
}

void import_text_line(struct importer *m, enum import_format format, char *line, size_t n, size_t number, void **state)
{
    struct text *t = state_of(state);
    t->perf = format == FROM_PERF;
    (void)number;
    if (!line) {
        char none[] = "";
        if (format == FROM_PERF) perf_line(m, t, none, 0);
        if (format == FROM_FOLDED || format == FROM_PERF) close_frames(m, t, 0);
        free_state(state);
    } else if (format == FROM_FOLDED) folded_line(m, t, line, n);
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
    for (ssize_t got; (got = text_line(f, path, &line, &cap)) > 0;) {
        bytes += (size_t)got;
        cut = line[got - 1] != '\n';
        import_text_line(m, format, line, (size_t)got, ++number, &state);
    }
    import_text_line(m, format, NULL, 0, number, &state);
    if (!number) m->fault = xformat("%s: empty input", path);
    else if (cut) {
        m->fault = xformat("%s:%zu: the input ends inside this line (byte %zu)", path, number, bytes);
        m->truncated = true;
    }
    free(line);
    if (f != stdin) fclose(f);
}
