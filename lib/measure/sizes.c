#include "measure/sizes.h"
#include "table/csvio.h"
#include <math.h>
#include <string.h>

str sizes_program(str run)
{
    const char *dot = run.n ? memrchr(run.s, '.', run.n) : NULL;
    return (str){ run.s, dot ? (size_t)(dot - run.s) : run.n };
}

void sizes_read(struct sizes *s, const char *path, const struct intern *labels)
{
    csv *t = csv_open(path);
    int run = csv_need(t, "run"), label = csv_need(t, "label"), name = csv_need(t, "metric"),
        value = csv_need(t, "value");
    while (csv_next(t)) {
        if (!str_is(csv_str(t, name), "text_bytes") || !csv_has(t, value)) continue;
        str p = sizes_program(csv_str(t, run));
        double bytes = csv_num(t, value);
        if (!(bytes >= 1)) csv_die(t, value, "a size in bytes");
        s->v = grow(s->v, s->n + 1, &s->cap, sizeof *s->v);
        s->v[s->n++] = (struct size){ { arena_copy(&s->text, p.s, p.n), p.n }, intern_find(labels, csv_str(t, label)),
                                      bytes };
    }
    csv_close(t);
}

static double bytes_of(const struct sizes *s, str program, long label)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].label == label && str_eq(s->v[i].program, program)) return s->v[i].bytes;
    return NAN;
}

double size_ratio(const struct sizes *s, str program, long label, long base)
{
    return bytes_of(s, program, label) / bytes_of(s, program, base);
}
