#include "inline/proved.h"
#include "table/record.h"
#include <math.h>

/* what a row says beside the members of struct proved */
struct row {
    struct proved p;
    const char *program, *level, *state;
    double closed_ratio, builds_per_second, gap_ratio, excess_ratio;
};

#define IN(member) offsetof(struct row, member)
static const struct field columns[] = {
    { "program", F_TEXT, IN(program) },
    { "module", F_TEXT, IN(p.module) },
    { "level", F_TEXT, IN(level) },
    { "functions", F_SIZE, IN(p.functions) },
    { "calls", F_SIZE, IN(p.calls) },
    { "decided", F_SIZE, IN(p.decided) },
    { "recursive_functions", F_SIZE, IN(p.recursive) },
    { "closed_functions", F_SIZE, IN(p.closed_functions) },
    { "closed_ratio", F_KNOWN, IN(closed_ratio) },
    { "largest", F_SIZE, IN(p.largest) },
    { "entries", F_SIZE, IN(p.entries) },
    { "builds", F_LONG, IN(p.builds) },
    { "whole", F_LONG, IN(p.whole) },
    { "builds_per_second", F_NUM, IN(builds_per_second) },
    { "seconds", F_NUM, IN(p.seconds) },
    { "none_bytes", F_NUM, IN(p.none) },
    { "heuristic_bytes", F_NUM, IN(p.heuristic) },
    { "best_bytes", F_NUM, IN(p.best) },
    { "table_bytes", F_NUM, IN(p.tables) },
    { "lower_bytes", F_NUM, IN(p.lower) },
    { "gap_ratio", F_KNOWN, IN(gap_ratio) },
    { "excess_ratio", F_KNOWN, IN(excess_ratio) },
    { "estimate_bytes", F_NUM, IN(p.estimate) },
    { "compared", F_LONG, IN(p.compared) },
    { "unequal", F_LONG, IN(p.unequal) },
    { "sums", F_LONG, IN(p.sums) },
    { "sums_unequal", F_LONG, IN(p.sums_unequal) },
    { "state", F_TEXT, IN(state) },
    { "reason", F_TEXT, IN(p.why) },
    { 0 }
};

void proved_names(csvw *w)
{
    record_names(w, columns);
    csvw_end(w);
}

static double ratio(double of, double to)
{
    return to > 0 ? of / to : NAN;
}

void proved_write(csvw *w, const char *program, const char *level, const struct proved *p)
{
    const char *state = p->why ? "failed" : p->heuristic < p->best ? "beaten" : p->lower == p->best ? "optimum"
                      : p->recursive ? "recursive" : "bound";
    struct row r = { *p, program, level, state, ratio(p->closed_bytes, p->best),
                     (double)p->builds / p->seconds, ratio(p->best, p->lower), ratio(p->heuristic, p->best) };
    record_write(w, columns, &r);
    csvw_end(w);
}

void proved_add(struct proved *sum, const struct proved *p)
{
    sum->functions += p->functions;
    sum->calls += p->calls;
    sum->decided += p->decided;
    sum->recursive += p->recursive;
    sum->closed_functions += p->closed_functions;
    sum->entries += p->entries;
    if (p->largest > sum->largest) sum->largest = p->largest;
    sum->closed_bytes += p->closed_bytes;
    sum->none += p->none;
    sum->heuristic += p->heuristic;
    sum->best += p->best;
    sum->tables += p->tables;
    sum->lower += p->lower;
    sum->estimate += p->estimate;
    sum->seconds += p->seconds;
    sum->builds += p->builds;
    sum->whole += p->whole;
    sum->compared += p->compared;
    sum->unequal += p->unequal;
    sum->sums += p->sums;
    sum->sums_unequal += p->sums_unequal;
}

void proved_call_names(csvw *w)
{
    csvw_names(w, "program,module,callee,caller,chain,choice,optimal,heuristic,closed,gain_bytes," PROVE_COLUMNS);
    csvw_end(w);
}

void proved_write_calls(csvw *w, const char *program, const struct proved *p)
{
    static const struct call_row none;                   /* a call that -O2 does not have */
    for (size_t i = 0; i < p->calls; i++) {
        const struct prove_call *c = &p->call[i];
        const struct call_row *row = c->row ? c->row : &none;
        csvw_cstr(w, program);
        csvw_cstr(w, p->module);
        csvw_str(w, row->callee);
        csvw_str(w, row->caller);
        csvw_str(w, row->chain);
        csvw_cstr(w, c->fixed ? c->fixed : "yes");
        csvw_cstr(w, c->fixed ? "" : c->inlined ? "yes" : "no");
        csvw_cstr(w, c->by_default ? "yes" : "no");
        csvw_cstr(w, c->closed ? "yes" : "no");
        csvw_known(w, c->gain);
        for (size_t j = 0; j < PROVE_FEATURES; j++) csvw_num(w, c->feature[j]);
        csvw_end(w);
    }
}
