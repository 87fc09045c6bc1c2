/* prof-page - one HTML page about a run, which opens without network
 *
 * Usage: prof-page [OPTION]... [-o PAGE] [DIR|FILE]...
 *
 * In: events as intervals (prof-log --nested, prof-import --nested).  The page
 * shows what ran at the same time (--cells, of prof-sweep), the most expensive
 * functions (--top, of prof-top), operations by category, lanes of all threads
 * and streams that zoom, a flame graph, the critical path (--path of prof-path,
 * --pieces of prof-path --joined: a red line above the lanes), and what a
 * faster part would bring (--whatif, of prof-whatif, a slider for each part).
 * Of a folder of the recorder's logs the tables that are not given are made:
 * sliders for categories and operations; of more than five million rows without
 * --path, --pieces and --whatif.  What is not there is not shown.
 * Of more than --intervals the shortest are not drawn, and the page says how
 * many.  Everything is in the page; it loads nothing, and names in the data are
 * shown as text.
 * Memory: all rows.
 *
 * Examples:
 *   $ prof-page -o page.html out/run
 */
#include "base/filter.h"
#include "prof/import/input.h"
#include "prof/page.h"
#include HELP
#include <stdlib.h>
#include <string.h>

static struct page page = { .title = "profile" };
static const char *out = "-";
static long limit = 500000;
static const struct opt options[] = {
    { 'o', "out", STR, &out, "PAGE", "where the page goes" },
    {  0,  "title",  STR, &page.title, "TEXT", "its title" },
    {  0,  "kind",   STR, &page.kind, "KIND", "real, emulated or simulated; said in the first line" },
    {  0,  "cells",  STR, &page.cells, "FILE", "cells" },
    {  0,  "top",    STR, &page.top, "FILE", "functions" },
    {  0,  "path",   STR, &page.path, "FILE", "sums of the critical path" },
    {  0,  "pieces", STR, &page.pieces, "FILE", "its pieces" },
    {  0,  "whatif", STR, &page.whatif, "FILE", "what faster parts would bring" },
    {  0,  "intervals", INT, &limit, "N", "intervals drawn", 1, 1e9 },
    { 0 } };

/* --speed=PART:2 .. for the categories and operations of the table that a user can change */
static size_t parts(const struct event_table *t, char **word, size_t most)
{
    static const char *const speed[] = { "1.5", "2", "4", "10" }, *const fixed[] = { "Profiler", "Unseen", "Off CPU" };
    bool *seen = xcalloc(t->text.n, sizeof *seen);
    size_t n = 0;
    for (size_t i = 0; i < t->rows.n && n + 4 <= most; i++) {
        const struct row *r = &t->rows.v[i];
        uint32_t text = r->kind == EVENT_CAT ? r->cat : r->kind == EVENT_OP ? r->name : 0;
        str s = t->text.name[text];
        bool part = text && !seen[text] && r->end > r->start && strcspn(s.s, "[]*?\\:") == s.n;
        for (size_t k = 0; k < sizeof fixed / sizeof *fixed; k++) part &= !str_is(s, fixed[k]);
        for (size_t k = 0; part && k < sizeof speed / sizeof *speed; k++)
            word[n++] = xformat("--speed=%s=%s:%s", r->kind == EVENT_OP ? "op" : "cat", s.s, speed[k]);
        if (text) seen[text] = true;
    }
    free(seen);
    return n;
}

static void make_tables(const struct event_table *t, char *dir)
{
    enum { PARTS = 96, PATH_MOST = 5000000 };            /* more take minutes */
    char name[5][16] = { "prof-sweep", "prof-top", "prof-path", "prof-whatif" }, calm[] = "--quiet",
         joined[] = "--joined", all[] = "--unexplained=1";
    char *whatif[PARTS + 4] = { name[3], calm };
    size_t n = 2 + parts(t, whatif + 2, PARTS);
    whatif[n] = dir;
    if (!page.cells) page.cells = input_table((char *[]){ name[0], calm, dir, NULL });
    if (!page.top) page.top = input_table((char *[]){ name[1], calm, dir, NULL });
    if (t->rows.n > PATH_MOST) {
        warn("%zu rows: without the critical path and what faster parts bring (prof-path, prof-whatif)", t->rows.n);
        return;
    }
    if (!page.path) page.path = input_table((char *[]){ name[2], calm, all, dir, NULL });
    if (!page.pieces) page.pieces = input_table((char *[]){ name[2], calm, all, joined, dir, NULL });
    if (!page.whatif && n > 2) page.whatif = input_table(whatif);
}

int main(int argc, char **argv)
{
    static struct event_table t;
    int i = filter_init(argc, argv, help, options);
    page.limit = (size_t)limit;
    input_charged(&t, argv + i);
    if (input_is_folder(argv + i)) make_tables(&t, argv[i]);
    page_write(out, &page, &t);
    return EXIT_OK;
}
