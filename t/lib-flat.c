/* lib/prof/nest: nested intervals as disjoint pieces. With --rows or --exclusive and a table it prints the pieces of
 * its operations, --exclusive: and of its categories, for t/prof-oracle.t. */
#include "prof/events.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>

static struct event_table t;
static struct rows out;
static struct pieces pieces;

static void flatten(const struct row *row, size_t n, enum event_kind kind, struct repairs *repairs)
{
    nest_flatten(&pieces, row, n, kind, repairs);
    for (size_t k = 0; k < pieces.n; k++) {
        struct row r = *pieces.v[k].of;
        r.start = pieces.v[k].start;
        r.end = pieces.v[k].end;
        rows_add(&out, &r);
    }
}

static void flatten_all(const char *path, bool categories, struct repairs *repairs)
{
    char *files[] = { (char *)(uintptr_t)path, NULL };
    t = (struct event_table){ 0 };
    out.n = 0;
    table_read(&t, files);
    table_sort_threads(&t);
    for (size_t begin, end = 0; next_thread(&t.rows, &begin, &end);) {
        flatten(t.rows.v + begin, end - begin, EVENT_OP, repairs);
        if (categories) flatten(t.rows.v + begin, end - begin, EVENT_CAT, repairs);
    }
}

static void save(const char *path, const char *rows)
{
    FILE *f = fopen(path, "w");
    if (!f || fprintf(f, "proc,tid,kind,cat,start_ns,end_ns,name,link,flag\n%s", rows) < 0 || fclose(f) != 0) exit(1);
}

static bool piece(size_t i, int64_t start, int64_t end, const char *name)
{
    return i < out.n && out.v[i].start == start && out.v[i].end == end && str_is(t.text.name[out.v[i].name], name);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        flatten_all(argc > 2 ? argv[2] : "-", strcmp(argv[1], "--exclusive") == 0, NULL);
        return table_write(&t, &out, t.has_op);
    }
    char path[] = "/tmp/flat.XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0) return 1;
    struct repairs repairs = { 0 };
    save(path, "p,1,op,,0,10,outer,,\np,1,op,,2,12,inner,,\np,2,op,,4,6,other,,\n"
         "p,1,cat,B,0,9,b,,\np,1,cat,C,1,2,c,,\n");
    flatten_all(path, false, &repairs);
    ok(out.n == 3 && piece(0, 0, 2, "outer") && piece(1, 2, 10, "inner") && piece(2, 4, 6, "other"),
       "threads apart, what outlives its parent is cut");
    ok(repairs.misnested == 1, "and counted");
    flatten_all(path, true, NULL);
    ok(out.n == 6, "categories too");
    save(path, "p,1,op,,0,2,outer,,\np,1,op,,2,10,inner,,\np,1,op,,20,30,x,,\n");
    repairs = (struct repairs){ 0 };
    flatten_all(path, false, &repairs);
    ok(out.n == 3 && !repairs.misnested, "what is flat stays as it is");
    remove(path);
    return done();
}
