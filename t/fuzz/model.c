/* model.c - fuzz target: a model that is accepted predicts numbers, and the same ones after it was written and read. */
#include "fuzz.h"
#include "flambda/artifacts.h"
#include "decisions/decisions.h"
#include "fit/model.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { ROWS = 3 };
static double first[ROWS][MODEL_MAX_CLASSES], second[ROWS][MODEL_MAX_CLASSES];
static int outputs[2];
static char written[1 << 20];
static size_t nwritten;

static struct model *read_text(const char *text, size_t n, const char *name)
{
    sexpr *r = sexp_open_text(text, n, name, SEXP_CORE);
    struct model *m = model_from(sexp_only(r), 0);
    sexp_close(r);
    return m;
}

static void predict(const struct model *m, double out[ROWS][MODEL_MAX_CLASSES])
{
    double *x = calloc(m->nfeature + 1, sizeof *x);
    for (int row = 0; row < ROWS; row++) {
        for (size_t j = 0; j < m->nfeature; j++) x[j] = (double)(row - 1) * (double)(j + 1);
        model_predict(m, x, out[row]);
        model_choose(m, out[row]);
    }
    free(x);
}

static void read_write(const uint8_t *data, size_t n)
{
    struct model *m = read_text((const char *)data, n, "in");
    outputs[0] = model_outputs(m);
    predict(m, first);
    FILE *f = fmemopen(written, sizeof written, "w");
    sexpw *w = sexpw_file(f);
    model_write(m, w);
    sexpw_close(w);
    nwritten = (size_t)ftell(f);
    fclose(f);
}

static void read_again(const uint8_t *data, size_t n)
{
    (void)data;
    (void)n;
    struct model *m = read_text(written, nwritten, "again");
    outputs[1] = model_outputs(m);
    predict(m, second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    span_seconds((str){ (const char *)data, n });
    fuzz_check(instructions_in((const char *)data, n) >= 0, "instructions are counted");
    if (n > 4096 || !fuzz_run(read_write, data, n)) return 0;
    fuzz_check(fuzz_run(read_again, data, n), "what was written is a model");
    fuzz_check(outputs[0] == outputs[1], "with as many outputs");
    for (int row = 0; row < ROWS; row++)
        for (int o = 0; o < outputs[0]; o++)
            fuzz_check(first[row][o] == second[row][o] || (isnan(first[row][o]) && isnan(second[row][o])),
                       "and the same predictions");
    return 0;
}
