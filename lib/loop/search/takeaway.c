#include "loop/search/takeaway.h"
#include "base/mem.h"
#include "base/message.h"
#include "loop/search/search.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool digit(char c) { return c >= '0' && c <= '9'; }

/* Words of C, to C23, and of C++, where headers are read, too; what GNU C and its headers define; macros of its text */
static const char kept[] =
    " auto break case char const continue default do double else enum extern float for goto if inline int long register"
    " restrict return short signed sizeof static struct switch typedef union unsigned void volatile while alignas"
    " alignof bool constexpr false nullptr static_assert thread_local true typeof typeof_unqual and and_eq asm bitand"
    " bitor catch class co_await co_return co_yield compl concept const_cast consteval"
    " constinit decltype delete dynamic_cast explicit export friend main mutable namespace new noexcept not not_eq"
    " operator or or_eq private protected public reinterpret_cast requires static_cast template this throw try typeid"
    " typename using virtual xor xor_eq i386 linux unix carry alloca fd_set offsetof uint ushort ulong u_char u_short"
    " u_int u_long be16toh be32toh be64toh htobe16 htobe32 htobe64 htole16 htole32 htole64 le16toh le32toh le64toh"
    " PAIRS_epi32 PAIRS_pd PAIRS_ps SUM4_epi32 SUM4_pd SUM4_ps ";

/* is it one of these, or what C and its headers keep: with _ at its beginning, a type's _t, a macro's capitals? */
static bool is_kept(const char *name)
{
    char word[80];
    snprintf(word, sizeof word, " %s ", name);
    const size_t n = strlen(name);
    return strstr(kept, word) || name[0] == '_' || (n > 2 && !strcmp(name + n - 2, "_t")) ||
           strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == n || !strncmp(name, "bit_", 4) ||
           !strncmp(name, "signature_", 10);
}

/* Who links a kernel called malloc gives it to the whole program. */
static bool is_library(const char *name)
{
    static const char *const libraries[] = { "libc.so.6", "libm.so.6" };
    for (int i = 0; i < 2; i++) {
        void *l = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
        if (l && dlsym(l, name)) return true;
    }
    return false;
}

/* the given name, or where it is empty one from the problem's text, "mm_64_64_64"; NULL, or what is wrong with it */
static const char *take_name(struct takeaway *x, str given)
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
    if (good && (!strncmp(x->name, "carry_", 6) || !strncmp(x->name, "CARRY_", 6) || !strncmp(x->name, "in_carry_", 9)))
        return "begins with carry_ or in_carry_, as what travels along does";
    if (good && is_kept(x->name)) return "is a word of C or C++, or kept by them, as capitals and types (_t) are";
    if (good && is_library(x->name)) return "is a function of the C library, which programs would then call";
    return good ? NULL : "is no C identifier";
}

/* is one the other, or made of it as the functions and the C text of a kernel are? */
static bool clash(const char *a, const char *b)
{
    const size_t n = strlen(a) < strlen(b) ? strlen(a) : strlen(b);
    char more[80];
    const char *rest = strlen(a) > n ? a + n : b + n;
    snprintf(more, sizeof more, " %s ", rest);
    const bool part = !strncmp(rest, "_of", 3) && rest[3] && strspn(rest + 3, "0123456789") == strlen(rest + 3);
    return !strncmp(a, b, n) &&
           (part || strstr("  _ld _pack _packed _part _rows _test _isa _scratch _kernel _parts _avx2 _avx512"
                           " _avx512bf16 _amx ", more));
}

/* a name made of a text that was cut, or had a sign, may be that of another problem: this one gets a number */
static void keep_apart(struct takeaway *x, const struct takeaway *item, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        if (strcmp(item[k].name, x->name) || !strcmp(item[k].p.text, x->p.text)) continue;
        const size_t most = sizeof x->name - 10, had = strlen(x->name);
        const unsigned number = (unsigned)hash_bytes(x->p.text, strlen(x->p.text), 0);
        snprintf(x->name + (had < most ? had : most), 10, "_%08x", number);
        return;
    }
}

struct takeaway *takeaways(struct nest_rows *r, size_t *n)
{
    int name = csv_find(r->t, "name"), isa = csv_find(r->t, "isa");
    struct takeaway *item = NULL;
    size_t cap = 0;
    *n = 0;
    while (rows_next(r)) {
        struct takeaway x = { .p = r->p, .line = csv_line(r->t) };
        str word = isa < 0 ? (str){ 0 } : csv_str(r->t, isa);
        enum isa i = isa_for(&r->p);
        if (word.n) {
            bool good;
            i = isa_of(word, &good);
            if (!good) csv_die(r->t, isa, "avx2, avx512 or amx");
        }
        const char *bad = take_name(&x, name < 0 ? (str){ 0 } : csv_str(r->t, name));
        if (bad) die_at(csv_file(r->t), x.line, "column 'name': '%s' %s", x.name, bad);
        if (name < 0 || !csv_has(r->t, name)) keep_apart(&x, item, *n);
        struct takeaway *last = *n ? &item[*n - 1] : NULL;
        if (!last || strcmp(last->name, x.name) || strcmp(last->p.text, x.p.text)) {
            for (size_t k = 0; k < *n; k++)
                if (clash(item[k].name, x.name))
                    die_at(csv_file(r->t), x.line, "the name %s was given in line %zu, or is that of one of its "
                           "functions", x.name, item[k].line);
            item = grow(item, *n + 1, &cap, sizeof *item);
            item[(*n)++] = x;
            last = &item[*n - 1];
        }
        last->have[i] = r->tree >= 0 && csv_has(r->t, r->tree);
        last->nest[i] = r->nest;
    }
    return item;
}

void takeaway_complete(struct takeaway *x, unsigned isas)
{
    for (int i = 0; i < ISAS; i++) {
        if (!(isas >> i & 1)) continue;
        if (x->have[i] || x->p.op != OP_FMA || (x->p.group > 1 && i == ISA_AVX2)) continue;
        if (i == ISA_AMX && !problem_tiles(&x->p)) continue;
        struct evaluator v;
        evaluator_open(&v, (enum isa)i, NULL);
        v.model = true;
        struct search s = { .algo = "heuristic", .steps = 10, .seconds = 1, .measure = 1,
                            .actions = (1u << ACT_COUNT) - 1 };
        search_run(&s, &v, &x->p);
        x->nest[i] = s.best;
        search_free(&s);
        evaluator_close(&v);
    }
}
