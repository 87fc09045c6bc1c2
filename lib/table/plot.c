#include "table/plot.h"
#include "base/checked.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/num.h"
#include "base/out.h"
#include "table/kind.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* between single quotes, in which gnuplot knows nothing but such a quote: one in the text is drawn as an apostrophe;
 * ]]> and what is no UTF-8 have no place in an SVG */
static void add_quoted(struct buf *b, str s)
{
    buf_char(b, '\'');
    for (size_t i = 0, n; i < s.n; i += n ? n : 1) {
        n = str_character((str){ s.s + i, s.n - i });
        const bool none = n == 3 && (!memcmp(s.s + i, "\xef\xbf\xbe", 3) || !memcmp(s.s + i, "\xef\xbf\xbf", 3));
        if (!n || none) buf_format(b, "\xef\xbf\xbd");           /* XML has no U+FFFE and U+FFFF */
        else if (s.s[i] == '\'') buf_format(b, "\xe2\x80\x99");
        else if (s.s[i] == '>' && i > 1 && memcmp(s.s + i - 2, "]]", 2) == 0) buf_format(b, "\xe2\x80\xba");
        else if ((unsigned char)s.s[i] < ' ') buf_char(b, ' ');
        else buf_add(b, s.s + i, n);
    }
    buf_char(b, '\'');
}

static void add_number(struct buf *b, double v)
{
    char text[NUM_MAX];
    if (isnan(v) || isinf(v)) buf_format(b, "NaN");
    else buf_add(b, text, num_print(text, v));
}

/* a field as a number: empty and infinite ones are not drawn */
static double value(const struct table *t, size_t row, int col)
{
    if (col < 0) return NAN;
    return table_str(t, row, col).n ? table_num(t, row, col) : NAN;
}

bool plot_is_text(const struct table *t, int col)
{
    double v;
    for (size_t r = 0; r < t->nrow; r++) {
        str s = table_str(t, r, col);
        if (s.n && !num_parse(s.s, s.n, &v)) return true;
    }
    return false;
}

static const char *const palette[] = { "#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#ee7733",
                                       "#009988", "#bbbbbb", "#222222" };
static const char *colour(size_t i) { return palette[i % (sizeof palette / sizeof *palette)]; }

static void add_label(struct buf *b, const char *what, const char *given, str column)
{
    buf_format(b, "set %s ", what);
    add_quoted(b, given ? str_of(given) : column);
    buf_format(b, " noenhanced\n");
}

static void add_title(struct buf *b, const struct table *t, const struct plot *p)
{
    unsigned kinds = 0;
    for (int c = 0; c < t->ncol; c++) {
        if (!str_is(t->name[c], "kind")) continue;
        for (size_t r = 0; r < t->nrow; r++) kinds |= kind_parse(table_str(t, r, c));
    }
    const char *kind = kinds && !(kinds & KIND_NOT_KNOWN) ? kind_name(kinds) : "";
    struct buf title = { 0 };
    buf_format(&title, "%s%s%s", kind, *kind && p->title ? ": " : "", p->title ? p->title : "");
    if (title.n) {
        buf_format(b, "set title ");
        add_quoted(b, (str){ title.s, title.n });
        buf_format(b, " noenhanced\n");
    }
    free(title.s);
}

static void add_house(struct buf *b, const struct plot *p)
{
    /* nothing of a name is a command, and `_` is no subscript */
    switch (p->term) {
    case PLOT_SVG:
        buf_format(b, "set terminal svg size %ld,%ld dynamic font 'sans,12' background 'white'\n", p->width,
                   p->height);
        break;
    case PLOT_PNG: buf_format(b, "set terminal pngcairo size %ld,%ld font 'sans,12'\n", p->width, p->height); break;
    case PLOT_TEXT: buf_format(b, "set terminal dumb size %ld,%ld\n", p->width, p->height); break;
    default: buf_format(b, "set terminal sixelgd size %ld,%ld font 'sans,12'\n", p->width, p->height);
    }
    buf_format(b, "set encoding utf8\nset termoption noenhanced\nset datafile missing NaN\n"
                  "set border 3 lc rgb '#666666'\nset tics nomirror\nset grid ytics lc rgb '#d4d4d4' lw 0.7 dt 1\n"
                  "set style fill solid 0.9 noborder\nset key noenhanced outside top horizontal samplen 2\n"
                  "set title font ',14'\nset offsets graph 0.02, graph 0.02, graph 0.05, graph 0.02\n");
    if (p->log_x) buf_format(b, "set logscale x\n");
    if (p->log_y) buf_format(b, "set logscale y\n");
}

