/* values.h - what parameters, constants and inputs of an executed graph begin with, from files. */
#ifndef MILLRACE_PLACE_VALUES_H
#define MILLRACE_PLACE_VALUES_H
#include "place/engine.h"

/* Initialisers and constants of an ONNX file go to the args and constants of their names; dies when one has another
 * size, or when a parameter (grad.h) or a constant of the graph is not in the file. */
void values_from_onnx(struct engine *, const struct graph *, const char *path);
/* Writes the ONNX file `path` to `to`, with the parameters of now in the place of its own; complete or not at all. */
void values_to_onnx(struct engine *, const struct graph *, const char *path, const char *to);
/* "NAME=FILE": little-endian 32-bit words, as many as the tensor has; dies otherwise. */
void value_from_file(struct engine *, const struct graph *, const char *pair);
#endif
