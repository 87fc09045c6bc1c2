/* result.c - see result.h */
#include "place/result.h"
#include "base/message.h"
#include "base/num.h"
#include "measure/stats.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char result_columns[] =
    "network,batch,formulation,ratio,predicted_seconds,bound_seconds,gap_ratio,actual_seconds,median_seconds,step_"
    "seconds,round_seconds,"
    "io_bytes,peak_bytes,limit_bytes,fast_alloc_bytes,slow_alloc_bytes,reached_ratio,fast_used_bytes,scratch_bytes,"
    "resident_bytes,"
    "num_move_nodes,moved_bytes,num_slow_move_nodes,num_fast_move_nodes,moved_to_slow_bytes,moved_to_fast_bytes,"
    "num_async_move_nodes,async_moved_bytes,num_slow_async_move_nodes,num_fast_async_move_nodes,"
    "async_moved_to_slow_bytes,async_moved_to_fast_bytes,creation_seconds,optimisation_seconds,"
    "move_seconds,measured_move_seconds,num_kernels,"
    "num_input_tensors,num_output_tensors,num_fast_input_tensors,num_fast_output_tensors,"
    "input_tensors_bytes,output_tensors_bytes,fast_input_tensors_bytes,fast_output_tensors_bytes,"
    "read_bytes,written_bytes,read_bytes_per_second,write_bytes_per_second,loss,tier,method,kind,threads,isa,machine,"
    "load,"
    "oracle_seconds,gpu_managed_seconds,"
    "tensor_bytes,config,kernel_seconds";

/* columns of a run that are the same in all its rows, in the order of ours */
enum { FAST_BYTES, SCRATCH_BYTES, RESIDENT_BYTES, TRAFFIC, TIER = 7 };
static const char *const setting_name[RESULT_SETTINGS] = {
    "fast_bytes", "scratch_bytes", "resident_bytes", "read_bytes", "written_bytes", "read_bytes_per_second",
    "write_bytes_per_second", "tier", "method", "kind", "threads", "isa", "machine", "load"
};

struct result_run result_run_read(const char *path)
{
    struct result_run s = { 0 };
    size_t cap = 0, caploss = 0, capmoves = 0, caprounds = 0;
    int64_t before = INT64_MAX;                          /* a round begins where steps do */
    bool counted = false;                                /* this round has a counted step */
    csv *t = csv_open(path);
    int step = csv_need(t, "step"), warm = csv_need(t, "warm"), seconds = csv_need(t, "seconds"),
        loss = csv_need(t, "loss"), move = csv_need(t, "move_seconds"), setting[RESULT_SETTINGS];
    struct buf last[RESULT_SETTINGS] = { 0 };
    for (int i = 0; i < RESULT_SETTINGS; i++) setting[i] = csv_need(t, setting_name[i]);
    while (csv_next(t)) {
        for (int i = 0; i < RESULT_SETTINGS; i++) {
            last[i].n = 0;
            buf_str(&last[i], csv_str(t, setting[i]));
        }
        counted = counted && csv_int(t, step) > before;
        before = csv_int(t, step);
        if (csv_int(t, warm)) continue;
        s.seconds = grow(s.seconds, s.n + 1, &cap, sizeof *s.seconds);
        s.loss = grow(s.loss, s.n + 1, &caploss, sizeof *s.loss);
        s.moves = grow(s.moves, s.n + 1, &capmoves, sizeof *s.moves);
        s.seconds[s.n] = csv_num(t, seconds);
        s.loss[s.n] = csv_num_or(t, loss, NAN);
        s.moves[s.n] = csv_num(t, move);
        if (!counted) {
            s.round = grow(s.round, s.rounds + 1, &caprounds, sizeof *s.round);
            s.round[s.rounds++] = INFINITY;
        }
        counted = true;
        s.round[s.rounds - 1] = fmin(s.round[s.rounds - 1], s.seconds[s.n++]);
    }
    csv_close(t);
    if (!s.n) die("%s: no counted step", path);
    for (int i = 0; i < RESULT_SETTINGS; i++) s.setting[i] = last[i].s;
    return s;
}

bool result_is_there(const char *path, const struct graph *g, const struct plan *p, const char *ratio)
{
    csv *t = csv_open(path);
    int network = csv_need(t, "network"), batch = csv_need(t, "batch"), form = csv_need(t, "formulation"),
        at = csv_need(t, "ratio"), limit = csv_need(t, "limit_bytes");
    bool there = false;
    while (csv_next(t))
        there |= str_is(csv_str(t, network), g->name) && csv_int(t, batch) == g->batch &&
                 str_is(csv_str(t, form), p->formulation) && str_is(csv_str(t, at), ratio ? ratio : "") &&
                 csv_int(t, limit) == (int64_t)p->limit;
    csv_close(t);
    return there;
}