/* series: a column of y, and of `by` one of its values */
struct series { int y; long by; };
struct drawing {
    const struct table *t;
    const struct plot *p;
    struct intern by, category;
    bool text_x;
    struct series *series;
    size_t n;
};

static bool in_series(const struct drawing *d, size_t row, size_t s)
{
    return d->p->by < 0 || intern_find(&d->by, table_str(d->t, row, d->p->by)) == d->series[s].by;
}

static str series_name(const struct drawing *d, size_t s, struct buf *b)
{
    b->n = 0;
    const struct series *x = &d->series[s];
    str y = x->y >= 0 ? d->t->name[x->y] : str_of("");
    if (x->by < 0) return y;
    str by = d->by.name[x->by];
    if (d->p->y.n < 2) return by;
    buf_format(b, "%.*s %.*s", (int)by.n, by.s, (int)y.n, y.s);
    return (str){ b->s, b->n };
}

static void find_series(struct drawing *d)
{
    const struct plot *p = d->p;
    for (size_t r = 0; p->by >= 0 && r < d->t->nrow; r++) intern(&d->by, table_str(d->t, r, p->by));
    size_t each = p->by < 0 ? 1 : d->by.n, columns = p->y.n ? (size_t)p->y.n : 1;
    d->series = xcalloc(size_mul(each, columns) + 1, sizeof *d->series);
    for (size_t k = 0; k < each; k++)
        for (size_t c = 0; c < columns; c++)
            d->series[d->n++] = (struct series){ p->y.n ? p->y.v[c] : -1, p->by < 0 ? -1 : (long)k };
}

/* where a row lies along the axis of x */
static double place(const struct drawing *d, size_t row)
{
    if (!d->text_x) return value(d->t, row, d->p->x);
    return (double)intern_find(&d->category, table_str(d->t, row, d->p->x));
}

static void add_categories(struct buf *b, const struct drawing *d, const char *axis)
{
    size_t longest = 0;
    for (size_t k = 0; k < d->category.n; k++) if (d->category.name[k].n > longest) longest = d->category.name[k].n;
    bool crowded = *axis == 'x' && longest * d->category.n > 90;
    buf_format(b, "set %stics noenhanced scale 0%s (", axis, crowded ? " rotate by -35" : "");
    for (size_t k = 0; k < d->category.n; k++) {
        if (k) buf_format(b, ", ");
        struct buf label = { 0 };                        /* a format to gnuplot */
        for (size_t i = 0; i < d->category.name[k].n; i++) {
            const char c = d->category.name[k].s[i];
            if (c == '%') buf_char(&label, c);
            buf_char(&label, c);
        }
        add_quoted(b, (str){ label.s, label.n });
        free(label.s);
        buf_format(b, " %zu", k);
    }
    buf_format(b, ")\n");
}

/* is any value below nought? */
static bool below(const struct drawing *d)
{
    for (int c = 0; c < d->p->y.n; c++)
        for (size_t r = 0; r < d->t->nrow; r++) if (value(d->t, r, d->p->y.v[c]) < 0) return true;
    return false;
}

static void add_row(struct buf *b, const double v[4])
{
    for (int k = 0; k < 4; k++) {
        if (k) buf_char(b, ' ');
        add_number(b, v[k]);
    }
    buf_char(b, '\n');
}

/* a block of data for each series: place, value, low, high */
static void add_blocks(struct buf *b, const struct drawing *d)
{
    for (size_t s = 0; s < d->n; s++) {
        buf_format(b, "$d%zu << END\n", s);
        for (size_t r = 0; r < d->t->nrow; r++) {
            if (!in_series(d, r, s)) continue;
            double x = place(d, r);
            /* bars of several series stand side by side */
            if (d->p->kind == PLOT_BAR && d->n > 1) x += 0.8 * (((double)s + 0.5) / (double)d->n - 0.5);
            add_row(b, (double[]){ x, value(d->t, r, d->series[s].y), value(d->t, r, d->p->low),
                                   value(d->t, r, d->p->high) });
        }
        buf_format(b, "END\n");
    }
}

