/* onnx.h - an ONNX file in memory: nodes, initialisers, inputs; read by a small reader of protocol buffers.
 *
 * Only what an importer needs is kept (onnx.proto3 of the ONNX project, IR version 3 and later); unknown fields are
 * passed over.  Names and data point into the file's bytes.  Every length is checked against what encloses it; numbers
 * of items are bounded by the bytes that hold them; messages nest at most as deep as the format does. */
#ifndef MILLRACE_PLACE_ONNX_H
#define MILLRACE_PLACE_ONNX_H
#include "base/str.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ONNX_FLOAT = 1, ONNX_INT32 = 6, ONNX_INT64 = 7, ONNX_BOOL = 9, ONNX_DOUBLE = 11 };   /* element types */
enum { ONNX_DIMS = 8 };

struct onnx_tensor {
    str name;
    int type, ndim;
    int64_t shape[ONNX_DIMS];                            /* of inputs: -1 where it is a name */
    uint64_t count;                                      /* elements; their bytes are there, unless external */
    str raw;                                             /* little-endian elements, or */
    str packed;                                          /* float_data or double_data, as raw; or varints */
    bool external;                                       /* values are in the file `location`, which onnx_read reads */
    str location;
    uint64_t offset, length;                             /* length 0: not said */
};

struct onnx_attr { str name, text; float f; int64_t i; int64_t *ints; size_t nint; const struct onnx_tensor *tensor; };
struct onnx_node { str op, name; str *in, *out; size_t nin, nout; struct onnx_attr *attr; size_t nattr; };

struct onnx {
    const char *file;
    char *bytes;
    size_t size;
    struct onnx_node *node;
    struct onnx_tensor *initialiser, *input;
    size_t nnode, ninitialiser, ninput, cap[3];
    str output;                                          /* the first */
    int64_t opset;                                       /* of ONNX's own operators; 0: not said */
    struct arena memory;
};

/* "-" is stdin; dies with the file's name on anything odd.  Values in files beside it (external data) are read, too;
 * locations that lead elsewhere are refused. */
struct onnx *onnx_read(const char *path);
struct onnx *onnx_parse(const char *name, char *bytes, size_t n);   /* takes the bytes, from malloc */
void onnx_free(struct onnx *);

const struct onnx_attr *onnx_attr(const struct onnx_node *, const char *name);   /* NULL: absent */
/* the i-th element as a number; floats, integers and booleans */
double onnx_number(const struct onnx *, const struct onnx_tensor *, uint64_t i);
/* all elements as f32 (floats, booleans) or i32 (integers) into `to`, count of them */
void onnx_values(const struct onnx *, const struct onnx_tensor *, void *to);
#endif
