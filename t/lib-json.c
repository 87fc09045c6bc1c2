/* lib/tree/json: known texts, positions of errors, write-read-write on random documents, every truncation */
#include "base/rng.h"
#include "tree/json.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *slurp(const char *path, size_t *n)
{
    struct buf b = { 0 };
    char block[4096];
    FILE *f = fopen(path, "r");
    for (size_t k; f && (k = fread(block, 1, sizeof block, f)) > 0;) buf_add(&b, block, k);
    if (f) fclose(f);
    *n = b.n;
    return b.s;
}

/* tokens as one line of text: {} [] k:KEY s:STRING n:NUMBER t f 0 */
static void tokens(jsonr *j, struct buf *out)
{
    out->n = 0;
    for (enum json t; (t = json_next(j)) != JSON_END;) {
        static const char *const name[] = { "", "{", "}", "[", "]", "k:", "s:", "n:", "t", "f", "0" };
        buf_str(out, str_of(name[t]));
        if (t == JSON_KEY || t == JSON_STRING || t == JSON_NUMBER) buf_str(out, json_str(j));
        buf_char(out, ' ');
    }
    buf_add(out, "", 0);
}

static bool reads(const char *text, const char *want)
{
    struct buf b = { 0 };
    jsonr *j = json_open_text(text, strlen(text), "x");
    json_tolerate(j);
    tokens(j, &b);
    bool good = !json_fault(j) && strcmp(b.s, want) == 0;
    if (!good) printf("# %s -> %s (%s)\n", text, b.s, json_fault(j) ? json_fault(j) : "no fault");
    json_close(j);
    free(b.s);
    return good;
}

static bool faults(const char *text, const char *want, bool truncated)
{
    jsonr *j = json_open_text(text, strlen(text), "x");
    json_tolerate(j);
    while (json_next(j) != JSON_END) continue;
    bool good = json_fault(j) && strcmp(json_fault(j), want) == 0 && json_truncated(j) == truncated;
    if (!good) printf("# %s -> %s\n", text, json_fault(j) ? json_fault(j) : "no fault");
    json_close(j);
    return good;
}

static void random_string(struct rng *r, struct buf *b)
{
    static const char *const piece[] = { "a",
                                         "plain text that is longer than sixteen bytes",
                                         "\"",
                                         "\\",
                                         "\n",
                                         "\x01",
                                         "\xc3\xa9",
                                         "\xe2\x82\xac",
                                         "\xf0\x9f\x98\x80",
                                         "/",
                                         "{[",
                                         "]}",
                                         ",",
                                         ":" };
    b->n = 0;
    for (uint64_t n = rng_below(r, 6); n; n--) buf_str(b, str_of(piece[rng_below(r, sizeof piece / sizeof *piece)]));
    buf_add(b, "", 0);
}

static void random_value(struct rng *r, jsonw *w, int depth)
{
    struct buf b = { 0 };
    uint64_t kind = rng_below(r, depth > 6 ? 5 : 8);
    if (rng_below(r, 4) == 0) jsonw_line(w);
    if (kind == 0) jsonw_int(w, (int64_t)rng_u64(r) >> rng_below(r, 60));
    else if (kind == 1) jsonw_num(w, rng_normal(r) * 1e9);
    else if (kind == 2) jsonw_raw(w, str_of(rng_below(r, 2) ? "true" : "false"));
    else if (kind == 3) jsonw_raw(w, str_of("null"));
    else if (kind == 4) random_string(r, &b), jsonw_str(w, (str){ b.s, b.n });
    else {
        bool object = kind & 1;
        jsonw_begin(w, object ? '{' : '[');
        for (uint64_t n = rng_below(r, depth == 0 ? 400 : 6); n; n--) {
            if (object) random_string(r, &b), jsonw_key_str(w, (str){ b.s, b.n });
            random_value(r, w, depth + 1);
        }
        jsonw_end(w);
    }
    free(b.s);
}

/* read, write again: the same bytes but for line breaks */
static void copy(const char *from, const char *to)
{
    jsonr *j = json_open(from);
    jsonw *w = jsonw_open(to);
    for (enum json t; (t = json_next(j)) != JSON_END;) switch (t) {
    case JSON_OBJECT: jsonw_begin(w, '{'); break;
    case JSON_ARRAY: jsonw_begin(w, '['); break;
    case JSON_OBJECT_END: case JSON_ARRAY_END: jsonw_end(w); break;
    case JSON_KEY: jsonw_key_str(w, json_str(j)); break;
    case JSON_STRING: jsonw_str(w, json_str(j)); break;
    case JSON_NUMBER: jsonw_raw(w, json_str(j)); break;
    case JSON_TRUE: case JSON_FALSE: jsonw_raw(w, str_of(t == JSON_TRUE ? "true" : "false")); break;
    default: jsonw_raw(w, str_of("null"));
    }
    jsonw_close(w);
    json_close(j);
}

