/* What travels with a kernel, as a part of this library: the files of guest/, one behind the other, as they are in each
 * object and C text that is emitted. */
#include "loop/code/carry.h"

#include "loop/code/guest/neon.c"
#include "loop/code/guest/half.c"
#include "loop/code/guest/relayout.c"
#include "loop/code/guest/surround.c"
#include "loop/code/guest/weights.c"
#include "loop/code/guest/plain.c"
#include "loop/code/guest/maths.c"
#include "loop/code/guest/softmax.c"
#include "loop/code/guest/finish.c"
#include "loop/code/guest/cpu.c"
#include "loop/code/guest/run.c"
#include "loop/code/guest/part.c"
#include "loop/code/guest/many.c"
#include "loop/code/guest/judge.c"
#include "loop/code/guest/selftest.c"
