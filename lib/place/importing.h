/* importing.h - what the operators of an ONNX file are imported with: names, constants, tensors and nodes of the graph.
 *
 * A name stands for a tensor of the graph, for an initialiser that nobody has used yet, or for numbers that are known
 * now.  Inputs are counted from 0; whatever does not fit ends the process with the node's name. */
#ifndef MILLRACE_PLACE_IMPORTING_H
#define MILLRACE_PLACE_IMPORTING_H
#include "base/mem.h"
#include "base/str.h"
#include "place/import.h"
#include "tensor/nd.h"
#include <regex.h>

enum { CONSTANTS = 64 };                                 /* elements of a computed constant, at most */
static const int64_t IMPORT_ELEMENTS = (int64_t)1 << 36;

/* What a name stands for: a tensor of the graph, an initialiser not used yet, or numbers known now. */
struct imported {
    enum { TENSOR, STORED, NUMBERS } kind;
    int tensor;
    const struct onnx_tensor *stored;
    int ndim;                                            /* of numbers */
    int64_t shape[ONNX_DIMS];
    double *number;
    size_t n;
    bool whole;                                          /* integers; of a tensor: only 0 and 1 are in it */
};

struct import {
    const struct onnx *o;
    struct graph *g;
    struct intern names;
    struct imported *value;
    bool *known;
    size_t cap, capknown;
    const struct onnx_node *node;
    char *label;                                         /* of the node, for messages */
    long batch;
    int kind;                                            /* the operator's, from its row */
    bool whole;                                          /* what the node computes of constants are integers */
    const regex_t *parameters;                           /* names of initialisers that are trained, too; or NULL */
    struct buf frozen;                                   /* initialisers of floats that become constants */
};

_Noreturn void im_refuse(const struct import *m, const char *why);
void im_define(struct import *m, str name, struct imported v);
bool im_given(const struct import *m, size_t i);
/* 0: empty or too large */
int64_t im_elements(const int64_t *shape, int n);
bool im_real(const struct onnx_tensor *t);
struct imported *im_input(struct import *m, size_t i);
/* a tensor of the graph for a value, made when it is needed */
int im_as_tensor(struct import *m, size_t i);
int im_floats(struct import *m, size_t i);               /* one of floats */
/* the numbers of a small constant; false when it is none */
bool im_numbers(struct import *m, size_t i, const double **p, size_t *n);
const double *im_want_numbers(struct import *m, size_t i, size_t *n);
/* dimensions of a constant */
int im_form(struct import *m, size_t i, const int64_t **shape);
/* is it one number, known now, of at most one dimension? */
bool im_scalar(struct import *m, size_t i, double *x);
const struct tensor *im_shape_of(const struct import *m, int t);
void im_result(struct import *m, size_t i, int tensor);
void im_result_truth(struct import *m, int tensor);      /* of 0 and 1 */
void im_result_numbers(struct import *m, const double *x, int ndim, const int64_t *shape);
void im_result_like(struct import *m, const double *x, size_t i);   /* numbers in the dimensions of input i */
int im_new_tensor(struct import *m, const char *dtype, int n, const int64_t *shape);
/* b: -1, one operand */
int im_node(struct import *m, const char *op, int a, int b, int y);
double im_attr_i(const struct import *m, const char *name, double missing);
double im_attr_f(const struct import *m, const char *name, double missing);
int64_t im_attr_ints(const struct import *m, const char *name, size_t i, int64_t missing);
int im_axis_of(const struct import *m, double axis, int n);
/* operators that make a tensor, and return it */
int im_unary(struct import *m, enum nd_unary kind, double a, double b, int x);
int im_reshaped(struct import *m, int x, int n, const int64_t *shape);
int im_binary_of(struct import *m, int kind, int a, int b);
int im_transposed(struct import *m, int x, const int *from);
int im_reduced(struct import *m, int x, int axes, bool mean);   /* over the axes (bits), which stay as 1 */
int im_product(struct import *m, int a, int b, bool tb);

struct import_op { const char *op; void (*make)(struct import *); int kind; };   /* kind: as in struct import */
extern const struct import_op import_more[];             /* ends with NULL */
#endif
