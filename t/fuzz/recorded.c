/* recorded.c - fuzz target: the record of a build out of any bytes, as an ELF file's sections and as a
 * compile_commands.json; the first byte says which.  What is accepted has a unit, each with all its words. */
#include "fuzz.h"
#include "inline/recorded.h"
#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void body(const uint8_t *data, size_t n)
{
    char path[64];
    struct recorded r;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fuzz_file(data + 1, n - 1));
    if (data[0] & 1) recorded_of_commands(&r, path);
    else recorded_of_build(&r, path, NULL);
    fuzz_check(r.n > 0 && r.libraries, "accepted with nothing in it");
    size_t bytes = 0;
    for (size_t i = 0; i < r.n; i++) {
        bytes += strlen(r.unit[i].directory) + strlen(r.unit[i].source);
        for (char **f = r.unit[i].flags; *f; f++) bytes += strlen(*f);
    }
    for (char **f = r.libraries; *f; f++) bytes += strlen(*f);
    fuzz_check(bytes < (n + 64) * (n + 64), "more words than were given");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n) fuzz_run(body, data, n);
    return 0;
}
