/* page.h - one HTML page about a run, which needs nothing else: no network, no other file.
 *
 * The page is lib/prof/page.html with the data in place of @DATA@, as JSON in a script element that is not run: texts
 * of the input appear only as JSON strings in which < > & are escaped, the page puts them in place as text, never as
 * HTML, and its policy (Content-Security-Policy) forbids it to load anything. */
#ifndef MILLRACE_PAGE_H
#define MILLRACE_PAGE_H
#include "prof/events.h"

struct page {
    const char *title, *kind;                            /* kind: real, emulated .., or NULL */
    const char *cells, *top, *path, *pieces, *whatif;    /* tables as files, NULL: not there; see prof-page */
    size_t limit;                                        /* intervals drawn; the shortest are left out, and counted */
};
void page_write(const char *out, const struct page *, struct event_table *);   /* sorts the table; atomic */
#endif
