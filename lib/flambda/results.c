/* results.c - see results.h */
#include "flambda/results.h"
#include "base/compare.h"
#include "base/mem.h"
#include "base/message.h"
#include "decisions/decisions.h"
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool data_line(FILE *f, const char *path, char **text, size_t *room, size_t *number, str *line)
{
    static const char head[] = "version https://git-lfs";
    ssize_t n = text_line(f, path, text, room);
    if (n <= 0) return false;
    ++*number;
    while (n && ((*text)[n - 1] == '\n' || (*text)[n - 1] == '\r')) n--;
    *line = (str){ *text, (size_t)n };
    if (*number == 1 && line->n >= sizeof head - 1 && !memcmp(line->s, head, sizeof head - 1))
        die_at(path, 1, "a git-LFS pointer, not the data; fetch the file itself");
    if (memchr(line->s, 0, line->n)) die_at(path, *number, "a NUL byte: binary file?");
    return true;
}

char **sorted_names(const char *dir, size_t *n)
{
    DIR *d = opendir(dir);
    if (!d) die_errno("%s", dir);
    char **name = NULL;
    size_t cap = 0;
    *n = 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.') continue;
        name = grow(name, *n + 1, &cap, sizeof *name);
        name[(*n)++] = xstrdup(e->d_name);
    }
    closedir(d);
    if (*n) qsort(name, *n, sizeof *name, order_strings);
    return name;
}

static bool is_directory(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static void read_line(const char *path, size_t number, str text, struct result_line *l, double **seconds, size_t *cap)
{
    size_t field = 0;
    l->n = 0;
    for (const char *p = text.s, *end = text.s + text.n;; field++) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        str s = { p, (size_t)((comma ? comma : end) - p) };
        if (field == 0) l->worker = s;
        if (field == 2) l->rundir = s;
        if (field > 2) {
            *seconds = grow(*seconds, l->n + 1, cap, sizeof **seconds);
            double v = (*seconds)[l->n++] = span_seconds(s);
            if (!(v > 0) || isinf(v))
                die_at(path, number, "timing %zu: '%.*s' is not a positive number with s, m, h, ms, us or ns", l->n,
                       (int)s.n, s.s);
        }
        if (!comma) break;
        p = comma + 1;
    }
    if (!l->n) die_at(path, number, "worker, overrides, run directory and timings wanted, %zu fields found", field + 1);
    l->seconds = *seconds;
}

static void read_file(const char *path, struct result_line *l, result_visit *visit, void *context)
{
    FILE *f = fopen(path, "r");
    if (!f) die_errno("%s", path);
    char *text = NULL;
    double *seconds = NULL;
    size_t room = 0, cap = 0, number = 0;
    for (str line; data_line(f, path, &text, &room, &number, &line);) {
        l->failed = false;
        read_line(path, number, line, l, &seconds, &cap);
        visit(context, l);
    }
    fclose(f);
    free(text);
    free(seconds);
    if (number) return;
    l->failed = true;
    visit(context, l);
}

static void read_experiment(const char *dir, struct result_line *l, result_visit *visit, void *context)
{
    size_t n;
    char **name = sorted_names(dir, &n);
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(name[i]);
        char *path = xformat("%s/%s", dir, name[i]);
        if (len > 4 && !strcmp(name[i] + len - 4, ".csv") && !is_directory(path)) {
            const char *start = strncmp(name[i], "plugin_", 7) ? name[i] : name[i] + 7;
            char *policy = xformat("%.*s", (int)(strlen(start) - 4), start);
            l->policy = policy;
            read_file(path, l, visit, context);
            free(policy);
        }
        free(path);
        free(name[i]);
    }
    free(name);
}

void results_walk(const char *dir, const char *experiment, result_visit *visit, void *context)
{
    size_t nbenchmark;
    char **benchmark = sorted_names(dir, &nbenchmark);
    for (size_t b = 0; b < nbenchmark; b++) {
        char *sub = xformat("%s/%s", dir, benchmark[b]);
        if (is_directory(sub)) {
            size_t n;
            char **name = sorted_names(sub, &n);
            for (size_t i = 0; i < n; i++) {
                struct result_line l = { .benchmark = benchmark[b], .experiment = name[i] };
                char *path = xformat("%s/%s", sub, name[i]);
                if (is_directory(path) && (!experiment || !strcmp(experiment, name[i])))
                    read_experiment(path, &l, visit, context);
                free(path);
            }
            for (size_t i = 0; i < n; i++) free(name[i]);
            free(name);
        }
        free(sub);
        free(benchmark[b]);
    }
    free(benchmark);
}
