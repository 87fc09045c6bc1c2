/* import_speedscope.c - speedscope's file format, evented and sampled profiles; see import.h.  The names of the frames
 * may come after the profiles, and the unit after the events: a first reading takes these, a second one the rest. */
#include "prof/import/import.h"
#include "base/message.h"
#include "base/num.h"
#include "tree/json.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t TIME_MAX = (int64_t)1 << 61;

struct level { uint64_t frame; int64_t start; };
struct profile { uint32_t name; double unit_ns; int64_t start, end; bool has_end; };
struct scope {
    struct importer *m;
    jsonr *j;
    struct intern text;
    uint32_t *frame;                                     /* its name */
    size_t nframe, frame_cap;
    struct profile *profile;
    size_t nprofile, profile_cap, current;
    struct level *open;
    size_t depth, open_cap;
    int64_t now;
    uint64_t *item;                                      /* samples of the current profile, one after the other */
    size_t nitem, item_cap;
    size_t *item_end;
    size_t nsample, sample_cap;
    int64_t *weight;
    size_t nweight, weight_cap;
};

/* ---- rows */

/* "process thread", as prof-emit writes it, or a name of any form */
static void name_thread(const struct scope *s, struct event *e)
{
    str name = s->current < s->nprofile ? s->text.name[s->profile[s->current].name] : (str){ "", 0 };
    const char *blank = name.n ? memchr(name.s, ' ', name.n) : NULL;
    e->proc = str_of("speedscope");
    e->tid = name;
    if (blank && !memchr(blank + 1, ' ', (size_t)(name.s + name.n - blank - 1))) {
        e->proc.s = name.s;
        e->proc.n = (size_t)(blank - name.s);
        e->tid = (str){ blank + 1, name.n - e->proc.n - 1 };
    }
}

static void put(struct scope *s, const struct level *l, int64_t end, const char *flag)
{
    char unnamed[32];
    struct event e = { .cat = str_of("Python"), .flag = str_of(flag), .start = l->start, .end = end };
    name_thread(s, &e);
    if (l->frame < s->nframe) e.name = s->text.name[s->frame[l->frame]];
    else {
        snprintf(unnamed, sizeof unnamed, "frame %llu", (unsigned long long)l->frame);
        e.name = str_of(unnamed);
        s->m->malformed++;
    }
    import_put(s->m, &e);
}

static void begin(struct scope *s, uint64_t frame, int64_t at)
{
    s->open = grow(s->open, s->depth + 1, &s->open_cap, sizeof *s->open);
    s->open[s->depth++] = (struct level){ frame, at };
}

/* the innermost of its frame; what was opened inside it and is still open ends with it */
static void end(struct scope *s, uint64_t frame, int64_t at)
{
    size_t i = s->depth;
    while (i && s->open[i - 1].frame != frame) i--;
    if (!i) {
        s->m->stray++;
        return;
    }
    for (; s->depth > i; s->m->unclosed++) put(s, &s->open[--s->depth], at, "open");
    put(s, &s->open[--s->depth], at, "");
}

static double unit_of(const struct importer *m, str s)
{
    return str_is(s, "nanoseconds") ? 1 : str_is(s, "microseconds") ? 1e3 : str_is(s, "milliseconds") ? 1e6
         : str_is(s, "seconds") ? 1e9 : m->unit_ns;      /* none, bytes */
}

/* ns; false unless a number within range */
static bool value_ns(const struct scope *s, int64_t *ns)
{
    double unit = s->current < s->nprofile ? s->profile[s->current].unit_ns : 1, v;
    str t = json_str(s->j);
    bool exact = (unit == 1 && int_parse(t.s, t.n, ns)) || (unit == 1000 && import_decimal_us(t, ns));
    if (!exact) {
        if (!num_parse(t.s, t.n, &v) || !(fabs(v * unit) <= (double)TIME_MAX)) return false;
        *ns = llround(v * unit);
    }
    return *ns <= TIME_MAX && *ns >= -TIME_MAX;
}

/* ---- tokens */

static void leave(struct scope *s, enum json token)
{
    if (token == JSON_OBJECT || token == JSON_ARRAY) json_leave(s->j);
}

static bool next_is(struct scope *s, enum json wanted)
{
    enum json token = json_next(s->j);
    if (token != wanted) leave(s, token);
    return token == wanted;
}

static bool next_time(struct scope *s, int64_t *ns)
{
    return next_is(s, JSON_NUMBER) && value_ns(s, ns);
}

static bool next_index(struct scope *s, uint64_t *i)
{
    int64_t v;
    if (!next_is(s, JSON_NUMBER) || !int_parse(json_str(s->j).s, json_str(s->j).n, &v) || v < 0) return false;
    *i = (uint64_t)v;
    return true;
}