static void list(csvw *w, const double *v, size_t n)
{
    struct buf b = { 0 };
    char number[NUM_MAX];
    buf_char(&b, '(');
    for (size_t i = 0; i < n; i++) {
        if (i) buf_char(&b, ' ');
        buf_add(&b, number, num_print(number, v[i]));
    }
    buf_char(&b, ')');
    csvw_str(w, (str){ b.s, b.n });
    free(b.s);
}

static void ints(csvw *w, size_t n, const uint64_t *v)
{
    for (size_t i = 0; i < n; i++) csvw_int(w, (int64_t)v[i]);
}

/* a cell that is one s-expression */
struct cell { char *text; size_t n; FILE *f; sexpw *w; };

static sexpw *cell_begin(struct cell *c)
{
    c->f = open_memstream(&c->text, &c->n);
    c->w = sexpw_file(c->f);
    sexpw_begin(c->w, NULL);
    return c->w;
}

static void cell_end(csvw *w, struct cell *c)
{
    sexpw_end(c->w);
    sexpw_close(c->w);
    fclose(c->f);
    csvw_str(w, (str){ c->text, c->n - 1 });             /* without the line's end */
    free(c->text);
}

static void kernel_cell(csvw *w, const char *path)
{
    csv *t = csv_open(path);
    int name = csv_need(t, "name"), seconds = csv_need(t, "seconds");
    struct cell c;
    sexpw *s = cell_begin(&c);
    while (csv_next(t)) {
        sexpw_begin(s, NULL);
        sexpw_atom(s, csv_str(t, name));
        sexpw_atom(s, csv_str(t, seconds));
        sexpw_end(s);
    }
    csv_close(t);
    cell_end(w, &c);
}

void result_write(csvw *w, const struct graph *g, const struct plan *p, const struct record *r,
                  const struct result_run *s, const char *ratio, const char *kernels)
{
    double least = INFINITY;
    for (size_t n = 0; n < s->n; n++) least = fmin(least, s->seconds[n]);
    csvw_cstr(w, g->name);
    csvw_int(w, g->batch);
    csvw_cstr(w, p->formulation);
    csvw_cstr(w, ratio);
    csvw_num(w, p->objective);
    csvw_num(w, p->bound);
    csvw_num(w, p->gap);
    csvw_num(w, least);
    csvw_num(w, median(s->seconds, s->n));
    list(w, s->seconds, s->n);
    list(w, s->round, s->rounds);
    ints(w, 5, (uint64_t[]){ r->io_bytes, r->peak_bytes, p->limit, p->fast_bytes, p->slow_bytes });
    csvw_known(w, p->fast_bytes ? plan_ratio(p) : NAN);
    for (int i = FAST_BYTES; i <= RESIDENT_BYTES; i++) csvw_cstr(w, s->setting[i]);
    uint64_t beside = r->beside;
    ints(w, 6,
         (uint64_t[]){ (uint64_t)r->moves, r->moved, (uint64_t)r->moves_to_slow, (uint64_t)r->moves_to_fast,
                       r->moved_to_slow, r->moved_to_fast });
    ints(w, 6,
         (uint64_t[]){ beside * (uint64_t)r->moves, beside * r->moved, beside * (uint64_t)r->moves_to_slow,
                       beside * (uint64_t)r->moves_to_fast, beside * r->moved_to_slow, beside * r->moved_to_fast });
    csvw_known(w, r->creation_seconds);
    csvw_known(w, r->optimisation_seconds);
    csvw_known(w, r->move_seconds);
    csvw_num(w, median(s->moves, s->n));
    ints(w, 9,
         (uint64_t[]){ (uint64_t)r->kernels, (uint64_t)r->inputs, (uint64_t)r->outputs, (uint64_t)r->fast_inputs,
                       (uint64_t)r->fast_outputs, r->input_bytes, r->output_bytes, r->fast_input_bytes,
                       r->fast_output_bytes });
    for (int i = TRAFFIC; i < TIER; i++) csvw_cstr(w, s->setting[i]);
    list(w, s->loss, s->n);
    for (int i = TIER; i < RESULT_SETTINGS; i++) csvw_cstr(w, s->setting[i]);
    csvw_known(w, r->profile ? record_oracle(g, r->profile, kernels) : NAN);
    csvw_known(w, strcmp(s->setting[TIER + 1], "managed") ? NAN : least);
    struct cell c;
    record_sizes(g, cell_begin(&c));
    cell_end(w, &c);
    record_tiers(g, p, cell_begin(&c));
    cell_end(w, &c);
    if (kernels) kernel_cell(w, kernels);
    else csvw_empty(w);
    csvw_end(w);
}
