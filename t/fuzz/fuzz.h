/* fuzz.h - what a fuzz target needs to call code that ends the process on bad input; see README.md. */
#ifndef MILLRACE_FUZZ_H
#define MILLRACE_FUZZ_H
#include <stddef.h>
#include <stdint.h>

/* Run body(data, n); when it dies or calls exit, come back all the same.  What it allocated and the descriptors it
 * opened are released.  True when body returned by itself. */
int fuzz_run(void (*body)(const uint8_t *data, size_t n), const uint8_t *data, size_t n);

int fuzz_file(const uint8_t *data, size_t n);            /* a descriptor that reads these bytes */
/* an empty temporary file; the same for the same slot, 0 to 7 */
int fuzz_reuse(int slot);
void fuzz_check(int good, const char *what);             /* abort, so that the fuzzer keeps the input */
#endif
