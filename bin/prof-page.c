/* prof-page - one HTML page about a run, which opens without network
 *
 * Usage: prof-page [OPTION]... [-o PAGE] [DIR|FILE]...
 *
 * In: events as intervals (prof-log --nested, prof-import --nested).  The page
 * shows what ran at the same time (--cells, of prof-sweep), the most expensive
 * functions (--top, of prof-top), operations by category, lanes of all threads
 * and streams that zoom, a flame graph, the critical path (--path of prof-path,
 * --pieces of prof-path --pieces: a red line above the lanes), and what a
 * faster part would bring (--whatif, of prof-whatif, a slider for each part).
 * Tables that are not given are not shown.  Of more than --intervals the
 * shortest are not drawn, and the page says how many.  Everything is in the
 * page; it loads nothing, and names in the data are shown as text.
 * Memory: all rows.
 *
 * Examples:
 *   $ prof-page -o page.html out/run
 */
#include "base/filter.h"
#include "prof/import/input.h"
#include "prof/page.h"
#include HELP

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

int main(int argc, char **argv)
{
    static struct event_table t;
    int i = filter_init(argc, argv, help, options);
    page.limit = (size_t)limit;
    table_read(&t, input_stream(argv + i, true, true));
    input_end();
    page_write(out, &page, &t);
    return EXIT_OK;
}
