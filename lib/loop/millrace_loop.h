/* millrace_loop.h - fast kernels for small tensor contractions: a problem's text in, a function out.
 *
 *     millrace_kernel *mm = millrace_loop("(mm 128 256 512)", NULL, 24);
 *     if (!mm) fprintf(stderr, "%s\n", millrace_loop_error());
 *     else mm(c, a, b);               // c[128][256] = a[128][512] b[512][256], row-major and dense
 *
 * Problems: (mm M N K), (mm_nt ..), (mm_tn ..), (mm_tt ..), (bmm B M N K), (conv N C H W M KH KW S), (conv_nhwc ..),
 * (point I J), (reduce I J), (transp I J) and (nest (sizes (m 8) ..) (A m k) (B k n) (C m n)); `loop-gen --help` and
 * lib/loop/nest/nest.h say more.  Kernels need no alignment, may be called by any number of threads at once, and stay
 * for good; c must not overlap a or b.  They return 0, or 12 (ENOMEM) where there is no memory for what they pack.
 *
 * Any thread may call anything here.  A problem that is known is found without a lock, whatever other threads look
 * for; one that is not is waited for only by those that ask for the same.
 *
 * Link with `pkg-config --cflags --libs --static millrace-loop`. */
#ifndef MILLRACE_LOOP_H
#define MILLRACE_LOOP_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef int millrace_kernel(float *c, const float *a, const float *b);

/* The kernel of a problem; the same pointer when it is asked for again.  `measure` nests are run to choose one, 0: the
 * model chooses, in some milliseconds.  `cache`, if not NULL, is a CSV file of what was chosen before, which is not
 * measured again on the same machine; it grows.  NULL when that cannot be, see millrace_loop_error. */
millrace_kernel *millrace_loop(const char *problem, const char *cache, int measure);

/* The same for any elements that NAME of loop-emit takes without packing: (mm .. (type f64)) has doubles, (type f16)
 * and (type bf16) read uint16_t, (type e5m2) uint8_t, and write floats; floats are floats.  Convert the pointer to the
 * kernel's own type, such as int (*)(double *, const double *, const double *), or call it with these tensors as they
 * are. */
typedef int millrace_kernel_any(void *c, const void *a, const void *b);
millrace_kernel_any *millrace_loop_any(const char *problem, const char *cache, int measure);

/* Problems of all kinds, by a key that is prepared once: epilogues, attention, packed weights, all types.
 *
 *     millrace_problem *p = millrace_loop_prepare("(mm 128 256 512 (then bias gelu))");
 *     if (p && !millrace_loop_tune(p, NULL, 24)) ..;     // in a thread of its own; until it is done the model's choice
 *     millrace_call *f = millrace_loop_get(p);           // one load of a pointer, but for the first time
 *     if (f) f(c, a, b, bias, NULL);
 *
 * more: the bias, or V of attention; rest: the residual; NULL where the problem has none.  0, or 12 (ENOMEM). */
typedef struct millrace_problem millrace_problem;
typedef int millrace_call(void *c, const void *a, const void *b, const void *more, const void *rest);
millrace_problem *millrace_loop_prepare(const char *problem);      /* the same for the same; stays for good; or NULL */
millrace_call *millrace_loop_get(millrace_problem *);              /* the best there is by now; or NULL */
/* Measures so many nests, or takes what the cache knows, and has millrace_loop_get give the best of them from then on;
 * what it gave before goes on working.  0, or -1: weights were packed for the kernel that is in use, or no thread. */
int millrace_loop_tune(millrace_problem *, const char *cache, int measure);
void millrace_loop_wait(void);                                     /* until all tuning is done */

/* Where B stays ((weights packed), mm_bf16 ..) kernels take it as pack leaves it: so many elements, of B's type. */
typedef void millrace_pack(void *packed, const void *b);
millrace_pack *millrace_loop_pack(millrace_problem *);             /* or NULL: B is taken as it is */
int64_t millrace_loop_packed(millrace_problem *);                  /* 0 then */

/* one line on why the last call of these by this thread gave NULL; "" when it did not */
const char *millrace_loop_error(void);

#ifdef __cplusplus
}
#endif
#endif
