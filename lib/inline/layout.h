/* layout.h - one program's code in several layouts: the same functions, compiled once, in other places.
 *
 * Where code lies changes its time by as much as decisions do (Mytkowicz, Diwan, Hauswirth, Sweeney, "Producing wrong
 * data without doing anything obviously wrong!", 2009), so one pair of executables cannot say whether a decision or a
 * place was better.  Here the linker (lld) leaves the object that link-time optimisation made and links it again with
 * its functions in an order drawn from each seed; without its own order by the profile, which would leave the hot ones
 * where they are. */
#ifndef MILLRACE_LAYOUT_H
#define MILLRACE_LAYOUT_H
#include "inline/tool.h"

void layouts_set(long n);                                /* from now on, that many beside each executable; 0: none */
/* The word that has the link of `exe` leave its object, when layouts are wanted. */
void layouts_keep_word(struct args *link, const char *exe);
/* After it: EXE.1 .. EXE.N, linked by `link`: the words without objects, the libraries and -o.  Removes the object.
 * NULL or a sentence. */
const char *layouts_link(const struct args *link, char *const *libraries, const char *exe);
#endif