static void add_plot(struct buf *b, const struct drawing *d, const char *const *how, size_t ways)
{
    struct buf name = { 0 };
    bool key = d->n > 1, first = true;
    buf_format(b, "%splot ", key ? "" : "unset key\n");
    for (size_t w = 0; w < ways; w++)
        for (size_t s = 0; s < d->n; s++) {
            buf_format(b, "%s$d%zu ", first ? "" : ", ", s);
            buf_format(b, "%s lc rgb '%s' ", how[w], colour(s));
            if (w + 1 == ways) {
                buf_format(b, "title ");
                add_quoted(b, series_name(d, s, &name));
            } else {
                buf_format(b, "notitle");
            }
            first = false;
        }
    buf_format(b, "\n");
    free(name.s);
}

static void along(struct buf *b, struct drawing *d)
{
    const struct plot *p = d->p;
    bool interval = p->low >= 0;
    for (size_t r = 0; d->text_x && r < d->t->nrow; r++) intern(&d->category, table_str(d->t, r, p->x));
    add_label(b, "xlabel", p->xlabel, d->t->name[p->x]);
    add_label(b, "ylabel", p->ylabel, p->y.n == 1 ? d->t->name[p->y.v[0]] : str_of(""));
    if (d->text_x) add_categories(b, d, "x");
    add_blocks(b, d);
    if (p->kind == PLOT_BAR) {
        /* a bar stands on nought */
        buf_format(b, "set boxwidth %g\nset yrange [%s]\n", 0.8 / (double)d->n,
                   p->log_y ? "*:*" : below(d) ? "*<0:0<*" : "0:*");
        const char *bars[] = { "using 1:2 with boxes", "using 1:2:3:4 with yerrorbars pt -1 lw 1.5" };
        if (!interval) { add_plot(b, d, bars, 1); return; }
        /* the bars carry the names, their whiskers come last and in black */
        struct buf name = { 0 };
        buf_format(b, "%splot ", d->n > 1 ? "" : "unset key\n");
        for (size_t s = 0; s < d->n; s++) {
            buf_format(b, "%s$d%zu %s lc rgb '%s' title ", s ? ", " : "", s, bars[0], colour(s));
            add_quoted(b, series_name(d, s, &name));
            buf_format(b, ", $d%zu %s lc rgb '#222222' notitle", s, bars[1]);
        }
        buf_format(b, "\n");
        free(name.s);
        return;
    }
    const char *line[] = { "using 1:2:3:4 with yerrorbars pt -1 lw 1", "using 1:2 with linespoints pt 7 ps 0.7 lw 2" };
    const char *point[] = { line[0], "using 1:2 with points pt 7 ps 0.8" };
    const char *const *how = p->kind == PLOT_LINE ? line : point;
    add_plot(b, d, how + !interval, 1 + interval);
}

/* has it the word ratio, as lower_ratio has and duration has not? */
static bool is_ratio(str name)
{
    for (size_t i = 0, n; i < name.n; i += n + 1) {
        n = 0;
        while (i + n < name.n && name.s[i + n] != '_') n++;
        if (str_is((str){ name.s + i, n }, "ratio")) return true;
    }
    return false;
}

/* what lies just beyond all finite numbers of these columns, below and above; are there infinite ones? */
static bool beyond(const struct table *t, const int col[3], double edge[2])
{
    bool infinite = false;
    edge[0] = INFINITY, edge[1] = -INFINITY;
    for (size_t r = 0; r < t->nrow; r++)
        for (int i = 0; i < 3; i++) {
            const double v = value(t, r, col[i]);
            infinite |= isinf(v);
            if (isfinite(v)) edge[0] = fmin(edge[0], v), edge[1] = fmax(edge[1], v);
        }
    if (is_ratio(t->name[col[0]])) edge[0] = fmin(edge[0], 1), edge[1] = fmax(edge[1], 1);
    const double more = 0.1 * (edge[1] > edge[0] ? edge[1] - edge[0] : fabs(edge[0]));
    edge[0] -= more, edge[1] += more;
    return infinite && edge[1] > edge[0];
}

