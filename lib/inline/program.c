/* program.c - see program.h */
#include "inline/program.h"
#include "base/mem.h"
#include "base/message.h"
#include "base/num.h"
#include "inline/tool.h"
#include "measure/child.h"
#include "table/csvio.h"
#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* the blank-separated words of s */
static struct args split(const char *s)
{
    struct args w = { 0 };
    while (*(s += strspn(s, " \t"))) {
        size_t n = strcspn(s, " \t");
        arg(&w, xformat("%.*s", (int)n, s));
        s += n;
    }
    return w;
}

static void expand(struct program *p, struct args *sources, const char *pattern, const char *file, size_t line)
{
    struct buf full = { 0 };
    glob_t g;
    for (const char *s = p->directory; *s; s++) {        /* a folder's name is no pattern */
        if (strchr("*?[\\", *s)) buf_char(&full, '\\');
        buf_char(&full, *s);
    }
    buf_format(&full, "/%s", pattern);
    int rc = glob(full.s, 0, NULL, &g);
    if (rc == GLOB_NOMATCH) die_at(file, line, "build: no file matches '%s' in %s", pattern, p->directory);
    if (rc != 0) die_at(file, line, "build: cannot read the files of '%s'", pattern);
    for (size_t i = 0; i < g.gl_pathc; i++) arg(sources, xstrdup(g.gl_pathv[i] + strlen(p->directory) + 1));
    globfree(&g);
    free(full.s);
}

/* what is for the linker, which runs elsewhere: a folder of libraries is named from the root */
static void take_link(const struct program *p, struct args *libraries, char *const *w, size_t n)
{
    const char *folder = strncmp(w[0], "-L", 2) != 0 ? NULL : n == 2 ? w[1] : w[0] + 2;
    if (folder && *folder != '/') arg(libraries, xformat("-L%s/%s", p->directory, folder));
    else for (size_t i = 0; i < n; i++) arg(libraries, w[i]);
}

static void parse_build(struct program *p, const char *file, size_t line)
{
    struct args all = split(p->build), sources = { 0 }, flags = { 0 }, libraries = { 0 };
    for (size_t i = 0; i < all.n; i++) {
        char *w = all.v[i];
        const size_t link = flag_of_link(all.v + i);
        if (link || strcmp(w, "-pthread") == 0) take_link(p, &libraries, all.v + i, link ? link : 1);
        if (link) i += link - 1;
        else if (*w == '-') i += flag_take(&flags, all.v + i) - 1;
        else if (*w != '!') expand(p, &sources, w, file, line);
    }
    size_t kept = 0;
    for (size_t i = 0; i < sources.n; i++) {
        bool out = false;
        for (size_t k = 0; k < all.n; k++)
            out = out || (all.v[k][0] == '!' && fnmatch(all.v[k] + 1, sources.v[i], FNM_PATHNAME) == 0);
        if (!out) sources.v[kept++] = sources.v[i];
    }
    if (kept == 0) die_at(file, line, "build: '%s' names no source file", p->build);
    sources.v[kept] = NULL;
    p->unit = xcalloc(kept, sizeof *p->unit);
    p->nunits = kept;
    for (size_t i = 0; i < kept; i++) p->unit[i] = (struct unit){ p->directory, sources.v[i], flags.v, 0 };
    p->libraries = libraries.v;
}

static struct program_run *parse_runs(const char *text, size_t *n, const char *file, size_t line, const char *field)
{
    struct args w = split(text);
    struct program_run *run = xcalloc(w.n + 1, sizeof *run);
    *n = 0;
    for (size_t i = 0; i <= w.n; i++) {
        struct program_run *r = &run[*n];
        if (!r->argv) r->argv = xcalloc(w.n + 3, sizeof *r->argv), r->argc = 1;
        if (i == w.n || strcmp(w.v[i], ";") == 0) ++*n;
        else if (w.v[i][0] != '<') r->argv[r->argc++] = w.v[i];
        else if (r->input) die_at(file, line, "%s: two inputs, '%s' and '%s'", field, r->input, w.v[i] + 1);
        else if (w.v[i][1]) r->input = w.v[i] + 1;
        else if (i + 1 < w.n) r->input = w.v[++i];
        else die_at(file, line, "%s: '<' without a file", field);
    }
    free(w.v);
    return run;
}

/* inputs are relative to the source directory, where the program will run */
static void find_inputs(const struct program *p, struct program_run *run, size_t n, const char *file, size_t line)
{
    for (size_t i = 0; i < n; i++) {
        if (!run[i].input) continue;
        if (run[i].input[0] != '/') run[i].input = xformat("%s/%s", p->directory, run[i].input);
        if (access(run[i].input, R_OK) != 0) die_at(file, line, "input %s: %s", run[i].input, strerror(errno));
    }
}

