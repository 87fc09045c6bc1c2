#include "loop/search/takeaway.h"
#include "loop/search/search.h"
#include <string.h>

static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool digit(char c) { return c >= '0' && c <= '9'; }

const char *takeaway_name(struct takeaway *x, str given)
{
    size_t n = given.n < sizeof x->name ? given.n : sizeof x->name - 1;
    if (n) memcpy(x->name, given.s, n);
    for (const char *s = x->p.text; !given.n && *s && n + 1 < sizeof x->name; s++) {
        if (letter(*s) || digit(*s)) x->name[n++] = *s;
        else if (n && x->name[n - 1] != '_') x->name[n++] = '_';
    }
    while (!given.n && n && x->name[n - 1] == '_') n--;
    x->name[n] = 0;
    if (given.n > n) return "has more than 64 characters";
    bool good = letter(x->name[0]) || x->name[0] == '_';
    for (size_t i = 0; i < n; i++) good &= letter(x->name[i]) || digit(x->name[i]) || x->name[i] == '_';
    if (good && (!strncmp(x->name, "carry_", 6) || !strncmp(x->name, "in_carry_", 9)))
        return "begins with carry_ or in_carry_, as what travels along does";
    return good ? NULL : "is no C identifier";
}

void takeaway_complete(struct takeaway *x)
{
    for (int i = 0; i < ISAS; i++) {
        if (x->have[i] || x->p.op != OP_FMA || (x->p.group > 1 ? i == ISA_AVX2 : i == ISA_AMX)) continue;
        struct evaluator v;
        evaluator_open(&v, (enum isa)i, NULL);
        v.model = true;
        struct search s = { .algo = "heuristic", .steps = 10, .seconds = 1, .measure = 1,
                            .actions = ((1u << ACT_COUNT) - 1) & ~(1u << ACT_PARALLEL) };
        search_run(&s, &v, &x->p);
        x->nest[i] = s.best;
        search_free(&s);
        evaluator_close(&v);
    }
}