/* the next item of an array of objects; others are malformed */
static bool next_object(struct scope *s)
{
    for (enum json token; (token = json_next(s->j)) != JSON_END && token != JSON_ARRAY_END;) {
        if (token == JSON_OBJECT) return true;
        s->m->malformed++;
        leave(s, token);
    }
    return false;
}

/* ---- first reading: frames, and of each profile what is needed before its events */

static void read_frame(struct scope *s)
{
    struct buf name = { 0 }, file = { 0 };
    int64_t line = 0;
    str k;
    while (json_key(s->j, &k)) {
        struct buf *b = str_is(k, "name") ? &name : str_is(k, "file") ? &file : NULL;
        if (b) {
            b->n = 0;
            if (next_is(s, JSON_STRING)) buf_str(b, json_str(s->j));
        } else if (str_is(k, "line")) {
            if (!next_is(s, JSON_NUMBER) || !int_parse(json_str(s->j).s, json_str(s->j).n, &line)) line = 0;
        } else json_skip(s->j);
    }
    if (file.n) {                                        /* as in cProfile's files */
        buf_format(&file, ":%lld(", (long long)line);
        buf_str(&file, (str){ name.s, name.n });
        buf_char(&file, ')');
    }
    const struct buf *b = file.n ? &file : &name;
    s->frame = grow(s->frame, s->nframe + 1, &s->frame_cap, sizeof *s->frame);
    s->frame[s->nframe++] = intern(&s->text, (str){ b->n ? b->s : "", b->n });
    free(name.s);
    free(file.s);
}

static void read_shared(struct scope *s)
{
    str k;
    while (json_key(s->j, &k)) {
        if (!str_is(k, "frames")) json_skip(s->j);
        else if (next_is(s, JSON_ARRAY)) while (next_object(s)) read_frame(s);
    }
}

static void read_head(struct scope *s)
{
    struct profile *p = &s->profile[s->current];
    str k;
    struct buf start = { 0 }, last = { 0 };
    while (json_key(s->j, &k)) {
        struct buf *b = str_is(k, "startValue") ? &start : str_is(k, "endValue") ? &last : NULL;
        if (b) {
            b->n = 0;
            if (next_is(s, JSON_NUMBER)) buf_str(b, json_str(s->j));
        } else if (str_is(k, "name")) {
            if (next_is(s, JSON_STRING)) p->name = intern(&s->text, json_str(s->j));
        } else if (str_is(k, "unit")) {
            if (next_is(s, JSON_STRING)) p->unit_ns = unit_of(s->m, json_str(s->j));
        } else json_skip(s->j);
    }
    double v;
    int64_t limit = TIME_MAX;
    for (int i = 0; i < 2; i++) {
        struct buf *b = i ? &last : &start;
        int64_t *to = i ? &p->end : &p->start;
        if (b->n && p->unit_ns == 1 && int_parse(b->s, b->n, to) && *to <= limit && *to >= -limit) p->has_end |= i == 1;
        else if (b->n && num_parse(b->s, b->n, &v) && fabs(v * p->unit_ns) <= (double)limit) {
            *to = llround(v * p->unit_ns);
            p->has_end |= i == 1;
        } else *to = 0;
    }
    free(start.s);
    free(last.s);
}

static void new_profile(struct scope *s)
{
    s->profile = grow(s->profile, s->nprofile + 1, &s->profile_cap, sizeof *s->profile);
    s->profile[s->nprofile] = (struct profile){ .name = intern(&s->text, (str){ "", 0 }), .unit_ns = s->m->unit_ns };
    s->current = s->nprofile++;
    read_head(s);
}

/* ---- second reading: events and samples */

static void read_event(struct scope *s)
{
    str k;
    char type = 0;
    int64_t at = 0;
    uint64_t frame = 0;
    bool has_at = false, has_frame = false;
    while (json_key(s->j, &k)) {
        if (str_is(k, "at")) has_at = next_time(s, &at);
        else if (str_is(k, "frame")) has_frame = next_index(s, &frame);
        else if (str_is(k, "type")) {
            if (next_is(s, JSON_STRING) && json_str(s->j).n == 1) type = json_str(s->j).s[0];
        } else json_skip(s->j);
    }
    if (json_fault(s->j)) return;
    if (!has_at || !has_frame || (type != 'O' && type != 'C')) {
        s->m->malformed++;
        return;
    }
    if (at > s->now) s->now = at;
    if (type == 'O') begin(s, frame, at);
    else end(s, frame, at);
}

