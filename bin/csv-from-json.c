/* csv-from-json - JSON lines to a table
 *
 * Usage: csv-from-json [-c COLS] [FILE]...
 *
 * In: objects, one behind the other (JSON lines, as Ray, wandb and many logs
 * write them) or in one array; .gz is read too.  Columns out: the keys in order
 * of first appearance, or COLS in that order.  An object within an object gives
 * a column for each of its keys, OUTER.INNER.  Numbers come out as they are
 * written, to the last digit; true and false as those words; null, and a key
 * that an object lacks, as an empty field.  An array is written as JSON in one
 * field.  A key twice in one object is an error.  Order of the rows is kept.
 * Memory: constant with -c; else the input is read twice, what comes by a pipe
 * through a file in TMPDIR.
 *
 * Examples:
 *   $ csv-from-json results.json | csv-show
 *   $ csv-from-json -c config.lr,loss wandb.jsonl | csv-sort -k loss:n
 */
#include "base/filter.h"
#include "base/reread.h"
#include "table/columns.h"
#include "tree/json.h"
#include HELP
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *columns;
static const struct opt options[] = {
    { 'c', "column", STR, &columns, "COLS", "the columns to write" },
    { 0 } };

enum { NESTED_MAX = 64 };                                /* objects within objects */

static struct intern col;
static str *value;                                       /* of the row at hand, for each column */
static struct arena text;
static csvw *w;                                          /* NULL: only the names of columns are collected */

static void see(const jsonr *j, struct intern *seen, str key)
{
    size_t before = seen->n;
    if (intern(seen, key) < before) json_die(j, "the object has '%.*s' twice", (int)key.n, key.s);
}

/* what stands in the input next, as JSON: begins with the token given */
static void put_json(jsonr *j, enum json token, struct buf *b)
{
    size_t depth = 0, cap = 0;
    bool first = true;
    struct intern *seen = NULL;                          /* keys of each open object */
    for (;; token = json_next(j)) {
        bool end = token == JSON_OBJECT_END || token == JSON_ARRAY_END;
        if (!first && !end) buf_char(b, ',');
        first = token == JSON_OBJECT || token == JSON_ARRAY || token == JSON_KEY;
        str s = token == JSON_KEY || token == JSON_STRING || token == JSON_NUMBER ? json_str(j) : (str){ "", 0 };
        switch (token) {
        case JSON_OBJECT: case JSON_ARRAY:
            seen = grow(seen, ++depth, &cap, sizeof *seen);
            seen[depth - 1] = (struct intern){ 0 };
            buf_char(b, token == JSON_OBJECT ? '{' : '[');
            break;
        case JSON_OBJECT_END: case JSON_ARRAY_END:
            intern_free(&seen[--depth]);
            buf_char(b, token == JSON_OBJECT_END ? '}' : ']');
            break;
        case JSON_KEY: case JSON_STRING:
            if (token == JSON_KEY) see(j, &seen[depth - 1], s);
            buf_char(b, '"');
            for (size_t i = 0; i < s.n; i++) {
                if ((unsigned char)s.s[i] < 0x20) buf_format(b, "\\u%04x", (unsigned)s.s[i]);
                else buf_format(b, s.s[i] == '"' || s.s[i] == '\\' ? "\\%c" : "%c", s.s[i]);
            }
            buf_format(b, token == JSON_KEY ? "\":" : "\"");
            break;
        case JSON_NUMBER: buf_str(b, s); break;
        case JSON_TRUE: buf_format(b, "true"); break;
        case JSON_FALSE: buf_format(b, "false"); break;
        case JSON_NULL: buf_format(b, "null"); break;
        case JSON_END: break;
        }
        if (token == JSON_END || (!depth && token != JSON_KEY)) break;
    }
    free(seen);
}

static void set(const jsonr *j, str name, str s)
{
    long c = columns ? intern_find(&col, name) : (long)intern(&col, name);
    if (memchr(s.s, 0, s.n) || memchr(name.s, 0, name.n))
        json_die(j, "'%.*s' holds a NUL, which no table can", (int)name.n, name.s);
    if (!w || c < 0) return;
    if (value[c].s) json_die(j, "the object has '%.*s' twice", (int)name.n, name.s);
    value[c] = (str){ arena_copy(&text, s.s, s.n), s.n };
}

/* the rest of an object whose names begin with those in `name` */
static void take_object(jsonr *j, struct buf *name, int nested)
{
    size_t outer = name->n;
    struct intern seen = { 0 };
    if (nested > NESTED_MAX) json_die(j, "more than %d objects, each within another", NESTED_MAX);
    for (str key; json_key(j, &key);) {
        struct buf made = { 0 };
        see(j, &seen, key);
        name->n = outer;
        if (outer) buf_char(name, '.');
        buf_str(name, key);
        if (!name->n) json_die(j, "a key is empty: no column can be called so");
        enum json token = json_next(j);
        str s = { "", 0 };
        switch (token) {
        case JSON_OBJECT: take_object(j, name, nested + 1); continue;
        case JSON_STRING: case JSON_NUMBER: s = json_str(j); break;
        case JSON_TRUE: s = str_of("true"); break;
        case JSON_FALSE: s = str_of("false"); break;
        case JSON_NULL: break;
        default:
            put_json(j, token, &made);
            s = (str){ made.s, made.n };
        }
        set(j, (str){ name->s, name->n }, s);
        free(made.s);
    }
    intern_free(&seen);
    name->n = outer;
}

static void take_row(jsonr *j)
{
    struct buf name = { 0 };
    buf_add(&name, "", 0);
    if (w) memset(value, 0, col.n * sizeof *value);
    take_object(j, &name, 1);
    free(name.s);
    if (!w) return;
    for (size_t c = 0; c < col.n; c++) csvw_str(w, value[c].s ? value[c] : (str){ "", 0 });
    csvw_end(w);
    arena_reset(&text);
}

static void take_file(const char *path)
{
    jsonr *j = json_open(path);
    bool list = false, any = false;
    for (enum json token; (token = json_next(j)) != JSON_END; any = true) {
        if (token == JSON_OBJECT) take_row(j);
        else if (token == JSON_ARRAY && !list) list = true;
        else if (token == JSON_ARRAY_END && list) list = false;
        else json_die(j, "an object is wanted, {\"name\": value, ..}");
    }
    if (!any) die("%s: no object in it", strcmp(path, "-") == 0 ? "(stdin)" : path);
    json_close(j);
}

static void open_table(void)
{
    if (!col.n) die("no key in any object: no column to write");
    w = csvw_open(NULL);
    value = xcalloc(col.n, sizeof *value);
    for (size_t c = 0; c < col.n; c++) csvw_str(w, col.name[c]);
    csvw_end(w);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    char *in[] = { xstrdup("-"), NULL }, **files = i < argc ? argv + i : in;
    if (columns) columns_named(&col, columns, "--column");
    else {
        off_t begin = reread_begin();
        for (char **f = files; *f; f++) reread_prepare(f);
        int copy = dup(STDIN_FILENO);
        for (char **f = files; *f; f++) take_file(*f);
        if (copy >= 0) reread_stdin(copy, begin);
    }
    open_table();
    for (char **f = files; *f; f++) take_file(*f);
    return csvw_close(w);
}
