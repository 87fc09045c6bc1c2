/* decisions.c - see decisions.h */
#include "decisions/decisions.h"
#include "base/message.h"
#include "base/num.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const form_names[] = { "empty", "plain", "simple", "v0", "v1", "tree-v0", "tree-v1", "expanded" };

const char *form_name(enum form f)
{
    return form_names[f];
}

double span_seconds(str t)
{
    static const struct { const char *unit; double seconds; } units[] = {
        { "ms", 1e-3 }, { "us", 1e-6 }, { "ns", 1e-9 }, { "s", 1 }, { "m", 60 }, { "h", 3600 },
    };
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t n = strlen(units[i].unit);
        double v;
        if (t.n > n && memcmp(t.s + t.n - n, units[i].unit, n) == 0 && num_parse(t.s, t.n - n, &v))
            return v * units[i].seconds;
    }
    return NAN;
}

/* ---- shapes ---- */

static bool integer(const struct sexp *e, snode n)
{
    int64_t v;
    if (!sexp_is_atom(e, n)) return false;
    str t = sexp_atom(e, n);
    return int_parse(t.s, t.n, &v);
}

static bool is_record(const struct sexp *e)
{
    return sexp_get(e, 0, "decisions") != SEXP_NONE && sexp_get(e, 0, "benchmark") != SEXP_NONE;
}

enum form form_of(const struct sexp *e)
{
    if (!sexp_is_list(e, 0)) sexp_die(e, 0, "not a list of decisions or tree nodes but an atom");
    snode x = sexp_first(e, 0);
    if (x == SEXP_NONE) return FORM_EMPTY;
    if (sexp_head(e, 0, "decisions")) return FORM_PLAIN;
    if (is_record(e)) return FORM_V0;
    bool inlined = sexp_head(e, x, "Apply_inlined_function"), applied = sexp_head(e, x, "Apply_non_inlined_function");
    if (inlined || applied || sexp_head(e, x, "Declaration")) {
        snode fields = sexp_nth(e, x, 1);
        if (fields == SEXP_NONE) sexp_die(e, x, "a tree node without fields");
        const char *v1 = inlined || applied ? "apply_id" : "declared";
        return sexp_get(e, fields, v1) != SEXP_NONE ? FORM_TREE_V1 : FORM_TREE_V0;
    }
    if (sexp_head(e, x, "Decl") || sexp_head(e, x, "Inlined") || sexp_head(e, x, "Apply")) return FORM_EXPANDED;
    size_t n = sexp_count(e, x);
    if (n == 5 && integer(e, sexp_first(e, x))) return FORM_V1;
    if (n == 4 && integer(e, sexp_first(e, x))) return FORM_SIMPLE;
    if (n == 3 && sexp_is_list(e, sexp_first(e, x))) return FORM_V0;
    sexp_die(e, x, "neither decisions (V0, V1, simple, canonical) nor a tree (V0, V1, expanded)");
}

/* ---- building ---- */

void decisions_clear(struct decisions *d)
{
    d->n_step = d->n = d->n_time = 0;
    d->form = FORM_EMPTY;
    d->program = d->compiler = NAME_NONE;
}

void decisions_free(struct decisions *d)
{
    free(d->step);
    free(d->d);
    free(d->time);
    *d = (struct decisions){ 0 };
}

static struct trace_step *new_step(struct decisions *d)
{
    d->step = grow(d->step, d->n_step + 1, &d->cap_step, sizeof *d->step);
    return &d->step[d->n_step++];
}

static void new_decision(struct decisions *d, size_t first, int round, enum action action)
{
    d->d = grow(d->d, d->n + 1, &d->cap_d, sizeof *d->d);
    d->d[d->n++] = (struct decision){ first, (uint32_t)(d->n_step - first), round, action };
}

void decisions_add(struct decisions *d, const struct trace_step *s, uint32_t n, int round, enum action action)
{
    size_t first = d->n_step;
    for (uint32_t i = 0; i < n; i++) *new_step(d) = s[i];
    new_decision(d, first, round, action);
}

static void add_time(struct decisions *d, double seconds)
{
    d->time = grow(d->time, d->n_time + 1, &d->cap_time, sizeof *d->time);
    d->time[d->n_time++] = seconds;
}

/* traces are stored innermost first */
static void reverse_steps(struct decisions *d, size_t first)
{
    for (size_t i = first, j = d->n_step; i + 1 < j; i++) {
        struct trace_step t = d->step[i];
        d->step[i] = d->step[--j];
        d->step[j] = t;
    }
}

