/* json.c - fuzz target: what is accepted is written so that it reads back as the same tokens, and skipping a value ends
 * where reading it ends. */
#include "fuzz.h"
#include "tree/json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static struct buf first, second;
static char path[64];

static void tag_all(jsonr *j, struct buf *b, jsonw *w)
{
    *b = (struct buf){ 0 };
    buf_add(b, "", 0);
    for (enum json t; (t = json_next(j)) != JSON_END;) {
        str s = t == JSON_KEY || t == JSON_STRING || t == JSON_NUMBER ? json_str(j) : (str){ "", 0 };
        bool utf8 = true;                                /* the writer replaces what is not */
        for (size_t i = 0; i < s.n; i++) utf8 = utf8 && (unsigned char)s.s[i] < 0x80;
        buf_format(b, "%d:%zu:", t, utf8 ? s.n : 0);
        if (utf8) buf_str(b, s);
        if (!w) continue;
        if (t == JSON_OBJECT) jsonw_begin(w, '{');
        else if (t == JSON_ARRAY) jsonw_begin(w, '[');
        else if (t == JSON_OBJECT_END || t == JSON_ARRAY_END) jsonw_end(w);
        else if (t == JSON_KEY) jsonw_key_str(w, s);
        else if (t == JSON_STRING) jsonw_str(w, s);
        else if (t == JSON_NUMBER) jsonw_raw(w, s);
        else if (t == JSON_NULL) jsonw_raw(w, str_of("null"));
        else jsonw_raw(w, str_of(t == JSON_TRUE ? "true" : "false"));
    }
    json_close(j);
}

static void read_only(const uint8_t *data, size_t n)
{
    tag_all(json_open_text((const char *)data, n, "in"), &first, NULL);
    free(first.s);
}

static void skipped(const uint8_t *data, size_t n)
{
    jsonr *j = json_open_text((const char *)data, n, "in");
    json_tolerate(j);
    str k;
    size_t steps = 0;
    for (enum json t; (t = json_next(j)) != JSON_END && steps <= n; steps++)
        if (t == JSON_OBJECT) while (json_key(j, &k)) json_skip(j);
    fuzz_check(steps <= n, "skipping does not come to an end");
    json_close(j);
}

static void compare(const uint8_t *data, size_t n)
{
    int fd = fuzz_reuse(0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    jsonw *w = jsonw_open(path);
    tag_all(json_open_text((const char *)data, n, "in"), &first, w);
    jsonw_close(w);
    tag_all(json_open(path), &second, NULL);
    fuzz_check(str_eq((str){ first.s, first.n }, (str){ second.s, second.n }),
               "the tokens changed on their way out and in");
    free(first.s);
    free(second.s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_check(fuzz_run(skipped, data, n), "a tolerant reader ended the process");
    if (fuzz_run(read_only, data, n)) fuzz_check(fuzz_run(compare, data, n), "what was written is not accepted");
    return 0;
}
