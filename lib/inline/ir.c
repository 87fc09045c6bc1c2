/* ir.c - see ir.h.  One pass over the lines; a function's blocks are kept until its closing brace, then the loop
 * depth of each is found from dominators (Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm", 2001)
 * and natural loops.  Debug-info nodes come after the functions, so chains are resolved at the end. */
#include "inline/ir.h"
#include "base/checked.h"
#include "base/message.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NO_NODE = 0, HOPS_MAX = 10000 };

struct di {                                              /* a debug-info node, by number */
    enum { UNUSED, LOCATION, SUBPROGRAM, BLOCK, BLOCK_FILE, FILE_NODE } kind;
    uint32_t line, column, scope, at, discriminator, file;
    str name, linkage;
};

struct pending { uint32_t location, block; };            /* of a call, until its function or the file ends */

struct block { uint32_t first_edge, nedges, depth; };

struct reader {
    struct ir_module *m;
    const char *path;
    size_t line, bytes;                                  /* bytes of the text */
    struct di *di;
    size_t ndi, capdi;
    struct pending *pending;
    size_t cappending, capcall, capfunction;
    long current;                                        /* function whose body we are in, -1: none */
    size_t first_call;                                   /* of the current function */
    struct intern labels;
    uint32_t *block_of_label;                            /* UINT32_MAX until the label is seen */
    size_t nlabels, caplabel;
    struct block *block;
    size_t nblocks, capblock;
    uint32_t *edge;                                      /* label numbers while reading, then block numbers */
    size_t nedges, capedge;
    struct intern local_arrays;                          /* names that allocas of the function define */
    struct arena scratch;
    uint32_t *subprogram_of;                             /* of each function: its !dbg node */
    size_t capsub;
};

/* ---- little scanners over one line [p, e) */

static bool starts(const char *p, const char *e, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(e - p) >= n && memcmp(p, word, n) == 0;
}

static const char *find(const char *p, const char *e, const char *word)
{
    return memmem(p, (size_t)(e - p), word, strlen(word));
}

static uint32_t number(const char *p, const char *e)
{
    uint64_t v = 0;
    for (; p < e && *p >= '0' && *p <= '9' && v < UINT32_MAX; p++) v = v * 10 + (uint64_t)(*p - '0');
    return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

static bool is_name_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
           c == '$' || c == '-';
}

static bool opens(char c)
{
    return c == '(' || c == '[' || c == '{' || c == '<';
}

static bool closes(char c)
{
    return c == ')' || c == ']' || c == '}' || c == '>';
}

/* the identifier at *p, which moves behind it: name or "quoted name" */
static str identifier(const char **p, const char *e)
{
    const char *s = *p;
    if (s < e && *s == '"') {
        s++;
        const char *q = memchr(s, '"', (size_t)(e - s));
        if (!q) q = e;
        *p = q < e ? q + 1 : e;
        return (str){ s, (size_t)(q - s) };
    }
    const char *q = s;
    while (q < e && is_name_char(*q)) q++;
    *p = q;
    return (str){ s, (size_t)(q - s) };
}

/* behind "key: " in a debug-info node, NULL if absent */
static const char *field(const char *p, const char *e, const char *key)
{
    size_t n = strlen(key);
    for (const char *q = p; (q = find(q, e, key)); q += n)
        if (q > p && (q[-1] == '(' || q[-1] == ' ')) return q + n;
    return NULL;
}

static uint32_t number_field(const char *p, const char *e, const char *key)
{
    const char *q = field(p, e, key);
    if (q && q < e && *q == '!') q++;
    return q ? number(q, e) : 0;
}

static str text_field(const char *p, const char *e, const char *key)
{
    const char *q = field(p, e, key);
    if (!q || q >= e || *q != '"') return (str){ "", 0 };
    return identifier(&q, e);
}

/* ---- functions */

