/* kernels.h - the arithmetic of a training step, one variant per instruction set, chosen at run time by cpuid.
 *
 * Activations are single precision in blocks of 16 channels, [image][channel/16][row][column][16] (nChw16c, the layout
 * of oneDNN); only the image itself, with fewer than 16 channels, is plain [image][channel][row][column].  Convolution
 * weights are [out/16][in/16][kh][kw][16 in][16 out], those of the first layer [out/16][kh][kw][in][16 out], and stay
 * so: nothing is reordered between steps.  Pointers to blocked data are 64-byte aligned.
 *
 * Every function does the share `part` of `parts` of its work, so that a team of threads calls it once each.  All
 * sums have one fixed order that depends on neither parts nor the split into calls by image, row or block, so results
 * are equal to the last bit however the work is cut.
 *
 * Method: direct convolution with register tiles, as in Georganas et al., "Anatomy of high-performance deep learning
 * convolutions on SIMD architectures" (SC18); the code is our own. */
#ifndef MILLRACE_PLACE_KERNELS_H
#define MILLRACE_PLACE_KERNELS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BLOCK = 16 };                                     /* channels side by side in memory */

struct conv {                                            /* one image of a convolution; padding is symmetric */
    int ic, ih, iw, oc, oh, ow, kh, kw, stride, ph, pw;
    bool relu;                                           /* forward: clamp the result at 0 */
};

struct pool { int ih, iw, oh, ow, kh, kw, stride, ph, pw; };   /* one plane of 16 channels */

struct kernels {
    const char *name;                                    /* avx512, avx2, vector */

    /* One image.  y rows row0..row1-1 are computed; x and y point at row 0, a block of 16 channels apart is xplane or
     * yplane floats, so a band of rows held elsewhere works with a shifted pointer.  scratch: conv_scratch() floats
     * for each part.  data_grad: dx rows row0..row1-1.  weights_grad: adds the share of these rows to dw and db, or
     * sets them when !add; rows must come in order. */
    void (*conv_forward)(const struct conv *, const float *x, size_t xplane, const float *w, const float *bias,
                         float *y, size_t yplane, int row0, int row1, float *scratch, int part, int parts);
    void (*conv_data_grad)(const struct conv *, const float *w, const float *dy, size_t yplane,
                           float *dx, size_t xplane, int row0, int row1, float *scratch, int part, int parts);
    void (*conv_weights_grad)(const struct conv *, const float *x, size_t xplane, const float *dy, size_t yplane,
                              float *dw, float *db, bool add, int row0, int row1, float *scratch, int part, int parts);

    /* nb blocks of 16 channels of n images; a block is hw pixels; x[i], y[i]: where image i's blocks begin */
    void (*batchnorm)(const float *gamma, const float *beta, float *const *x, float *const *y, float *mean, float *var,
                      int n, int nb, size_t hw, bool relu, int part, int parts);
    void (*batchnorm_grad)(const float *gamma, float *const *x, const float *mean, const float *var, float *const *dz,
                           float *const *dx, float *dgamma, float *dbeta, int n, int nb, size_t hw, int part,
                           int parts);

    /* planes of 16 channels, one after the other; index: which of the kh*kw window places held the (first) maximum */
    void (*maxpool)(const struct pool *, const float *x, float *y, int32_t *index, size_t planes, int part, int parts);
    /* y: NULL, or the pool's output; dy counts where y > 0, and nowhere where index is no place of the window */
    void (*maxpool_grad)(const struct pool *, const float *y, const float *dy, const int32_t *index,
                         float *dx, size_t planes, int part, int parts);
    void (*avgpool)(const struct pool *, const float *x, float *y, size_t planes, int part, int parts);
    void (*avgpool_grad)(const struct pool *, const float *dy, float *dx, size_t planes, int part, int parts);

    /* flat */
    void (*relu)(const float *x, float *y, size_t n, int part, int parts);
    void (*relu_grad)(const float *y, const float *dy, float *dx, size_t n, int part, int parts);   /* dy where y > 0 */
    void (*add)(const float *a, const float *b, float *y, size_t n, int part, int parts);

    /* dense, few images (n at most DENSE_FEW): rows row0..row1-1 of w[rows][k], w and dw pointing at row0; x[n][k],
     * y and dy[n][rows].
     * data_grad adds the rows' share to dx, or sets it when !add; weights_grad adds w (in dw's place, or where it is;
     * NULL: nothing) to what it writes. */
    void (*dense)(const float *w, const float *x, const float *bias, float *y, int n, size_t rows, size_t k,
                  size_t row0, size_t row1, int part, int parts);
    void (*dense_data_grad)(const float *w, const float *dy, float *dx, int n, size_t rows, size_t k,
                            size_t row0, size_t row1, bool add, int part, int parts);
    void (*dense_weights_grad)(const float *dy, const float *x, const float *w, float *dw, int n, size_t rows,
                               size_t k, size_t row0, size_t row1, int part, int parts);
};

enum { DENSE_FEW = 8 };

/* The best variant this machine runs, or the one called `name`; NULL if there is none such here. */
const struct kernels *kernels_for(const char *name);
enum { CONV_TURNED = 256 << 10 };                        /* floats of weights transposed at once, if a group fits */
size_t conv_scratch(const struct conv *);                /* floats, a multiple of 16, enough for all three directions */
#endif
