/* csv-cat - tables one below the other
 *
 * Usage: csv-cat [--fill] [--source=COL] [--files-from=LIST] [FILE]...
 *
 * Columns in: any; every file must have the same ones in the same order, or
 * with --fill any.  Columns out: the same; with --fill the union in order of
 * first appearance, empty where a file lacks one; with --source first the name
 * of the file a row came from.  Order and bytes of the rows are kept.
 * Constant memory.
 *
 * Examples:
 *   $ csv-cat --source=file out/runs/a.csv out/runs/b.csv
 *   $ find out -name '*.csv' | sort | csv-cat --files-from=- --fill
 */
#include "base/filter.h"
#include "base/reread.h"
#include "table/csvio.h"
#include "table/input.h"
#include HELP
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool fill;
static const char *source, *files_from;
static const struct opt options[] = {
    { 0, "fill", FLAG, &fill, NULL, "files may have different columns" },
    { 0, "source", STR, &source, "COL", "add a first column COL: the file's name" },
    { 0, "files-from", STR, &files_from, "LIST", "read file names from LIST, one a line" },
    CSV_INPUT,
    { 0 } };

static struct list read_list(const char *path)
{
    struct list files = { 0 };
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    if (!f) die_errno("%s", path);
    char *line = NULL;
    size_t cap = 0;
    for (ssize_t n; (n = text_line(f, path, &line, &cap)) > 0;) {
        if (line[n - 1] == '\n') line[n - 1] = 0;
        files.v = xrealloc(files.v, (size_t)files.n + 2, sizeof *files.v);
        files.v[files.n++] = xstrdup(line);
    }
    free(line);
    return files;
}

/* the columns of all files, each read up to its header; they can then be read again */
static struct intern all_names(char **files)
{
    struct intern names = { 0 };
    off_t begin = reread_begin();
    for (; *files; files++) {
        reread_prepare(files);
        csv *t = csv_open(*files);
        for (int i = 0; i < csv_ncol(t); i++) intern(&names, csv_name(t, i));
        csv_close(t);
    }
    reread_stdin(STDIN_FILENO, begin);
    return names;
}

static void copy_filled(csvw *w, csv *t, const struct intern *names)
{
    int *from = xmalloc(names->n, sizeof *from);
    for (size_t i = 0; i < names->n; i++) from[i] = -1;
    for (int i = 0; i < csv_ncol(t); i++) {
        long to = intern_find(names, csv_name(t, i));
        if (to < 0) die_at(csv_file(t), 1, "the header changed while it was read");
        from[to] = i;
    }
    while (csv_next(t)) {
        if (source) csvw_cstr(w, csv_file(t));
        for (size_t i = 0; i < names->n; i++) {
            if (from[i] < 0) csvw_empty(w);
            else csvw_copy(w, t, from[i]);
        }
        csvw_end(w);
    }
    free(from);
}

static void cat_filled(csvw *w, char **files)
{
    struct intern names = all_names(files);
    if (source) csvw_cstr(w, source);
    for (size_t i = 0; i < names.n; i++) csvw_str(w, names.name[i]);
    csvw_end(w);
    for (; *files; files++) {
        csv *t = csv_open(*files);
        copy_filled(w, t, &names);
        csv_close(t);
    }
}

static void cat_same(csvw *w, char **files)
{
    csv *t = csv_files(files);
    if (source) csvw_cstr(w, source);
    csvw_copy_names(w, t);
    csvw_end(w);
    while (csv_next(t)) {
        if (source) csvw_cstr(w, csv_file(t));
        csvw_copy_all(w, t);
        csvw_end(w);
    }
}

int main(int argc, char **argv)
{
    char **files = argv + filter_init(argc, argv, help, options);
    if (files_from && *files) usage("operands and --files-from exclude each other");
    if (files_from) {
        struct list l = read_list(files_from);
        if (!l.n) die("%s: no file names", files_from);
        l.v[l.n] = NULL;
        files = (char **)(void *)l.v;
    }
    csvw *w = csvw_open(NULL);
    if (fill && *files && files[1]) cat_filled(w, files);
    else cat_same(w, files);
    return csvw_close(w);
}