static uint32_t function_of(struct reader *r, str name)
{
    uint32_t i = intern(&r->m->names, name);
    if (i == r->m->nfunctions) {
        r->m->function = grow(r->m->function, (size_t)i + 1, &r->capfunction, sizeof *r->m->function);
        r->m->function[i] = (struct ir_function){ .name = r->m->names.name[i] };
        r->m->nfunctions++;
        r->subprogram_of = grow(r->subprogram_of, (size_t)i + 1, &r->capsub, sizeof *r->subprogram_of);
        r->subprogram_of[i] = NO_NODE;
    }
    return i;
}

static uint32_t dbg_node(const char *p, const char *e)
{
    const char *q = find(p, e, "!dbg !");
    return q ? number(q + 6, e) : NO_NODE;
}

static uint32_t count_parameters(const char *p, const char *e)
{
    int depth = 0;
    uint32_t commas = 0;
    bool any = false;
    for (; p < e; p++) {
        if (closes(*p) && --depth == 0) break;
        if (depth == 1 && *p == ',') commas++;
        if (depth >= 1) any = true;
        if (opens(*p)) depth++;
    }
    return any ? commas + 1 : 0;
}

static void begin_function(struct reader *r, const char *p, const char *e)
{
    const char *at = memchr(p, '@', (size_t)(e - p));
    if (!at) die_at(r->path, r->line, "function definition without a name");
    const char *q = at + 1;
    uint32_t i = function_of(r, identifier(&q, e));
    struct ir_function *f = &r->m->function[i];
    if (f->defined) die_at(r->path, r->line, "function '%.*s' is defined twice", (int)f->name.n, f->name.s);
    f->defined = true;
    f->local = find(p, at, " internal ") || find(p, at, " private ");
    f->arguments = count_parameters(q, e);
    r->subprogram_of[i] = dbg_node(q, e);
    r->current = (long)i;
    r->first_call = r->m->ncalls;
    intern_free(&r->labels);
    intern_free(&r->local_arrays);
    r->nlabels = r->nblocks = r->nedges = 0;
}

static uint32_t label_of(struct reader *r, str name)
{
    uint32_t l = intern(&r->labels, name);
    if (l == r->nlabels) {
        r->block_of_label = grow(r->block_of_label, (size_t)l + 1, &r->caplabel, sizeof *r->block_of_label);
        r->block_of_label[r->nlabels++] = UINT32_MAX;
    }
    return l;
}

static void begin_block(struct reader *r, str label)
{
    uint32_t l = label_of(r, label);
    r->block = grow(r->block, r->nblocks + 1, &r->capblock, sizeof *r->block);
    r->block[r->nblocks] = (struct block){ .first_edge = (uint32_t)r->nedges };
    r->block_of_label[l] = (uint32_t)r->nblocks++;
}

static void add_edges(struct reader *r, const char *p, const char *e)
{
    for (const char *q = p; (q = find(q, e, "label %"));) {
        q += 7;
        uint32_t l = label_of(r, identifier(&q, e));
        r->edge = grow(r->edge, r->nedges + 1, &r->capedge, sizeof *r->edge);
        r->edge[r->nedges++] = l;
        r->block[r->nblocks - 1].nedges++;
    }
}

struct flow {                                            /* predecessors of block b: pred[first[b] .. first[b + 1]) */
    uint32_t *first, *pred, *idom;
};

/* blocks reachable from the entry, in postorder; rank is the inverse, UINT32_MAX where unreachable */
static size_t postorder(struct reader *r, uint32_t *order, uint32_t *rank)
{
    size_t n = r->nblocks, norder = 0, top = 0;
    uint32_t *stack = arena_get(&r->scratch, size_mul(n, sizeof *stack)),
             *next = arena_get(&r->scratch, size_mul(n, sizeof *next));
    memset(next, 0, n * sizeof *next);
    memset(rank, 0xff, n * sizeof *rank);
    stack[top++] = 0;
    rank[0] = 0;
    while (top) {
        uint32_t b = stack[top - 1];
        if (next[b] < r->block[b].nedges) {
            uint32_t s = r->edge[r->block[b].first_edge + next[b]++];
            if (rank[s] != UINT32_MAX) continue;
            rank[s] = 0;
            stack[top++] = s;
        } else {
            order[norder] = b;
            rank[b] = (uint32_t)norder++;
            top--;
        }
    }
    return norder;
}