bool source_is_cxx(const char *path)
{
    static const char *const endings[] = { ".cc", ".cpp", ".cxx", ".c++", ".C", ".ii" };
    const char *dot = strrchr(path, '.');
    for (size_t k = 0; dot && k < sizeof endings / sizeof *endings; k++) if (strcmp(dot, endings[k]) == 0) return true;
    return false;
}

/* the drivers for C link programs of C++ too, once told its library */
static void link_cxx(struct program *p)
{
    struct args w = { 0 };
    bool cxx = false;
    for (size_t i = 0; i < p->nunits; i++) cxx = cxx || source_is_cxx(p->unit[i].source);
    for (char **l = p->libraries; l && *l; l++) {
        arg(&w, *l);
        cxx = cxx && strcmp(*l, "-lstdc++") != 0;
    }
    if (!cxx) return;
    arg(&w, xstrdup("-lstdc++"));
    arg(&w, xstrdup("-lm"));
    p->libraries = w.v;
}

static void parse_status(struct program *p, const char *file, size_t line)
{
    struct args w = split(p->status ? p->status : "");
    size_t n = p->nsearch + p->nconfirm;
    if (w.n > 1 && w.n != n) die_at(file, line, "status: %zu numbers for %zu runs: one for all, or one each", w.n, n);
    for (size_t i = 0; i < n && w.n; i++) {
        int64_t code;
        const char *word = w.v[w.n > 1 ? i : 0];
        if (!int_parse(word, strlen(word), &code) || code < 0 || code > 255)
            die_at(file, line, "status: '%s' is not an exit status, 0 to 255", word);
        *(i < p->nsearch ? &p->search_run[i].status : &p->confirm_run[i - p->nsearch].status) = (int)code;
    }
    free(w.v);
}

static void parse(struct program *p, const char *file, size_t line)
{
    if (!p->unit) parse_build(p, file, line);
    link_cxx(p);
    p->search_run = parse_runs(p->search, &p->nsearch, file, line, "search");
    p->confirm_run = parse_runs(p->confirm, &p->nconfirm, file, line, "confirm");
    parse_status(p, file, line);
    find_inputs(p, p->search_run, p->nsearch, file, line);
    find_inputs(p, p->confirm_run, p->nconfirm, file, line);
}

static struct program *found(struct program *p, const char *directory, csv *t, const char *table)
{
    p->directory = realpath(directory, NULL);
    if (!p->directory) die_errno("%s", directory);
    parse(p, table, csv_line(t));
    csv_close(t);
    return p;
}

static char *field_copy(const csv *t, int column)
{
    str s = csv_str(t, column);
    return xformat("%.*s", (int)s.n, s.s);
}

/* a program whose build is told already, or with `unit` NULL is not */
static struct program *begun(const char *name, struct unit *unit, size_t n, char **libraries)
{
    struct program *p = xcalloc(1, sizeof *p);
    *p = (struct program){ .name = name ? xstrdup(name) : NULL, .set = xstrdup("test"), .package = xstrdup(""),
                           .unit = unit, .nunits = n, .libraries = libraries };
    return p;
}

struct program *program_of_table(const char *table, const char *name, const char *directory, struct unit *unit,
                                 size_t n, char **libraries)
{
    static const char *const column[] = { "search", "confirm", "set", "package", "build" };
    struct program *p = begun(name, unit, n, libraries);
    char **field[] = { &p->search, &p->confirm, &p->set, &p->package, &p->build };
    csv *t = csv_open(table);
    int fields = unit ? 2 : 5, col[5], row = csv_need(t, "name"), status = csv_find(t, "status");
    for (int i = 0; i < fields; i++) col[i] = csv_need(t, column[i]);
    if (unit) p->build = xstrdup("");
    while (csv_next(t)) {
        if (!str_is(csv_str(t, row), name)) continue;
        if (status >= 0) p->status = field_copy(t, status);
        for (int i = 0; i < fields; i++) *field[i] = field_copy(t, col[i]);
        return found(p, directory, t, table);
    }
    die("%s: no program '%s'", table, name);
}