/* values as points with their ranges on a horizontal axis, a row for each text of y */
static void intervals(struct buf *b, struct drawing *d)
{
    const struct plot *p = d->p;
    int names = p->y.v[0];
    double edge[2];
    const bool infinite = beyond(d->t, (const int[]){ p->x, p->low, p->high }, edge);
    for (size_t r = 0; r < d->t->nrow; r++) intern(&d->category, table_str(d->t, r, names));
    add_label(b, "xlabel", p->xlabel, d->t->name[p->x]);
    add_categories(b, d, "y");
    buf_format(b, "set border 1\nset grid xtics noytics\nset yrange [%g:-0.7]\n", (double)d->category.n - 0.3);
    buf_format(b, "set offsets graph 0.05, graph 0.05, 0, 0\n");
    for (size_t s = 0; s < d->n; s++) {
        buf_format(b, "$d%zu << END\n", s);
        for (size_t r = 0; r < d->t->nrow; r++) {
            if (!in_series(d, r, s)) continue;
            double y = (double)intern_find(&d->category, table_str(d->t, r, names));
            if (d->n > 1) y += 0.5 * (((double)s + 0.5) / (double)d->n - 0.5);
            double v[] = { value(d->t, r, p->x), y, value(d->t, r, p->low), value(d->t, r, p->high) };
            for (int i = 2; i < 4; i++)                  /* what has no end goes to the edge, not away */
                if (isinf(v[i])) v[i] = v[i] > 0 ? 2 * edge[1] - edge[0] : 2 * edge[0] - edge[1];
            add_row(b, v);
        }
        buf_format(b, "END\n");
    }
    const char *how[] = { "using 1:2:3:4 with xerrorbars pt -1 lw 3", "using 1:2 with points pt 7 ps 0.9" };
    bool interval = p->low >= 0;
    /* a ratio is read beside 1 */
    if (is_ratio(d->t->name[p->x]))
        buf_format(b, "set xrange [*<1:1<*]\n"
                      "set arrow 1 from 1, graph 0 to 1, graph 1 nohead lc rgb '#444444' lw 1 back\n");
    if (infinite) buf_format(b, "unset offsets\nset xrange [%.17g:%.17g]\n", edge[0], edge[1]);
    add_plot(b, d, how + !interval, 1 + interval);
}

static void boxes(struct buf *b, struct drawing *d)
{
    const struct plot *p = d->p;
    for (size_t r = 0; r < d->t->nrow; r++)
        intern(&d->category, p->x >= 0 ? table_str(d->t, r, p->x) : d->t->name[p->y.v[0]]);
    add_label(b, "ylabel", p->ylabel, d->t->name[p->y.v[0]]);
    add_categories(b, d, "x");
    for (size_t k = 0; k < d->category.n; k++) {
        buf_format(b, "$d%zu << END\n", k);
        for (size_t r = 0; r < d->t->nrow; r++) {
            if (p->x >= 0 && intern_find(&d->category, table_str(d->t, r, p->x)) != (long)k) continue;
            add_number(b, value(d->t, r, p->y.v[0]));
            buf_char(b, '\n');
        }
        buf_format(b, "END\n");
    }
    if (!p->log_y && !below(d)) buf_format(b, "set yrange [0:*]\n");
    buf_format(b, "unset key\nset style boxplot outliers pointtype 7\nset style fill solid 0.35 border lt -1\n"
                  "set pointsize 0.4\nset xrange [-0.6:%g]\nplot ", (double)d->category.n - 0.4);
    for (size_t k = 0; k < d->category.n; k++)
        buf_format(b, "%s$d%zu using (%zu):1:(0.5) with boxplot lc rgb '%s'", k ? ", " : "", k, k, colour(0));
    buf_format(b, "\n");
}

/* what bins have the same width of */
static double binned(const struct drawing *d, size_t row)
{
    double v = value(d->t, row, d->p->x);
    if (d->p->log_x && v <= 0) die_at(d->t->file, d->t->line[row], "%g has no place on a logarithmic axis", v);
    return d->p->log_x ? log10(v) : v;
}