/* ---- reading ---- */

/* (TRACE APPLIED BOOL) */
static void read_v0(struct names *s, const struct sexp *e, snode n, struct decisions *d)
{
    size_t first = d->n_step;
    if (!sexp_is_list(e, n) || sexp_count(e, n) != 3) sexp_die(e, n, "not a V0 decision (TRACE APPLIED BOOL)");
    snode trace = sexp_first(e, n), applied = sexp_after(e, trace);
    for (snode x = sexp_first(e, trace); x != SEXP_NONE; x = sexp_after(e, x)) {
        struct trace_step t = { .decl = sexp_head(e, x, "Enter_decl") };
        if (!t.decl && !sexp_head(e, x, "At_call_site")) sexp_die(e, x, "not At_call_site or Enter_decl");
        if (sexp_count(e, x) != (t.decl ? 3 : 4)) sexp_die(e, x, "a V0 trace item with %zu fields", sexp_count(e, x));
        snode offset = sexp_nth(e, x, 2);
        uint32_t closure = names_closure(s, e, t.decl ? offset : sexp_after(e, offset));
        t.func = names_meta_of(s, closure);
        t.label = t.decl ? closure : path_add(s, 0, names_site_v0(s, closure, names_number(e, offset)));
        *new_step(d) = t;
    }
    if (d->n_step == first || d->step[first].decl) sexp_die(e, n, "a trace begins with the call that was decided");
    names_closure(s, e, applied);
    enum action action = canonical_bool(e, sexp_after(e, applied)) ? ACTION_INLINE : ACTION_APPLY;
    reverse_steps(d, first);
    new_decision(d, first, 0, action);
}

/* (ROUND TRACE APPLY_ID ACTION METADATA); the first item of the trace repeats APPLY_ID and METADATA */
static void read_v1(struct names *s, const struct sexp *e, snode n, struct decisions *d)
{
    size_t first = d->n_step;
    if (!sexp_is_list(e, n) || sexp_count(e, n) != 5)
        sexp_die(e, n, "not a V1 decision (ROUND TRACE APPLY_ID ACTION METADATA)");
    snode round = sexp_first(e, n), trace = sexp_after(e, round), apply = sexp_after(e, trace),
          action = sexp_after(e, apply);
    if (!sexp_is_list(e, trace)) sexp_die(e, trace, "not a trace");
    for (snode x = sexp_first(e, trace); x != SEXP_NONE; x = sexp_after(e, x)) {
        struct trace_step t = { .decl = sexp_head(e, x, "Enter_decl") };
        if (!t.decl && !sexp_head(e, x, "At_call_site")) sexp_die(e, x, "not At_call_site or Enter_decl");
        snode fields = sexp_nth(e, x, 1);
        if (fields == SEXP_NONE || sexp_count(e, fields) != (t.decl ? 2 : 3))
            sexp_die(e, x, "a V1 trace item with the wrong number of fields");
        snode what = sexp_nth(e, fields, 1);
        t.func = names_meta(s, e, t.decl ? what : sexp_after(e, what));
        t.label = t.decl ? s->meta[t.func].origin : names_apply(s, e, what);
        *new_step(d) = t;
    }
    if (d->n_step == first || d->step[first].decl) sexp_die(e, n, "a trace begins with the call that was decided");
    if (d->step[first].label != names_apply(s, e, apply))
        sexp_die(e, apply, "apply id differs from the trace's first item");
    reverse_steps(d, first);
    new_decision(d, first, canonical_round(e, round), canonical_action(e, action));
}

