/* machine.c - fuzz target: what was measured of a machine, as loop-machine writes it; each line is said to be of
 * this one. */
#include "fuzz.h"
#include "base/str.h"
#include "loop/code/machine.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void body(const uint8_t *data, size_t n)
{
    static char name[64];
    struct buf b = { 0 };
    if (!*name) machine_name(name);
    buf_format(&b, "machine,what,level,value\n");
    for (const uint8_t *p = data, *end = data + n; p < end;) {
        const uint8_t *nl = memchr(p, '\n', (size_t)(end - p)), *to = nl ? nl : end;
        buf_format(&b, "%s,%.*s\n", name, (int)(to - p), (const char *)p);
        p = nl ? nl + 1 : end;
    }
    setenv("MILLRACE_LOOP_MACHINE", fuzz_path(0, b.s, b.n), 1);
    const struct loop_machine *m = machine_here();
    fuzz_check(m->hz > 0 && m->fma_latency > 0 && m->fmas > 0 && m->loads > 0, "a machine that does nothing");
    for (int i = 0; i < MACHINE_CACHES; i++)
        fuzz_check(m->cache[i].bytes >= 0 && m->cache[i].way >= 0, "a cache of less than nothing");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_run(body, data, n);
    return 0;
}
