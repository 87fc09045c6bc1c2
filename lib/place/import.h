/* import.h - a forward graph of operators on plain arrays (tensor/nd.h) from an ONNX file.
 *
 * Shapes follow from the inputs' (batch takes the place of dimensions that are only named).  What is computed from
 * shapes and constants alone is computed here.  Initialisers keep their names: those that are parameters (grad.h)
 * become args, all others constants, which a line on stderr names; both get their values from the same file when the
 * graph is run.  Batch norms use the statistics of the batch, as in training.  Reshapes are copies.
 * Dies with all operators that are not known, or at the first node that cannot be had, with its name. */
#ifndef MILLRACE_PLACE_IMPORT_H
#define MILLRACE_PLACE_IMPORT_H
#include "place/onnx.h"
#include "tensor/graph.h"
#include <regex.h>

/* parameters: names of further initialisers of floats that are trained; NULL: none */
struct graph *import_onnx(const struct onnx *, long batch, const regex_t *parameters);
const char *import_operator(int i);                      /* names of ONNX operators; NULL after the last */
#endif
