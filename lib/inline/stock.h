/* stock.h - the builds that an expert would try instead: levels, link-time optimisation, profiles, by clang and gcc.
 *
 * Each is what the compiler does when it is asked in the ordinary way, nothing of ours in it; profiles are of the runs
 * that are searched on, never of those that confirm.  pgo is the compiler's own kind (clang: -fprofile-generate). */
#ifndef MILLRACE_STOCK_H
#define MILLRACE_STOCK_H
#include "inline/work.h"

#define STOCK_WORDS                                                                                                    \
    "O2|O3|Os|Oz|thinlto|lto|pgo|lto-pgo|lto-O3|lto-pgo-O3|lto-pgo-size|gcc-O2|gcc-O3|gcc-lto|gcc-pgo|gcc-lto-pgo|bolt"

/* Build one of STOCK_WORDS to `exe`; beside it EXE.stock stays: objects, profile and, of clang's, flags, with which
 * one's own build makes the same (clang @EXE.stock/flags), and make.args, words for make that say so.  bolt is lto-pgo,
 * laid out anew after instrumented runs (needs llvm-bolt).  NULL or a sentence, such as which package is missing. */
const char *stock_build(const struct work *, const char *row, const char *exe);
#endif