/* (ROUND (STAMP)? (ITEM ...) ACTION), ITEM = (Apply (linkage (stamp)?)) or (Decl (linkage name)) */
static void read_simple(struct names *s, const struct sexp *e, snode n, struct decisions *d)
{
    size_t first = d->n_step;
    if (!sexp_is_list(e, n) || sexp_count(e, n) != 4)
        sexp_die(e, n, "not a simple override (ROUND STAMP ITEMS ACTION)");
    snode round = sexp_first(e, n), stamp = sexp_after(e, round), items = sexp_after(e, stamp);
    for (snode x = sexp_first(e, items); x != SEXP_NONE; x = sexp_after(e, x)) {
        struct trace_step t = { .decl = sexp_head(e, x, "Decl"), .func = NAME_NONE };
        if (!t.decl && !sexp_head(e, x, "Apply")) sexp_die(e, x, "not Apply or Decl");
        snode pair = sexp_nth(e, x, 1);
        if (pair == SEXP_NONE || sexp_count(e, pair) < 1 || sexp_count(e, pair) > 2)
            sexp_die(e, x, "not (linkage ...)");
        snode second = sexp_nth(e, pair, 1);
        str linkage = sexp_atom(e, sexp_first(e, pair));
        if (memchr(linkage.s, ' ', linkage.n)) sexp_die(e, pair, "a name with a blank");
        struct buf b = { 0 };
        if (t.decl) {
            if (second == SEXP_NONE) sexp_die(e, pair, "a declaration without a name");
            str name = sexp_atom(e, second);
            if (memchr(name.s, ' ', name.n)) sexp_die(e, second, "a name with a blank");
            buf_format(&b, "%.*s__%.*s__", (int)linkage.n, linkage.s, (int)name.n, name.s);
            t.label = names_closure_of(s, (str){ b.s, b.n });
            t.func = names_meta_of(s, t.label);
        } else {
            buf_format(&b, "%.*s__Apply", (int)linkage.n, linkage.s);
            if (second != SEXP_NONE && sexp_is_list(e, second)) second = sexp_first(e, second);
            if (second != SEXP_NONE) buf_format(&b, "[%.*s]", (int)names_number(e, second).n, sexp_atom(e, second).s);
            t.label = path_add(s, 0, names_site_of(s, (str){ b.s, b.n }));
        }
        free(b.s);
        *new_step(d) = t;
    }
    if (d->n_step == first) sexp_die(e, items, "an override without items");
    if (!sexp_is_list(e, stamp)) sexp_die(e, stamp, "not an option: () or (STAMP)");
    new_decision(d, first, canonical_round(e, round), canonical_action(e, sexp_after(e, items)));
}

struct reading { struct names *names; struct decisions *d; };

static void take_site(void *closure, const struct sexp *e, const struct canonical_site *x)
{
    struct reading *r = closure;
    size_t first = r->d->n_step;
    for (size_t i = 0; i < x->n; i++) {
        struct trace_step t = decisions_step(r->names, x->step[i]);
        *new_step(r->d) = t;
    }
    struct trace_step *last = &r->d->step[r->d->n_step - 1];
    if (last->decl) sexp_die(e, x->at, "a path ends with the call that was decided");
    if (x->callee.n && !str_is(x->callee, "unknown"))
        last->func = names_meta_of(r->names, names_closure_of(r->names, x->callee));
    new_decision(r->d, first, x->round, x->action);
}

static void read_times(const struct sexp *e, snode first, struct decisions *d)
{
    for (snode x = first; x != SEXP_NONE; x = sexp_after(e, x)) {
        str t = sexp_atom(e, x);
        double v = span_seconds(t);
        if (isnan(v) && !num_parse(t.s, t.n, &v)) v = NAN;
        if (!(v > 0) || isinf(v)) sexp_die(e, x, "'%.*s' is not a time", (int)t.n, t.s);
        add_time(d, v);
    }
}

static void read_canonical(struct names *s, const struct sexp *e, struct decisions *d)
{
    struct reading r = { s, d };
    canonical_read(e, take_site, &r);
    for (snode x = sexp_after(e, sexp_first(e, 0)); x != SEXP_NONE; x = sexp_after(e, x))
        if (sexp_head(e, x, "time_seconds")) read_times(e, sexp_after(e, sexp_first(e, x)), d);
    if (sexp_value(e, 0, "program") != SEXP_NONE) d->program = intern(&s->text, sexp_str_of(e, 0, "program"));
    if (sexp_value(e, 0, "compiler") != SEXP_NONE) d->compiler = intern(&s->text, sexp_str_of(e, 0, "compiler"));
    snode form = sexp_value(e, 0, "form");
    d->form = FORM_PLAIN;
    for (enum form f = FORM_PLAIN; form != SEXP_NONE && f <= FORM_V1; f++)
        if (str_is(sexp_atom(e, form), form_names[f])) d->form = f;
}

void decisions_read(struct names *s, const struct sexp *e, struct decisions *d)
{
    decisions_clear(d);
    d->form = form_of(e);
    snode list = 0;
    if (d->form == FORM_PLAIN) {
        read_canonical(s, e, d);
        return;
    }
    if (is_record(e)) {
        list = sexp_value(e, 0, "decisions");
        snode benchmark = sexp_value(e, 0, "benchmark");
        snode times = benchmark == SEXP_NONE ? SEXP_NONE : sexp_value(e, benchmark, "raw_execution_time");
        if (list == SEXP_NONE || times == SEXP_NONE)
            sexp_die(e, 0, "a result record without decisions or raw_execution_time");
        if (sexp_is_list(e, times)) read_times(e, sexp_first(e, times), d);
    }
    if (d->form >= FORM_TREE_V0) sexp_die(e, 0, "a tree (%s) where decisions are expected", form_name(d->form));
    for (snode x = sexp_first(e, list); x != SEXP_NONE; x = sexp_after(e, x)) {
        if (d->form == FORM_V0) read_v0(s, e, x, d);
        else if (d->form == FORM_V1) read_v1(s, e, x, d);
        else read_simple(s, e, x, d);
    }
}