static void read_samples(struct scope *s)
{
    for (enum json token; (token = json_next(s->j)) != JSON_END && token != JSON_ARRAY_END;) {
        if (token != JSON_ARRAY) {
            s->m->malformed++;
            leave(s, token);
            continue;
        }
        size_t known = s->nitem;
        while ((token = json_next(s->j)) != JSON_END && token != JSON_ARRAY_END) {
            int64_t v = 0;
            if (token != JSON_NUMBER || !int_parse(json_str(s->j).s, json_str(s->j).n, &v) || v < 0) {
                s->m->malformed++;
                leave(s, token);
                continue;
            }
            s->item = grow(s->item, s->nitem + 1, &s->item_cap, sizeof *s->item);
            s->item[s->nitem++] = (uint64_t)v;
        }
        if (token == JSON_END) {                         /* cut inside a sample */
            s->nitem = known;
            return;
        }
        s->item_end = grow(s->item_end, s->nsample + 1, &s->sample_cap, sizeof *s->item_end);
        s->item_end[s->nsample++] = s->nitem;
    }
}

static void read_weights(struct scope *s)
{
    for (enum json token; (token = json_next(s->j)) != JSON_END && token != JSON_ARRAY_END;) {
        int64_t v = 0;
        if (token != JSON_NUMBER || !value_ns(s, &v) || v < 0) {
            s->m->malformed++;
            leave(s, token);
            v = 0;
        }
        s->weight = grow(s->weight, s->nweight + 1, &s->weight_cap, sizeof *s->weight);
        s->weight[s->nweight++] = v;
    }
}

static void close_frames(struct scope *s, size_t depth)
{
    for (; s->depth > depth; s->depth--)
        if (s->open[s->depth - 1].start < s->now) put(s, &s->open[s->depth - 1], s->now, "est");
}

/* one after the other; equal beginnings of neighbouring samples are one interval */
static void lay_out(struct scope *s)
{
    s->depth = 0;
    for (size_t i = 0, from = 0; i < s->nsample; from = s->item_end[i++]) {
        size_t n = s->item_end[i] - from, same = 0;
        while (same < n && same < s->depth && s->open[same].frame == s->item[from + same]) same++;
        close_frames(s, same);
        for (; same < n; same++) begin(s, s->item[from + same], s->now);
        if (i >= s->nweight || s->weight[i] > TIME_MAX - s->now) s->m->malformed++;
        else s->now += s->weight[i];
    }
    close_frames(s, 0);
}

static void read_profile(struct scope *s)
{
    const struct profile *p = s->current < s->nprofile ? &s->profile[s->current] : &(struct profile){ .unit_ns = 1 };
    str k;
    s->now = p->start;
    s->depth = s->nitem = s->nsample = s->nweight = 0;
    while (json_key(s->j, &k)) {
        if (str_is(k, "events")) {
            if (next_is(s, JSON_ARRAY)) while (next_object(s)) read_event(s);
        } else if (str_is(k, "samples")) {
            if (next_is(s, JSON_ARRAY)) read_samples(s);
        } else if (str_is(k, "weights")) {
            if (next_is(s, JSON_ARRAY)) read_weights(s);
        } else json_skip(s->j);
    }
    int64_t last = p->has_end && p->end > s->now && !json_fault(s->j) ? p->end : s->now;
    for (; s->depth; s->m->unclosed++) put(s, &s->open[--s->depth], last, "open");
    if (s->nsample) lay_out(s);
    s->current++;
}

static void read_file(struct scope *s, const char *path, bool first)
{
    str k;
    s->j = json_open(path);
    json_tolerate(s->j);
    if (json_next(s->j) == JSON_OBJECT) {
        while (json_key(s->j, &k)) {
            if (first && str_is(k, "shared")) {
                if (next_is(s, JSON_OBJECT)) read_shared(s);
            } else if (!str_is(k, "profiles")) json_skip(s->j);
            else if (next_is(s, JSON_ARRAY)) {
                while (next_object(s)) {
                    if (first) new_profile(s);
                    else read_profile(s);
                }
            }
        }
    } else if (!first && !json_fault(s->j)) s->m->fault = xformat("%s: not an object, or empty", path);
    if (!first) import_json_fault(s->m, s->j);
    json_close(s->j);
}

void import_speedscope(struct importer *m, const char *path)
{
    struct scope s = { .m = m };
    if (strcmp(path, "-") == 0) die("a file of speedscope is read twice: give its name, not a pipe");
    read_file(&s, path, true);
    m->malformed = 0;                                    /* counted by the second reading */
    s.current = 0;
    read_file(&s, path, false);
    intern_free(&s.text);
    free_all(s.frame, s.profile, s.open, s.item, s.item_end, s.weight);
}