static void dominators(struct reader *r, struct flow *w)
{
    size_t n = r->nblocks;
    uint32_t *order = arena_get(&r->scratch, size_mul(n, sizeof *order)),
             *rank = arena_get(&r->scratch, size_mul(n, sizeof *rank));
    size_t norder = postorder(r, order, rank);
    memset(w->idom, 0xff, n * sizeof *w->idom);
    w->idom[0] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t k = norder - 1; k-- > 0;) {          /* reverse postorder without the entry */
            uint32_t b = order[k], dom = UINT32_MAX;
            for (uint32_t j = w->first[b]; j < w->first[b + 1]; j++) {
                uint32_t p = w->pred[j];
                if (w->idom[p] == UINT32_MAX) continue;
                if (dom == UINT32_MAX) dom = p;
                while (dom != p) {
                    while (rank[dom] < rank[p]) dom = w->idom[dom];
                    while (rank[p] < rank[dom]) p = w->idom[p];
                }
            }
            changed = changed || dom != w->idom[b];
            w->idom[b] = dom;
        }
    }
}

static void find_flow(struct reader *r, struct flow *w)
{
    size_t n = r->nblocks;
    w->first = arena_get(&r->scratch, size_mul(n + 2, sizeof *w->first));
    w->pred = arena_get(&r->scratch, size_mul(r->nedges + 1, sizeof *w->pred));
    w->idom = arena_get(&r->scratch, size_mul(n, sizeof *w->idom));
    memset(w->first, 0, (n + 2) * sizeof *w->first);
    for (size_t i = 0; i < r->nedges; i++) w->first[r->edge[i] + 2]++;
    for (size_t b = 0; b < n; b++) w->first[b + 2] += w->first[b + 1];
    for (size_t b = 0; b < n; b++)
        for (uint32_t k = 0; k < r->block[b].nedges; k++)
            w->pred[w->first[r->edge[r->block[b].first_edge + k] + 1]++] = (uint32_t)b;
    dominators(r, w);
}

static bool dominates(const struct flow *w, uint32_t a, uint32_t b)
{
    while (b != a && b != 0) b = w->idom[b];
    return b == a;
}

/* depth of each block = number of natural loops (merged by header) that hold it */
static void loop_depths(struct reader *r, struct ir_function *f)
{
    size_t n = r->nblocks;
    arena_reset(&r->scratch);
    for (size_t i = 0; i < r->nedges; i++) {
        r->edge[i] = r->block_of_label[r->edge[i]];
        if (r->edge[i] == UINT32_MAX)
            die_at(r->path, r->line, "jump to a label that '%.*s' does not have", (int)f->name.n, f->name.s);
    }
    struct flow w;
    find_flow(r, &w);
    uint32_t *stack = arena_get(&r->scratch, size_mul(n, sizeof *stack)),
             *mark = arena_get(&r->scratch, size_mul(n, sizeof *mark));
    memset(mark, 0xff, n * sizeof *mark);
    for (uint32_t h = 0; h < n; h++) {
        size_t top = 0;
        if (w.idom[h] == UINT32_MAX) continue;
        for (uint32_t j = w.first[h]; j < w.first[h + 1]; j++) {
            uint32_t latch = w.pred[j];
            if (w.idom[latch] == UINT32_MAX || !dominates(&w, h, latch)) continue;
            if (mark[h] != h) {
                mark[h] = h;
                r->block[h].depth++;
                f->loops++;
            }
            if (mark[latch] == h) continue;
            mark[latch] = h;
            r->block[latch].depth++;
            stack[top++] = latch;
        }
        while (top) {
            uint32_t b = stack[--top];
            for (uint32_t j = w.first[b]; j < w.first[b + 1]; j++) {
                uint32_t p = w.pred[j];
                if (mark[p] == h || w.idom[p] == UINT32_MAX) continue;
                mark[p] = h;
                r->block[p].depth++;
                stack[top++] = p;
            }
        }
    }
    for (size_t b = 0; b < n; b++) if (r->block[b].depth > f->max_depth) f->max_depth = r->block[b].depth;
}

