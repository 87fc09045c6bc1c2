/* millrace_loop.h - fast kernels for small tensor contractions: a problem's text in, a function out.
 *
 *     millrace_kernel *mm = millrace_loop("(mm 128 256 512)", NULL, 24);
 *     if (!mm) fprintf(stderr, "%s\n", millrace_loop_error());
 *     else mm(c, a, b);               // c[128][256] = a[128][512] b[512][256], row-major and dense
 *
 * Problems: (mm M N K), (mm_nt ..), (mm_tn ..), (mm_tt ..), (bmm B M N K), (conv N C H W M KH KW S), (conv_nhwc ..),
 * (point I J), (reduce I J), (transp I J) and (nest (sizes (m 8) ..) (A m k) (B k n) (C m n)); `loop-gen --help` and
 * lib/loop/nest/nest.h say more.  Kernels need no alignment, may be called by any number of threads at once, and stay
 * for good; c must not overlap a or b.
 *
 * Link with `pkg-config --cflags --libs --static millrace-loop`. */
#ifndef MILLRACE_LOOP_H
#define MILLRACE_LOOP_H
#ifdef __cplusplus
extern "C" {
#endif

typedef void millrace_kernel(float *c, const float *a, const float *b);

/* The kernel of a problem; the same pointer when it is asked for again.  `measure` nests are run to choose one, 0: the
 * model chooses, in some milliseconds.  `cache`, if not NULL, is a CSV file of what was chosen before, which is not
 * measured again on the same machine; it grows.  NULL when that cannot be, see millrace_loop_error.  Any thread may
 * call it; calls wait for each other. */
millrace_kernel *millrace_loop(const char *problem, const char *cache, int measure);

/* The same for any elements that NAME of loop-emit takes without packing: (mm .. (type f64)) has doubles, (type f16)
 * and (type bf16) read uint16_t and write floats, floats are floats.  Convert the pointer to the kernel's own type,
 * such as void (*)(double *, const double *, const double *), or call it with these tensors as they are. */
typedef void millrace_kernel_any(void *c, const void *a, const void *b);
millrace_kernel_any *millrace_loop_any(const char *problem, const char *cache, int measure);

/* one line on why the last call of these by this thread gave NULL; "" when it did not */
const char *millrace_loop_error(void);

#ifdef __cplusplus
}
#endif
#endif
