/* elf.c - fuzz target: bytes of code and of what is not written in an ELF file, which may be any user's program. */
#include "fuzz.h"
#include "measure/count.h"
#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void body(const uint8_t *data, size_t n)
{
    struct counts c = count_size(fuzz_path(0, data, n));
    if (c.why) return;
    fuzz_check(c.value[COUNT_CODE] >= 0 && c.value[COUNT_TEXT] >= 0, "less than nothing");
    fuzz_check(isnan(c.value[COUNT_INSTRUCTIONS]), "a count of what was not run");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_run(body, data, n);
    return 0;
}