struct program *program_of_directory(const char *directory, const char *name, struct unit *unit, size_t n,
                                     char **libraries)
{
    struct program *p = begun(name, unit, n, libraries);
    p->directory = realpath(directory, NULL);
    if (!p->directory) die_errno("%s", directory);
    char *path = xformat("%s/program", directory);
    FILE *f = fopen(path, "r");
    if (!f) die_errno("%s", path);
    char *line = NULL;
    size_t cap = 0, number = 0;
    while (text_line(f, path, &line, &cap) >= 0) {
        number++;
        line[strcspn(line, "\r\n")] = 0;
        size_t k = strcspn(line, " \t");
        const char *rest = line + k + strspn(line + k, " \t");
        if (k == 0 || line[0] == '#') continue;
        char **to = k == 5 && memcmp(line, "build", 5) == 0 ? &p->build
                  : k == 6 && memcmp(line, "search", 6) == 0 ? &p->search
                  : k == 6 && memcmp(line, "status", 6) == 0 ? &p->status
                  : k == 7 && memcmp(line, "confirm", 7) == 0 ? &p->confirm : NULL;
        if (!to) die_at(path, number, "'%.*s' is not build, search, confirm or status", (int)k, line);
        if (*to) die_at(path, number, "a second line '%.*s'", (int)k, line);
        *to = xstrdup(rest);
    }
    fclose(f);
    free(line);
    if (p->unit && p->build) die("%s: a line `build` and a recorded build: one of them is too many", path);
    if (p->unit) p->build = xstrdup("");
    if (!p->build || !p->search || !p->confirm)
        die("%s: a line `%s ...` is missing", path, !p->build ? "build" : !p->search ? "search" : "confirm");
    const char *slash = strrchr(p->directory, '/');
    if (!p->name) p->name = xstrdup(slash ? slash + 1 : p->directory);
    parse(p, path, 1);
    free(path);
    return p;
}

/* ---- in a work directory */

void program_quote(struct buf *b, char *const *words)
{
    for (size_t i = 0; words && words[i]; i++) {
        if (b->n) buf_char(b, ' ');
        shell_quote(b, words[i]);
    }
    buf_char(b, 0);
    b->n--;
}

char **program_words(const char *file, size_t line, const char *quoted)
{
    const char *why;
    char **words = *quoted ? shell_words(quoted, &why) : xcalloc(1, sizeof *words);
    if (!words) die_at(file, line, "'%s': %s", quoted, why);
    return words;
}

void program_write_units(const struct program *p, const char *path)
{
    struct buf flags = { 0 };
    csvw *w = csvw_open(path);
    csvw_names(w, "directory,source,flags,archive");
    csvw_end(w);
    for (size_t i = 0; i < p->nunits; i++) {
        flags.n = 0;
        program_quote(&flags, p->unit[i].flags);
        csvw_cstr(w, p->unit[i].directory);
        csvw_cstr(w, p->unit[i].source);
        csvw_cstr(w, flags.s);
        csvw_int(w, (int64_t)p->unit[i].archive);
        csvw_end(w);
    }
    csvw_close(w);
    free(flags.s);
}

static char *root;

void program_root(const char *directory)
{
    root = realpath(directory, NULL);
    if (!root) die_errno("%s", directory);
}

static char *rooted(const char *path)
{
    char *there = root && path[0] == '/' ? xformat("%s%s", root, path) : NULL;
    if (there && access(there, F_OK) == 0) return there;
    free(there);
    return xstrdup(path);
}

static void read_units(struct program *p, const char *path)
{
    static struct arena text;
    size_t cap = 0;
    csv *t = csv_open(path);
    int directory = csv_need(t, "directory"), source = csv_need(t, "source"), flags = csv_need(t, "flags"),
        archive = csv_find(t, "archive");
    while (csv_next(t)) {
        int64_t number = archive < 0 ? 0 : csv_int(t, archive);
        if (number < 0) csv_die(t, archive, "the number of an archive");
        p->unit = grow(p->unit, p->nunits + 1, &cap, sizeof *p->unit);
        p->unit[p->nunits++] = (struct unit){ rooted(csv_cstr(t, directory, &text)),
                                              rooted(csv_cstr(t, source, &text)),
                                              program_words(path, csv_line(t), csv_cstr(t, flags, &text)),
                                              (size_t)number };
    }
    csv_close(t);
    if (p->nunits == 0) die_at(path, 2, "no unit");
}

struct program *program_of_work(const char *table, const char *units)
{
    static struct arena text;
    struct program *p = xcalloc(1, sizeof *p);
    csv *t = csv_open(table);
    static const char *const column[] = { "name", "set", "package", "build", "search", "confirm", "directory" };
    char **field[] = { &p->name, &p->set, &p->package, &p->build, &p->search, &p->confirm, &p->directory };
    int libraries = csv_need(t, "libraries"), status = csv_find(t, "status"), col[7];
    for (int i = 0; i < 7; i++) col[i] = csv_need(t, column[i]);
    if (!csv_next(t)) die_at(table, 2, "no row");
    for (int i = 0; i < 7; i++) *field[i] = xstrdup(csv_cstr(t, col[i], &text));
    if (status >= 0) p->status = xstrdup(csv_cstr(t, status, &text));
    p->directory = rooted(p->directory);
    p->libraries = program_words(table, csv_line(t), csv_cstr(t, libraries, &text));
    read_units(p, units);
    parse(p, table, csv_line(t));
    csv_close(t);
    return p;
}
