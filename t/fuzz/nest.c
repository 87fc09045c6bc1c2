/* nest.c - fuzz target: "PROBLEM\nTREE" is refused, or prints so that it reads back equal, and every legal action and
 * the plan of its code keep the nest sound. */
#include "fuzz.h"
#include "loop/code/kernel.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void again(const struct problem *p, const struct nest *t)
{
    struct buf b = { 0 };
    struct nest u;
    nest_print(&b, p, t);
    nest_parse(&u, p, (str){ b.s, b.n }, t->cursor, "again");
    fuzz_check(nest_same(t, &u), "the tree changed on its way out and in");
    free(b.s);
}

static void body(const uint8_t *data, size_t n)
{
    struct problem p;
    struct nest t;
    struct kernel_plan q;
    const uint8_t *end = memchr(data, '\n', n);
    size_t first = end ? (size_t)(end - data) : n;
    problem_parse(&p, (str){ (const char *)data, first }, "problem");
    struct problem same;
    problem_parse(&same, str_of(p.text), "again");
    fuzz_check(!memcmp(p.stride, same.stride, sizeof p.stride) && !memcmp(&p.pad, &same.pad, sizeof p.pad),
               "the problem changed on its way out and in");
    nest_reset(&p, &t);
    if (end) nest_parse(&t, &p, (str){ (const char *)end + 1, n - first - 1 }, 0, "tree");
    again(&p, &t);
    for (int a = 0; a < ACT_COUNT; a++) {
        struct nest u = t;
        if (!nest_act(&p, &u, a, RULE_NONE)) again(&p, &u);
    }
    double work = 1;
    for (int v = 0; v < p.nvar; v++) work *= p.size[v];
    if (work < 1e6) kernel_plan(&q, &p, &t, ISA_AVX512, n & 1);
    if (work < 1e6) kernel_plan(&q, &p, &t, ISA_AMX, n & 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_run(body, data, n);
    return 0;
}