static void end_function(struct reader *r)
{
    struct ir_function *f = &r->m->function[r->current];
    f->blocks = (uint32_t)r->nblocks;
    if (r->nblocks) loop_depths(r, f);
    for (size_t i = r->first_call; i < r->m->ncalls; i++) r->m->call[i].depth = r->block[r->pending[i].block].depth;
    r->current = -1;
}

/* ---- instructions */

/* The symbol called, if the call is direct: the first @ outside brackets, before any value.  *args: its "(". */
static bool direct_callee(const char *p, const char *e, str *name, const char **args)
{
    int depth = 0;
    for (; p < e; p++) {
        if (opens(*p)) depth++;
        else if (closes(*p)) depth--;
        else if (*p == '%' && depth == 0) {              /* a named type goes before * or blank, a value before ( */
            const char *q = p + 1;
            identifier(&q, e);
            if (q < e && *q == '(') return false;
            p = q - 1;
        } else if (*p == '@' && depth == 0) {
            p++;
            *name = identifier(&p, e);
            *args = p;
            return p < e && *p == '(';
        }
    }
    return false;
}

static void one_argument(struct reader *r, struct ir_call *c, const char *p, const char *e)
{
    if (p >= e) return;
    c->arguments++;
    const char *v = e;
    while (v > p && v[-1] != ' ' && !closes(v[-1])) v--;
    if (v == e || *v != '%') c->constants++;             /* a literal, a symbol or a constant expression */
    else c->allocas += intern_find(&r->local_arrays, (str){ v + 1, (size_t)(e - v - 1) }) >= 0;
}

static void look_at_arguments(struct reader *r, struct ir_call *c, const char *p, const char *e)
{
    int depth = 0;
    for (const char *start = p + 1; p < e; p++) {
        if (opens(*p)) depth++;
        if (closes(*p)) depth--;
        if (depth == 0 || (depth == 1 && *p == ',')) {
            one_argument(r, c, start, p);
            start = p + 1;
        }
        if (depth == 0) return;
    }
}

static void add_call(struct reader *r, const char *p, const char *e)
{
    str name;
    const char *args;
    if (!direct_callee(p, e, &name, &args)) return;
    struct ir_module *m = r->m;
    size_t i = m->ncalls++;
    uint32_t callee = function_of(r, name);
    m->call = grow(m->call, i + 1, &r->capcall, sizeof *m->call);
    r->pending = grow(r->pending, i + 1, &r->cappending, sizeof *r->pending);
    m->call[i] = (struct ir_call){ .caller = (uint32_t)r->current, .callee = callee, .at = r->line };
    m->function[callee].uses++;
    r->pending[i] = (struct pending){ dbg_node(args, e), (uint32_t)r->nblocks - 1 };
    look_at_arguments(r, &m->call[i], args, e);
}

static void call(struct reader *r, const char *p, const char *e)
{
    static const char *const marks[] = { "tail ", "musttail ", "notail " };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (starts(p, e, marks[i])) p += strlen(marks[i]);
    bool invoke = starts(p, e, "invoke ");
    if ((!invoke && !starts(p, e, "call ")) || find(p, e, "@llvm.")) return;
    r->m->function[r->current].calls++;
    add_call(r, p + (invoke ? 7 : 5), e);
}

static void instruction(struct reader *r, const char *p, const char *e)
{
    struct ir_function *f = &r->m->function[r->current];
    if (r->nblocks == 0) begin_block(r, (str){ "", 0 }); /* the entry block may have no label */
    p += 2;
    if (p < e && (*p == ' ' || *p == ']')) {             /* further lines of a switch, or of an invoke the second */
        const size_t n = r->m->ncalls;
        add_edges(r, p, e);
        if (n && r->m->call[n - 1].at + 1 == r->line) r->pending[n - 1].location = dbg_node(p, e);
        return;
    }
    f->instructions++;
    str result = { "", 0 };
    if (p < e && *p == '%') {
        p++;
        result = identifier(&p, e);
        if (!starts(p, e, " = ")) return;
        p += 3;
    }
    if (starts(p, e, "alloca ")) intern(&r->local_arrays, result);
    else if (starts(p, e, "load ")) f->loads++;
    else if (starts(p, e, "store ")) f->stores++;
    else if (starts(p, e, "br ") || starts(p, e, "switch ") || starts(p, e, "indirectbr ")) {
        f->branches += !starts(p, e, "br label");
        add_edges(r, p, e);
    } else call(r, p, e);
}

