#include "inline/site_table.h"
#include "decisions/site.h"
#include "table/csvio.h"
#include <math.h>
#include <stdlib.h>

static void add_site(struct site_table *s, struct site site, double heat, double cost)
{
    struct buf b = { 0 };
    site_key(&b, site);
    uint32_t before = (uint32_t)s->key.n, k = intern(&s->key, (str){ b.s, b.n });
    s->heat = grow(s->heat, (size_t)k + 1, &s->cap_heat, sizeof *s->heat);
    s->cost = grow(s->cost, (size_t)k + 1, &s->cap_cost, sizeof *s->cost);
    if (k == before) s->cost[k] = cost;
    s->heat[k] = (k == before ? 0 : s->heat[k]) + heat;
    free(b.s);
}

void site_table_read(struct site_table *s, const char *path)
{
    csv *t = csv_open(path);
    int callee = csv_need(t, "callee"), where = csv_need(t, "chain"), heat = csv_need(t, "heat"),
        cost = csv_find(t, "cost");
    while (csv_next(t)) {
        if (!csv_has(t, heat)) continue;
        str name = csv_str(t, callee), plain = site_plain(name);
        double estimate = cost < 0 ? NAN : csv_num_or(t, cost, NAN), times = csv_num(t, heat);
        if (!(times >= 0 && isfinite(times))) csv_die(t, heat, "a count");
        add_site(s, (struct site){ name, csv_str(t, where) }, times, estimate);
        if (plain.n < name.n) add_site(s, (struct site){ plain, csv_str(t, where) }, times, estimate);
    }
    csv_close(t);
}