/* ---- writing ---- */

struct trace_step decisions_step(struct names *s, str t)
{
    if (t.n > 2 && t.s[0] == '{' && t.s[t.n - 1] == '}') {
        uint32_t c = names_closure_of(s, (str){ t.s + 1, t.n - 2 });
        return (struct trace_step){ c, names_meta_of(s, c), true };
    }
    struct trace_step call = { names_path_of(s, t), NAME_NONE, false };
    const struct apply_site *x = &s->site[s->path[call.label].site];
    if (x->kind == SITE_V0) call.func = names_meta_of(s, x->a);
    return call;
}

static void put_step(struct buf *b, const struct names *s, const struct trace_step *t)
{
    if (!t->decl) {
        names_put_path(b, s, t->label);
        return;
    }
    buf_char(b, '{');
    names_put_closure(b, s, t->label);
    buf_char(b, '}');
}

void decisions_path(struct buf *b, const struct names *s, const struct trace_step *t, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i) buf_char(b, ' ');
        put_step(b, s, &t[i]);
    }
}

void decisions_write(sexpw *w, const struct names *s, const struct decisions *d)
{
    const str absent = { 0 };
    struct buf b = { 0 };
    size_t *end = NULL, cap_end = 0, cap_step = 0;
    str *step = NULL;
    canonical_begin(w, d->program != NAME_NONE ? s->text.name[d->program] : absent,
                    d->compiler != NAME_NONE ? s->text.name[d->compiler] : absent);
    if (d->form > FORM_PLAIN && d->form <= FORM_V1) sexpw_pair_str(w, "form", str_of(form_name(d->form)));
    if (d->n_time) {
        sexpw_begin(w, "time_seconds");
        for (size_t i = 0; i < d->n_time; i++) sexpw_num(w, d->time[i]);
        sexpw_end(w);
    }
    for (size_t i = 0; i < d->n; i++) {
        const struct decision *x = &d->d[i];
        const struct trace_step *t = d->step + x->first;
        b.n = 0;
        end = grow(end, x->n, &cap_end, sizeof *end);
        step = grow(step, x->n, &cap_step, sizeof *step);
        for (uint32_t k = 0; k < x->n; k++) {
            put_step(&b, s, &t[k]);
            end[k] = b.n;
        }
        for (uint32_t k = 0; k < x->n; k++) {
            size_t from = k ? end[k - 1] : 0;
            step[k] = (str){ b.s + from, end[k] - from };
        }
        uint32_t func = t[x->n - 1].func;
        canonical_write(w, &(struct canonical_site){
                               .step = step, .n = x->n, .action = x->action, .round = x->round,
                               .callee = names_unknown(s, func) ? str_of("unknown")
                                                                : s->closures.name[s->meta[func].origin] });
    }
    canonical_end(w);
    free(b.s);
    free(end);
    free(step);
}

static void need_sites(const struct names *s, const struct decisions *d, enum site_kind kind, const char *what)
{
    for (size_t i = 0; i < d->n_step; i++) {
        if (d->step[i].decl) {
            if (s->closure[d->step[i].label].ident == NAME_NONE)
                die("declaration '%s' has no unit and stamp, so it cannot be written as %s",
                    s->closures.name[d->step[i].label].s, what);
            continue;
        }
        uint32_t site = s->path[d->step[i].label].site;
        if (s->site[site].kind != kind) die("call site '%s' cannot be written as %s", s->sites.name[site].s, what);
    }
}

/* the function in whose body step i stands: what the step before it entered, or nothing at top level */
static uint32_t source(const struct trace_step *t, uint32_t i)
{
    return i ? t[i - 1].func : (uint32_t)NAME_NONE;
}

