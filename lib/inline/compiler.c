/* compiler.c - see compiler.h */
#include "inline/compiler.h"
#include "base/num.h"
#include <stdio.h>
#include <string.h>

const char *const level_name[] = { "-O2", "-O3", "-Os", "-Oz" };
const char *const scope_name[] = { "program", "file", "lto" };

static const struct family {
    const char *name;
    struct compiler *(*find)(int version, const char **why);
} families[] = { { "clang", clang_find }, { "gcc", gcc_find } };

const struct compiler *compiler_find(const char *name, const char **why)
{
    static char sentence[128];
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        size_t n = strlen(families[i].name);
        int64_t version = 0;
        if (strncmp(name, families[i].name, n) != 0) continue;
        if (name[n] == 0) return families[i].find(0, why);
        if (name[n] == '-' && int_parse(name + n + 1, strlen(name + n + 1), &version) && version > 0 && version < 1000)
            return families[i].find((int)version, why);
    }
    snprintf(sentence, sizeof sentence, "no compiler is called '%.40s'; known: clang, clang-N, gcc, gcc-N", name);
    *why = sentence;
    return NULL;
}
