/* inline-cc - compile for any build, and remember how each object was made
 *
 * Usage: inline-cc [--c++] COMPILER-ARGUMENT...
 *        CC=inline-cc CXX='inline-cc --c++' make
 *
 * Passes its arguments to clang (INLINE_CC and INLINE_CXX in the environment
 * name another; without a clang, cc and c++) and ends with its status.  Every
 * object gets a line in a section of its own, which is not loaded: directory,
 * source and flags of its compilation.  The section goes where the object
 * goes, through archives into the program, so the program tells which
 * compilations it consists of, in the order of its link, and with which
 * libraries; inline-module --from-build reads it.  Works under make, cmake,
 * meson and autoconf, through libtool and any ar.  Build without -s and strip,
 * and without shared libraries of your own (--disable-shared), whose code would
 * not be in the program.  A build never fails because of the record.
 *
 * --help and -h given alone are for inline-cc, --version is for both, all else
 * for the compiler.
 *
 * Examples:
 *   $ CC=inline-cc ./configure --disable-shared && make
 *   $ inline-module --lto --from-build=. --program=jq --out=w runs
 */
#include "base/filter.h"
#include "base/message.h"
#include "inline/llvm.h"
#include "inline/wrap.h"
#include "measure/count.h"
#include HELP
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct opt options[] = { { 0 } };

static const char *compiler(bool cxx)
{
    const char *given = getenv(cxx ? "INLINE_CXX" : "INLINE_CC"), *why;
    if (given && *given) return given;
    const struct llvm *l = llvm_find(0, &why);
    char *found = l ? cxx ? program_path(xformat("clang++-%d", l->version)) : l->clang : NULL;
    return found ? found : cxx ? "c++" : "cc";
}

int main(int argc, char **argv)
{
    static const char *const ours[] = { "--help", "-h", "--_options", "--_words" };
    for (size_t i = 0; argc == 2 && i < sizeof ours / sizeof *ours; i++) {
        if (strcmp(argv[1], ours[i]) == 0) filter_init(argc, argv, help, options);
    }
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {        /* and the compiler's: builds look for its name */
        pid_t pid = fork();
        if (pid < 0) die_errno("fork");
        if (pid == 0) filter_init(argc, argv, help, options);
        waitpid(pid, NULL, 0);
    }
    prog = "inline-cc";
    bool cxx = argc > 1 && strcmp(argv[1], "--c++") == 0;
    return wrap_run(compiler(cxx), argv + 1 + cxx);
}