/* ---- debug info */

static void node(struct reader *r, const char *p, const char *e)
{
    uint32_t id = number(p + 1, e);
    const char *q = find(p, e, " = ");
    if (!q) return;
    q += 3;
    if (starts(q, e, "distinct ")) q += 9;
    struct di d = { .kind = UNUSED };
    if (starts(q, e, "!DILocation(")) d.kind = LOCATION;
    else if (starts(q, e, "!DISubprogram(")) d.kind = SUBPROGRAM;
    else if (starts(q, e, "!DILexicalBlockFile(")) d.kind = BLOCK_FILE;
    else if (starts(q, e, "!DILexicalBlock(")) d.kind = BLOCK;
    else if (starts(q, e, "!DIFile(")) d.kind = FILE_NODE;
    else return;
    if (id > r->bytes) die_at(r->path, r->line, "metadata node %u: nodes are numbered from 0, there are fewer", id);
    d.line = number_field(q, e, "line: ");
    d.column = number_field(q, e, "column: ");
    d.scope = number_field(q, e, "scope: ");
    d.at = number_field(q, e, "inlinedAt: ");
    d.file = number_field(q, e, "file: ");
    d.discriminator = number_field(q, e, "discriminator: ");
    d.name = text_field(q, e, d.kind == FILE_NODE ? "filename: " : "name: ");
    d.linkage = text_field(q, e, "linkageName: ");
    if (id >= r->ndi) {
        r->di = grow(r->di, (size_t)id + 1, &r->capdi, sizeof *r->di);
        memset(r->di + r->ndi, 0, (id + 1 - r->ndi) * sizeof *r->di);
        r->ndi = (size_t)id + 1;
    }
    r->di[id] = d;
}

static const struct di *node_at(const struct reader *r, uint32_t id)
{
    return id < r->ndi && r->di[id].kind != UNUSED ? &r->di[id] : NULL;
}

/* the DISubprogram around a scope, NULL if there is none; *discriminator of the innermost block */
static const struct di *subprogram(const struct reader *r, uint32_t scope, uint32_t *discriminator)
{
    const struct di *s = node_at(r, scope);
    *discriminator = s && s->kind == BLOCK_FILE ? s->discriminator : 0;
    for (int up = 0; s && s->kind != SUBPROGRAM && up < HOPS_MAX; up++) s = node_at(r, s->scope);
    return s && s->kind == SUBPROGRAM ? s : NULL;
}

/* DILocation::getBaseDiscriminatorFromDiscriminator: prefix code of 5 or 12 bits behind a 0 bit */
static uint32_t base_discriminator(uint32_t d)
{
    if (d & 1) return 0;
    d >>= 1;
    return d & 0x20 ? (d & 0x1f) | (d >> 1 & 0xfe0) : d & 0x1f;
}

static void locate(struct reader *r, struct ir_call *c, const struct di *location, const struct di *function)
{
    const struct di *file = node_at(r, function->file);
    str name = file ? file->name : (str){ "", 0 };
    c->line = location->line;
    c->column = location->column;
    c->file = (str){ arena_copy(&r->m->text, name.s, name.n), name.n };
}

