/* say.h - a comparison as a sentence, for a terminal. */
#ifndef MILLRACE_SAY_H
#define MILLRACE_SAY_H
#include "measure/compare.h"
#include <stdio.h>

/* "new is faster than old: it takes 9 % less cpu time (6 % less to 13 % less, 95 %; 20 rounds)" and a line end */
void comparison_say(FILE *, const struct runs *, const struct compare_options *, const struct comparison *);
#endif
