#include "place/steps.h"
#include "measure/machine.h"
#include "table/record.h"
#include <sys/resource.h>

enum { LOSS = 3 };
static struct field columns[] = {
    { "step", F_LONG, offsetof(struct step_row, step) },
    { "warm", F_INT, offsetof(struct step_row, warm) },
    { "seconds", F_NUM, offsetof(struct step_row, ran.seconds) },
    { "loss", F_KNOWN, offsetof(struct step_row, ran.loss) },
    { "kernel_seconds", F_NUM, offsetof(struct step_row, ran.kernel_seconds) },
    { "move_seconds", F_NUM, offsetof(struct step_row, ran.move_seconds) },
    { "delay_seconds", F_KNOWN, offsetof(struct step_row, ran.delay_seconds) },
    { "others_seconds", F_KNOWN, offsetof(struct step_row, ran.others_seconds) },
    { "moves", F_INT, offsetof(struct step_row, ran.moves) },
    { "read_bytes", F_UINT64, offsetof(struct step_row, ran.read_bytes) },
    { "written_bytes", F_UINT64, offsetof(struct step_row, ran.written_bytes) },
    { "fetched_bytes", F_UINT64, offsetof(struct step_row, ran.fetched_bytes) },
    { "evicted_bytes", F_UINT64, offsetof(struct step_row, ran.evicted_bytes) },
    { "fast_bytes", F_UINT64, offsetof(struct step_row, fast) },
    { "scratch_bytes", F_UINT64, offsetof(struct step_row, scratch) },
    { "limit_bytes", F_UINT64, offsetof(struct step_row, limit) },
    { "resident_bytes", F_LONG, offsetof(struct step_row, resident) },
    { "read_bytes_per_second", F_KNOWN, offsetof(struct step_row, before.read_bytes_per_second) },
    { "write_bytes_per_second", F_KNOWN, offsetof(struct step_row, before.write_bytes_per_second) },
    { "threads", F_INT, offsetof(struct step_row, threads) },
    { "isa", F_TEXT, offsetof(struct step_row, isa) },
    { "tier", F_TEXT, offsetof(struct step_row, tier) },
    { "method", F_TEXT, offsetof(struct step_row, method) },
    { "kind", F_TEXT, offsetof(struct step_row, kind) },
    { "load", F_KNOWN, offsetof(struct step_row, load) },
    { "machine", F_TEXT, offsetof(struct step_row, machine) },
    { 0 } };

void steps_names(csvw *w)
{
    record_names(w, columns);
    csvw_end(w);
}

void steps_write(csvw *w, struct step_row *r)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    r->resident = use.ru_maxrss * 1024;
    r->load = machine_load();
    columns[LOSS].type = r->ran.has_loss ? F_NUM : F_KNOWN;   /* nan is what a loss became, empty that there is none */
    record_write(w, columns, r);
    csvw_end(w);
}

void steps_row(csvw *w, struct step_row *r, const struct engine *e)
{
    r->fast = engine_fast_bytes(e);
    r->scratch = engine_scratch_bytes(e);
    if (!r->method) r->method = tier_method(engine_tier(e));
    if (!r->kind) r->kind = tier_kind(engine_tier(e));
    steps_write(w, r);
}