void decisions_write_v0(sexpw *w, const struct names *s, const struct decisions *d)
{
    need_sites(s, d, SITE_V0, "V0");
    sexpw_begin(w, NULL);
    for (size_t i = 0; i < d->n; i++) {
        const struct trace_step *t = d->step + d->d[i].first;
        if (d->d[i].action == ACTION_SPECIALISE) continue;
        sexpw_line(w);
        sexpw_begin(w, NULL);
        sexpw_begin(w, NULL);
        for (uint32_t k = d->d[i].n; k-- > 0; ) {
            sexpw_begin(w, t[k].decl ? "Enter_decl" : "At_call_site");
            uint32_t from = source(t, k);
            if (from == NAME_NONE) sexpw_cstr(w, "TOP_LEVEL");
            else names_write_closure(w, s, s->meta[from].origin);
            if (t[k].decl) {
                names_write_closure(w, s, t[k].label);
            } else {
                const struct apply_site *x = &s->site[s->path[t[k].label].site];
                sexpw_atom(w, s->text.name[x->stamp]);
                names_write_closure(w, s, x->a);
            }
            sexpw_end(w);
        }
        sexpw_end(w);
        names_write_closure(w, s, s->site[s->path[t[d->d[i].n - 1].label].site].a);
        sexpw_cstr(w, d->d[i].action == ACTION_INLINE ? "true" : "false");
        sexpw_end(w);
    }
    sexpw_end(w);
}

static void write_source(sexpw *w, const struct names *s, uint32_t from)
{
    sexpw_begin(w, NULL);
    if (from != NAME_NONE) names_write_meta(w, s, from, 0);
    sexpw_end(w);
}

void decisions_write_v1(sexpw *w, const struct names *s, const struct decisions *d)
{
    static const char *const words[] = { "Apply", "Inline", "Specialise" };
    need_sites(s, d, SITE_V1, "V1");
    sexpw_begin(w, NULL);
    for (size_t i = 0; i < d->n; i++) {
        const struct trace_step *t = d->step + d->d[i].first, *last = t + d->d[i].n - 1;
        sexpw_line(w);
        sexpw_begin(w, NULL);
        sexpw_int(w, d->d[i].round);
        sexpw_begin(w, NULL);
        for (uint32_t k = d->d[i].n; k-- > 0; ) {
            int fields = t[k].func != NAME_NONE ? s->meta[t[k].func].n_fields : 0;
            sexpw_begin(w, t[k].decl ? "Enter_decl" : "At_call_site");
            sexpw_begin(w, NULL);
            write_source(w, s, source(t, k));
            if (!t[k].decl) names_write_apply(w, s, t[k].label, fields != 3);
            names_write_meta(w, s, t[k].func, 0);
            sexpw_end(w);
            sexpw_end(w);
        }
        sexpw_end(w);
        int fields = last->func != NAME_NONE ? s->meta[last->func].n_fields : 0;
        names_write_apply(w, s, last->label, fields != 3);
        sexpw_cstr(w, words[d->d[i].action]);
        names_write_meta(w, s, last->func, 0);
        sexpw_end(w);
    }
    sexpw_end(w);
}

void decisions_write_simple(sexpw *w, const struct names *s, const struct decisions *d)
{
    static const char *const words[] = { "Apply", "Inline", "Specialise" };
    need_sites(s, d, SITE_V1, "simple overrides");
    sexpw_begin(w, NULL);
    for (size_t i = 0; i < d->n; i++) {
        const struct trace_step *t = d->step + d->d[i].first;
        sexpw_line(w);
        sexpw_begin(w, NULL);
        sexpw_int(w, d->d[i].round);
        sexpw_begin(w, NULL);
        sexpw_end(w);
        sexpw_begin(w, NULL);
        for (uint32_t k = 0; k < d->d[i].n; k++) {
            sexpw_begin(w, t[k].decl ? "Decl" : "Apply");
            sexpw_begin(w, NULL);
            if (t[k].decl) {
                sexpw_atom(w, s->text.name[s->closure[t[k].label].linkage]);
                sexpw_atom(w, s->text.name[s->closure[t[k].label].name]);
            } else {
                const struct apply_site *x = &s->site[s->path[t[k].label].site];
                str word = s->text.name[x->stamp];
                sexpw_atom(w, s->text.name[x->b]);
                sexpw_begin(w, NULL);
                const char *open = memchr(word.s, '[', word.n);
                if (open) sexpw_atom(w, (str){ open + 1, word.n - (size_t)(open - word.s) - 2 });
                sexpw_end(w);
            }
            sexpw_end(w);
            sexpw_end(w);
        }
        sexpw_end(w);
        sexpw_cstr(w, words[d->d[i].action]);
        sexpw_end(w);
    }
    sexpw_end(w);
}