int main(void)
{
    ok(reads("", ""), "no input is no value");
    ok(reads(" {\"a\":[1,-2.5e+3,\"x\"],\"b\":{}} ", "{ k:a [ n:1 n:-2.5e+3 s:x ] k:b { } } "),
       "objects, arrays and scalars");
    ok(reads("[] [true,false,null]\n7 \"s\"", "[ ] [ t f 0 ] n:7 s:s "), "several values at the top level");
    ok(reads("\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\\ud800x\\n\\/\\\"\"",
             "s:A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbdx\n/\" "),
       "escapes are decoded, a lone surrogate is replaced");
    ok(reads("{\"k\" : 0 }", "{ k:k n:0 } "), "blanks around the colon");
    ok(faults("[1,\n 2 3]", "x:2:4: ',' or a closing bracket was expected", false),
       "a missing comma is named with its place");
    ok(faults("{\"a\" 1}", "x:1:6: ':' was expected after a key", false), "a missing colon");
    ok(faults("{a:1}", "x:1:2: a key was expected", false), "a bare key");
    ok(faults("[1}", "x:1:3: the wrong closing bracket", false), "crossed brackets");
    ok(faults("[01]", "x:1:2: not a number", false), "a leading zero");
    ok(faults("[1.]", "x:1:2: not a number", false), "a bare point");
    ok(faults("[tru]", "x:1:2: not a JSON value", false), "half a word");
    ok(faults("[\"a\tb\"]", "x:1:4: a control character inside a string", false), "a raw tab in a string");
    ok(faults("[\"\\x\"]", "x:1:3: an escape that JSON does not know", false), "an unknown escape");
    ok(faults("[1,]", "x:1:4: not a JSON value", false), "a trailing comma");
    ok(faults("{\"a\":[1,2", "x:1:10: the input ends here, inside a value", true), "a truncated array");
    ok(faults("[\"ab", "x:1:5: the input ends here, inside a value", true), "a truncated string");
    ok(faults("[nul", "x:1:5: the input ends here, inside a value", true), "a truncated word");

    const char *text = "{\"skip\":{\"a\":[\"]}\\\"\",{\"b\":1}],\"c\":\"}\"},\"keep\":3,\"s\":\"str\",\"n\":12.5}";
    jsonr *j = json_open_text(text, strlen(text), "x");
    str k;
    bool skipped = json_next(j) == JSON_OBJECT && json_key(j, &k) && str_is(k, "skip");
    json_skip(j);
    skipped = skipped && json_key(j, &k) && str_is(k, "keep") && json_next(j) == JSON_NUMBER && json_num(j) == 3;
    skipped = skipped && json_key(j, &k) && str_is(k, "s");
    json_skip(j);
    skipped = skipped && json_key(j, &k) && str_is(k, "n") && json_next(j) == JSON_NUMBER && json_num(j) == 12.5 &&
              !json_key(j, &k);
    ok(skipped && json_next(j) == JSON_END, "skipping a value lands behind it, brackets in strings do not count");
    json_close(j);

    char dir[] = "/tmp/json.XXXXXX";
    if (!mkdtemp(dir) || chdir(dir) != 0) return 1;
    bool same = true, cut_found = true;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct rng r = rng_for(seed, str_of("json"));
        jsonw *w = jsonw_open("a");
        random_value(&r, w, 0);
        jsonw_close(w);
        copy("a", "b");
        copy("b", "c");
        size_t na, nb, nc;
        char *a = slurp("a", &na), *b = slurp("b", &nb), *c = slurp("c", &nc);
        struct buf ta = { 0 }, tb = { 0 };
        jsonr *ja = json_open_text(a, na, "a"), *jb = json_open("b");
        tokens(ja, &ta);
        tokens(jb, &tb);
        same = same && nb == nc && memcmp(b, c, nb) == 0 && ta.n == tb.n && memcmp(ta.s, tb.s, ta.n) == 0;
        json_close(ja);
        json_close(jb);
        if (seed < 8 && (a[0] == '{' || a[0] == '[')) for (size_t n = 1; n < na - 1 && n < 2000; n++) {
            jsonr *t = json_open_text(a, n, "cut");
            json_tolerate(t);
            while (json_next(t) != JSON_END) continue;
            cut_found = cut_found && json_truncated(t);
            json_close(t);
        }
        free(a), free(b), free(c), free(ta.s), free(tb.s);
    }
    ok(same, "write, read and write again gives the same bytes");
    ok(cut_found, "every truncation is found and called one");

    FILE *f = fopen("big", "w");                         /* tokens across the borders of the reader's blocks */
    fputs("[", f);
    long sum = 0;
    for (long i = 0; i < 120000; i++) {
        fprintf(f, "%s{\"id\":%ld,\"text\":\"%.*s\\n\",\"skip\":[{\"x\":\"]\"}]}\n", i ? "," : "", i, (int)(i % 60),
                "................................................................");
        sum += i + i % 60 + 1;
    }
    fputs("]", f);
    fclose(f);
    j = json_open("big");
    long got = 0;
    if (json_next(j) == JSON_ARRAY) while (json_next(j) == JSON_OBJECT) while (json_key(j, &k)) {
        if (str_is(k, "id") && json_next(j) == JSON_NUMBER) got += (long)json_num(j);
        else if (str_is(k, "text") && json_next(j) == JSON_STRING) got += (long)json_str(j).n;
        else json_skip(j);
    }
    ok(got == sum && json_next(j) == JSON_END, "twelve megabytes through a quarter of one");
    json_close(j);
    return unlink("a") || unlink("b") || unlink("c") || unlink("big") || rmdir(dir) || done();
}
