/* page.c - fuzz target: a page made of any tables.  Form feeds part the input into events, a table of any columns, and
 * the pieces of a path.  Tables are read once before, since they may be refused, and the page holds a file open.  What
 * stands between its script's tags is one JSON value with every drawn interval, in which no tag can begin. */
#include "fuzz.h"
#include "base/mem.h"
#include "prof/page.h"
#include "tree/json.h"
#include <stdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { PARTS = 3 };
static const char open_tag[] = "id=\"data\">", close_tag[] = "</script>";

static size_t split(const uint8_t *data, size_t n, str part[PARTS])
{
    size_t k = 0, begin = 0;
    for (size_t i = 0; i <= n && k < PARTS; i++) {
        if (i < n && (data[i] != '\f' || k == PARTS - 1)) continue;
        part[k++] = (str){ (const char *)data + begin, i - begin };
        begin = i + 1;
    }
    return k;
}

static void look(const char *s, size_t n)
{
    const char *begin = memmem(s, n, open_tag, sizeof open_tag - 1);
    fuzz_check(begin != NULL, "no data in the page");
    begin += sizeof open_tag - 1;
    const char *end = memmem(begin, n - (size_t)(begin - s), close_tag, sizeof close_tag - 1);
    fuzz_check(end != NULL && !memchr(begin, '<', (size_t)(end - begin)), "a tag within the data");
    jsonr *j = json_open_text(begin, (size_t)(end - begin), "page");
    json_tolerate(j);
    bool lanes = false;
    str key;
    fuzz_check(json_next(j) == JSON_OBJECT, "no object");
    while (json_key(j, &key)) {
        if (!str_is(key, "lanes")) {
            json_skip(j);
            continue;
        }
        lanes = json_next(j) == JSON_ARRAY;
        while (lanes && json_next(j) == JSON_OBJECT)
            while (json_key(j, &key)) {
                if (!str_is(key, "len")) {
                    json_skip(j);
                    continue;
                }
                json_next(j);
                while (json_next(j) == JSON_NUMBER) fuzz_check(json_num(j) >= 1 && fmod(json_num(j), 1) == 0,
                                                                      "an empty interval is drawn, or a broken one");
            }
    }
    fuzz_check(lanes && json_next(j) == JSON_END && !json_fault(j), "not one JSON value");
    json_close(j);
}

static void body(const uint8_t *data, size_t n)
{
    char path[PARTS][64], out[64], *paths[] = { path[0], NULL };
    str part[PARTS];
    size_t k = split(data, n, part);
    for (size_t i = 0; i < k; i++) {
        int fd = fuzz_reuse((int)i);
        if (part[i].n && write(fd, part[i].s, part[i].n) != (ssize_t)part[i].n) return;
        snprintf(path[i], sizeof path[i], "/proc/self/fd/%d", fd);
        csv *t = csv_open(path[i]);
        int from = i == 2 ? csv_need(t, "start_ns") : -1, to = i == 2 ? csv_need(t, "end_ns") : -1;
        if (i == 2) csv_need(t, "proc"), csv_need(t, "tid");
        while (csv_next(t)) if (i == 2) csv_int(t, from), csv_int(t, to);
        csv_close(t);
    }
    struct page p = { .title = "</script>&\"", .limit = 1 + n % 50, .top = k > 1 ? path[1] : NULL,
                      .pieces = k > 2 ? path[2] : NULL };
    struct event_table t = { 0 };
    table_read(&t, paths);
    int fd = fuzz_reuse(3);
    snprintf(out, sizeof out, "/proc/self/fd/%d", fd);
    page_write(out, &p, &t);
    off_t size = lseek(fd, 0, SEEK_END);
    char *s = xmalloc((size_t)size + 1, 1);
    fuzz_check(size > 0 && pread(fd, s, (size_t)size, 0) == size, "no page");
    look(s, (size_t)size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_run(body, data, n);
    return 0;
}
