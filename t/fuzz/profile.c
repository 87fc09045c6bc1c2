/* profile.c - fuzz target: the importers of foreign profiles.  The first byte chooses the format.  Every row that comes
 * out is in range and does not end before it starts, and there are not more of them than the input can hold. */
#include "fuzz.h"
#include "prof/import/import.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static size_t rows, limit;
static enum import_format format;

static void put(void *closure, const struct event *e)
{
    const int64_t most = (int64_t)1 << 62;
    const str text[] = { e->proc, e->tid, e->cat, e->name, e->link, e->flag };
    size_t sum = 0;
    (void)closure;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        for (size_t k = 0; k < text[i].n; k++) sum += (unsigned char)text[i].s[k];
    fuzz_check(sum < SIZE_MAX && e->start <= e->end && e->start >= -most && e->end <= most && e->kind < EVENT_KINDS,
               "a row that cannot be");
    fuzz_check(++rows <= limit, "more rows than the input can hold");
}

static void lines(struct importer *m, const uint8_t *data, size_t n)
{
    void *state = NULL;
    for (size_t i = 0; i < n;) {
        const uint8_t *nl = memchr(data + i, '\n', n - i);
        size_t k = nl ? (size_t)(nl - data) + 1 - i : n - i;
        char *line = malloc(k + 1);
        memcpy(line, data + i, k);
        line[k] = 0;
        import_text_line(m, format, line, k, &state);
        free(line);
        i += k;
    }
    import_text_line(m, format, NULL, 0, &state);
}

static void body(const uint8_t *data, size_t n)
{
    struct importer m = { .put = put, .unit_ns = 1000 };
    char path[64];
    rows = 0;
    limit = n > 1 && data[0] == 0x1f && data[1] == 0x8b ? 2000 * n : n + 1;   /* gzip packs up to a thousandfold */
    switch (format) {
    case FROM_CHROME: case FROM_KINETO: case FROM_NSYS: case FROM_NVPROF:
        snprintf(path, sizeof path, "/proc/self/fd/%d", fuzz_file(data, n));
        if (format == FROM_NSYS) import_nsys(&m, path);
        else if (format == FROM_NVPROF) import_nvprof(&m, path);
        else import_trace(&m, path, format == FROM_KINETO);
        break;
    case FROM_PROF: import_prof_bytes(&m, "in", data, n); break;
    case FROM_PPROF:                                     /* two bytes of a sample may be a stack of many frames */
        limit = n * n + 1;
        import_pprof_bytes(&m, "in", data, n);
        break;
    case FROM_RLSCOPE:
        if (n)
            import_rlscope_bytes(&m,
                                 data[0] % 3 == 0   ? "category_events"
                                 : data[0] % 3 == 1 ? "cuda_device_events"
                                                    : "cuda_api_stats",
                                 data + 1, n - 1);
        break;
    default: lines(&m, data, n);
    }
    free(m.fault);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (!n) return 0;
    format = (enum import_format)(*data % 10);
    fuzz_run(body, data + 1, n - 1);
    return 0;
}
