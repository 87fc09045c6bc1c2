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
char *fuzz_path(int slot, const void *data, size_t n);   /* the name of that file, which then holds these bytes */
/* For targets of several readers, named: the first byte says which one body takes; at the end it is told how many
 * inputs each was given and accepted. */
int fuzz_readers(const char *const *reader, int readers, void (*body)(const uint8_t *data, size_t n),
                 const uint8_t *data, size_t n);
void fuzz_check(int good, const char *what);             /* abort, so that the fuzzer keeps the input */
#endif
