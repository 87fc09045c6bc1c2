/* inline-ir.c - fuzz target: any text as an LLVM module and as compiler remarks; indices and slices stay inside. */
#include "fuzz.h"
#include "inline/ir.h"
#include "inline/live.h"
#include "inline/llvm.h"
#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void module(const uint8_t *data, size_t n)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fuzz_file(data, n));
    struct ir_module m;
    ir_read(&m, path);
    for (size_t i = 0; i < m.ncalls; i++) {
        const struct ir_call *c = &m.call[i];
        fuzz_check(c->caller < m.nfunctions && c->callee < m.nfunctions && m.function[c->callee].defined,
                   "a call of nothing");
        fuzz_check(strlen(c->chain.s) <= c->chain.n, "a chain with no end");
        fuzz_check(!c->stable || site_stable(c->chain), "a key that is stable here only");
    }
    ir_free(&m);
}

static void remarks(const uint8_t *data, size_t n)
{
    struct remarks r = { 0 };
    remarks_parse(&r, (const char *)data, n);
    for (size_t i = 0; i < r.n; i++)
        fuzz_check(r.v[i].callee.n + r.v[i].caller.n + r.v[i].chain.n <= n, "longer than the text");
    remarks_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_run(module, data, n);
    fuzz_run(remarks, data, n);
    return 0;
}
