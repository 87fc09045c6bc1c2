/* layout.c - see layout.h.  lld 14, 16 and 19. */
#include "inline/layout.h"
#include "base/mem.h"
#include "base/message.h"
#include <stdio.h>
#include <unistd.h>

static long layouts;

void layouts_set(long n)
{
    layouts = n;
}

void layouts_keep_word(struct args *link, const char *exe)
{
    if (layouts) arg(link, xformat("-Wl,--lto-obj-path=%s.whole.o", exe));
}

const char *layouts_link(const struct args *link, char *const *libraries, const char *exe)
{
    const char *why = NULL;
    char *object = xformat("%s.whole.o", exe);
    for (long k = 1; k <= layouts && !why; k++) {
        struct args a = { 0 };
        args(&a, link->v);
        arg(&a, object);
        args(&a, libraries);
        arg(&a, "-Wl,--no-call-graph-profile-sort");
        arg(&a, xformat("-Wl,--shuffle-sections=.text*=%ld", k));
        arg(&a, "-o");
        arg(&a, xformat("%s.%ld", exe, k));
        why = tool_run(&a, NULL, NULL, NULL);
    }
    if (layouts) unlink(object);
    free_all(object);
    return why;
}
