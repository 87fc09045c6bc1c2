/* limit.h - the fast memory a user asks for as a ratio. */
#ifndef MILLRACE_PLACE_LIMIT_H
#define MILLRACE_PLACE_LIMIT_H

/* "R:F", slow to fast memory, both not negative: fast over all, 0 to 1.  Wrong usage, with a message, otherwise. */
double fast_share(const char *ratio);
#endif
