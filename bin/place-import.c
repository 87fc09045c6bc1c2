/* place-import - a network from another tool as a forward graph
 *
 * Usage: place-import --from=onnx [--batch=N] [--parameters=REGEX] [FILE]
 *        place-import --operators
 *
 * Reads an ONNX file (opset 9 to 16 or so, as torch.onnx.export writes them) and
 * writes the graph of its forward pass on plain arrays, shapes inferred;
 * place-grad makes a training step of it, with the loss of the first output.
 * Initialisers keep their names; the graph holds no values: place-run
 * --values=FILE reads them from the same file.
 * What is trained: initialisers of floats whose names end in weight, bias, scale
 * or shift, and those that --parameters matches (an extended regular
 * expression); others are constants, and named on stderr.  An input with such
 * a name is refused.
 * Operators that are not known are named, all at once, and so is a node of a
 * known one that cannot be imported.  Batch norms use the statistics of the
 * batch. Memory: the file, three times.  --operators: one column, op, of those
 * known.
 *
 * Examples:
 *   $ place-import --from=onnx net.onnx | place-stat
 *   $ place-import --parameters='pos_embedding|gamma$' net.onnx | place-grad
 */
#include "base/filter.h"
#include "place/import.h"
#include "table/csvio.h"
#include HELP

static enum { ONNX } from = ONNX;
static long batch;
static const char *pattern;
static bool operators;
static const struct opt options[] = {
    { 0, "from", WORD, &from, "onnx", "the form of the file" },
    { 0, "batch", INT, &batch, "N", "size of dimensions that only have a name; 0: none may be", 0, 1e6 },
    { 0, "parameters", STR, &pattern, "REGEX", "initialisers that are trained, whatever they are called" },
    { 0, "operators", FLAG, &operators, NULL, "list what is known" },
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (operators) {
        csvw *w = csvw_open("-");
        csvw_names(w, "op");
        csvw_end(w);
        for (int k = 0; import_operator(k); k++) {
            csvw_cstr(w, import_operator(k));
            csvw_end(w);
        }
        return csvw_close(w);
    }
    regex_t trained;
    if (pattern && regcomp(&trained, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        usage("--parameters: '%s' is no regular expression", pattern);
    struct onnx *o = onnx_read(filter_operand(argc, argv, i));
    struct graph *g = import_onnx(o, batch, pattern ? &trained : NULL);
    graph_write(g, "-");
    graph_free(g);
    onnx_free(o);
    return EXIT_OK;
}
