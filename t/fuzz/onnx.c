/* onnx.c - fuzz target: an ONNX file, imported and differentiated, or refused. */
#include "fuzz.h"
#include "place/grad.h"
#include "place/import.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void run(const uint8_t *data, size_t n)
{
    char *bytes = malloc(n + 1);
    memcpy(bytes, data, n);
    struct onnx *o = onnx_parse("fuzz.onnx", bytes, n);
    struct graph *g = import_onnx(o, 2, NULL);
    struct graph *s = grad_step(g, NULL, &(struct optimiser){ true, 0.1 });
    graph_free(s);
    graph_free(g);
    onnx_free(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_run(run, data, n);
    return 0;
}