static void histogram(struct buf *b, struct drawing *d)
{
    const struct plot *p = d->p;
    double least = INFINITY, most = -INFINITY;
    size_t n = 0;
    for (size_t r = 0; r < d->t->nrow; r++) {
        double v = binned(d, r);
        if (!isfinite(v)) continue;
        least = fmin(least, v);
        most = fmax(most, v);
        n++;
    }
    if (!n) die("column '%.*s' has no number to count", (int)d->t->name[p->x].n, d->t->name[p->x].s);
    size_t bins = p->bins ? (size_t)p->bins : (size_t)fmin(100, 2 * cbrt((double)n) + 1);
    double width = (most - least) / (double)bins;
    if (!(width > 0)) {                                  /* one value, or a range beyond doubles */
        bins = 1;
        width = fmax(fabs(most), 1) / 10;
        least -= width / 2;
    }
    size_t *count = xcalloc(size_mul(bins, d->n) + 1, sizeof *count);
    for (size_t r = 0; r < d->t->nrow; r++) {
        double v = binned(d, r);
        if (!isfinite(v)) continue;
        double at = (v - least) / width, edge = round(at);           /* 0.3 / 0.1 is 3, not 2.99.. */
        size_t bin = (size_t)(fabs(at - edge) < 1e-9 ? edge : at);
        long s = p->by < 0 ? 0 : intern_find(&d->by, table_str(d->t, r, p->by));
        count[(size_t)s * bins + (bin < bins ? bin : bins - 1)]++;
    }
    add_label(b, "xlabel", p->xlabel, d->t->name[p->x]);
    add_label(b, "ylabel", p->ylabel, str_of("rows"));
    buf_format(b, "set yrange [%s:*]\nset style fill %s\n", p->log_y ? "0.5" : "0",
               d->n > 1 ? "transparent solid 0.4" : "solid 0.9");
    for (size_t s = 0; s < d->n; s++) {
        buf_format(b, "$d%zu << END\n", s);
        for (size_t k = 0; k < bins; k++) {
            double bin[3];
            for (int e = 0; e < 3; e++) {
                double v = least + ((double)k + 0.5 * e) * width;
                bin[e] = p->log_x ? pow(10, v) : v;
            }
            add_row(b, (double[]){ bin[1], (double)count[s * bins + k], bin[0], bin[2] });
        }
        buf_format(b, "END\n");
    }
    free(count);
    const char *how[] = { p->log_y ? "using 1:2:3:4:(0.5):2 with boxxyerror" : "using 1:2:3:4:(0):2 with boxxyerror" };
    add_plot(b, d, how, 1);
}

void plot_size(struct plot *p, const struct table *t)
{
    bool text = p->term == PLOT_TEXT;
    long rows = t->nrow < 60 ? (long)t->nrow : 60;
    if (!p->width) p->width = text ? 100 : 900;
    if (!p->height) p->height = p->kind == PLOT_INTERVAL ? (text ? 8 + 2 * rows : 130 + 34 * rows) : text ? 30 : 520;
}

void plot_script(struct buf *b, const struct table *t, const struct plot *p)
{
    struct drawing d = { .t = t, .p = p };
    d.text_x = p->x >= 0 && (p->kind == PLOT_BAR || (p->kind <= PLOT_POINT && plot_is_text(t, p->x)));
    if ((d.text_x || p->kind == PLOT_BOX) ? p->log_x : p->kind == PLOT_INTERVAL && p->log_y)
        usage("--log: an axis of names has no logarithm");
    find_series(&d);
    add_house(b, p);
    add_title(b, t, p);
    switch (p->kind) {
    case PLOT_HIST: histogram(b, &d); break;
    case PLOT_BOX: boxes(b, &d); break;
    case PLOT_INTERVAL: intervals(b, &d); break;
    default: along(b, &d);
    }
    free(d.series);
    intern_free(&d.by);
    intern_free(&d.category);
}

void plot_draw(const struct buf *b, FILE *to)
{
    int script[2], picture[2];
    if (pipe2(script, O_CLOEXEC) != 0 || pipe2(picture, O_CLOEXEC) != 0) die_errno("pipe");
    /* it converts what it writes by the locale, and warns of letters that C has not */
    setenv("LC_ALL", "C.UTF-8", 1);
    posix_spawn_file_actions_t acts;
    posix_spawn_file_actions_init(&acts);
    posix_spawn_file_actions_adddup2(&acts, script[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&acts, picture[1], STDOUT_FILENO);
    char *argv[] = { xstrdup("gnuplot"), NULL };
    pid_t pid;
    int error = posix_spawnp(&pid, argv[0], &acts, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&acts);
    if (error) die("gnuplot: %s (Debian's package gnuplot-nox)", strerror(error));
    close(script[0]);
    close(picture[1]);
    /* It draws when it has read all; what it does not want to read is its own affair: its status says so. */
    void (*was)(int) = signal(SIGPIPE, SIG_IGN);
    write_all(script[1], b->s, b->n);
    signal(SIGPIPE, was);
    close(script[1]);
    char part[4096];
    for (ssize_t n; (n = read(picture[0], part, sizeof part)) != 0;) {
        if (n < 0 && errno != EINTR) die_errno("gnuplot");
        if (n > 0) fwrite(part, 1, (size_t)n, to);
    }
    close(picture[0]);
    int status;
    while (waitpid(pid, &status, 0) < 0) if (errno != EINTR) die_errno("gnuplot");
    free(argv[0]);
    if (status) die("gnuplot failed on this picture");
}
