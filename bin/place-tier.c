/* place-tier - describe and calibrate a tier of memory
 *
 * Usage: place-tier [--bytes=N] [--seconds=X] [--need=N] SPEC...
 *
 * SPEC is dram, file:DIRECTORY (a nameless file on a disk, past the page
 * cache), numa:N (memory of a node, bound and proven; not the only one),
 * dax:DIRECTORY (a file in persistent memory, mapped with MAP_SYNC or refused),
 * or emu:READ,WRITE[,LATENCY] (copies held to these bytes per second).
 *
 * Columns out: tier, kind (real or emulated), method (memory, o_direct,
 * buffered, paced, node, dax), align_bytes (unit of transfers),
 * read_bytes_per_second and write_bytes_per_second (medians of requests of
 * 4 MiB), read_latency_seconds and write_latency_seconds (medians of requests
 * of 4 KiB), bytes.  One row per SPEC; memory: N bytes for memory tiers.
 *
 * With --need it only asks whether the tier could hold that many bytes: exit 0,
 * or 1 with a message.  Nothing is written.
 *
 * Examples:
 *   $ place-tier dram file:/var/tmp emu:16G,5.5G
 */
#include "base/filter.h"
#include "measure/clock.h"
#include "tensor/tier.h"
#include "table/csvio.h"
#include HELP

static uint64_t bytes = 256 << 20, need;
static double seconds = 2;

static const struct opt options[] = {
    { 0, "bytes", SIZE, &bytes, "N", "size of the tier while it is timed", 4096, 1e15 },
    { 0, "seconds", NUM, &seconds, "X", "time to spend on each tier", 0, 3600 },
    { 0, "need", SIZE, &need, "N", "only check that N bytes could be had" },
    { 0 } };

static void describe(csvw *w, const char *spec)
{
    struct tier *t = tier_open(spec, bytes);
    struct calibration c = tier_calibrate(t, seconds);
    csvw_cstr(w, spec);
    csvw_cstr(w, tier_kind(t));
    csvw_cstr(w, tier_method(t));
    csvw_int(w, (int64_t)tier_align(t));
    csvw_num(w, c.read_bytes_per_second);
    csvw_num(w, c.write_bytes_per_second);
    csvw_num(w, c.read_latency_seconds);
    csvw_num(w, c.write_latency_seconds);
    csvw_int(w, (int64_t)tier_bytes(t));
    csvw_end(w);
    tier_close(t);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (i == argc) usage("no tier given: dram, file:DIRECTORY or emu:READ,WRITE");
    for (int k = i; k < argc; k++) tier_check(argv[k], need ? need : bytes);
    if (need) return EXIT_OK;
    csvw *w = csvw_open("-");
    csvw_names(w, "tier,kind,method,align_bytes,read_bytes_per_second,write_bytes_per_second,read_latency_seconds,"
                  "write_latency_seconds,bytes");
    csvw_end(w);
    measure_lock();
    for (; i < argc; i++) describe(w, argv[i]);
    return csvw_close(w);
}