static void resolve(struct reader *r, struct ir_call *c, uint32_t location)
{
    struct buf b = { 0 };
    bool sound = true;
    uint32_t hops = 0;
    c->stable = true;
    c->file = (str){ "", 0 };
    for (uint32_t id = location; id != NO_NODE && sound; hops++) {
        const struct di *l = node_at(r, id);
        uint32_t discriminator = 0;
        const struct di *s = l && l->kind == LOCATION ? subprogram(r, l->scope, &discriminator) : NULL;
        sound = s && hops < HOPS_MAX;
        if (!sound) break;
        str name = s->linkage.n ? s->linkage : s->name;
        if (l->line < s->line) c->stable = false;        /* merged location: line 0 */
        buf_format(&b, "%s%.*s:%u:%u", b.n ? " @ " : "", (int)name.n, name.s, l->line - s->line, l->column);
        uint32_t base = base_discriminator(discriminator);
        if (base) buf_format(&b, ".%u", base);
        if (hops == 0) locate(r, c, l, s);
        id = l->at;
    }
    if (!sound || b.n == 0) {
        b.n = 0;
        c->stable = false;
    }
    c->inlined = hops ? hops - 1 : 0;
    c->chain = (str){ arena_copy(&r->m->text, b.s, b.n), b.n };
    free(b.s);
}

/* ---- the file */

static char *read_all(const char *path, size_t *n)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) die_errno("%s", path);
    char *s = NULL;
    size_t cap = 0;
    *n = 0;
    for (;;) {
        s = grow(s, size_add(*n, 1 << 16), &cap, 1);
        ssize_t k = read(fd, s + *n, cap - *n);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) die_errno("%s", path);
        if (k == 0) break;
        *n += (size_t)k;
    }
    if (!is_stdin) close(fd);
    return s;
}

static void one_line(struct reader *r, const char *p, const char *e)
{
    if (p == e) return;
    if (r->current < 0) {
        if (starts(p, e, "define ")) begin_function(r, p, e);
        else if (*p == '!' && e - p > 1 && p[1] >= '0' && p[1] <= '9') node(r, p, e);
    } else if (*p == '}') end_function(r);
    else if (starts(p, e, "  ")) instruction(r, p, e);
    else if (*p != ';') {
        const char *q = p;
        str label = identifier(&q, e);
        if (q < e && *q == ':') begin_block(r, label);
    }
}

static void free_reader(struct reader *r)
{
    free_all(r->di, r->pending, r->block, r->edge, r->block_of_label, r->subprogram_of);
    intern_free(&r->labels);
    intern_free(&r->local_arrays);
    arena_free(&r->scratch);
}

void ir_read(struct ir_module *m, const char *path)
{
    *m = (struct ir_module){ 0 };
    struct reader r = { .m = m, .path = strcmp(path, "-") == 0 ? "(stdin)" : path, .current = -1 };
    size_t n;
    char *text = read_all(path, &n);
    if (n >= 4 && memcmp(text, "BC\xc0\xde", 4) == 0) die("%s: bitcode; expected a text module (opt -S)", r.path);
    bool is_module = false;
    r.bytes = n;
    for (const char *p = text, *end = text + n; p < end;) {
        const char *e = memchr(p, '\n', (size_t)(end - p));
        if (!e) e = end;
        r.line++;
        is_module = is_module || starts(p, e, "source_filename") || starts(p, e, "target ") || starts(p, e, "define ");
        one_line(&r, p, e);
        p = e + 1;
    }
    if (!is_module) die("%s: not a text LLVM module", r.path);
    if (r.current >= 0) die_at(r.path, r.line, "the module ends inside a function");
    size_t kept = 0;
    for (size_t i = 0; i < m->ncalls; i++) {             /* only calls of functions with a body are decisions */
        if (!m->function[m->call[i].callee].defined) continue;
        resolve(&r, &m->call[i], r.pending[i].location);
        m->call[kept++] = m->call[i];
    }
    m->ncalls = kept;
    for (size_t i = 0; i < m->nfunctions; i++) {
        const struct di *s = node_at(&r, r.subprogram_of[i]);
        if (s) m->function[i].line = s->line;
    }
    free(text);
    free_reader(&r);
}

long ir_find(const struct ir_module *m, str symbol)
{
    return intern_find(&m->names, symbol);
}

void ir_free(struct ir_module *m)
{
    free(m->function);
    free(m->call);
    intern_free(&m->names);
    arena_free(&m->text);
    *m = (struct ir_module){ 0 };
}
