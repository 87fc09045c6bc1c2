/* ranges.c - see ranges.h */
#include "prof/guest/ranges.h"
#include "base/compare.h"
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

enum { RANGES = 4096 };
static struct code_range range[RANGES];
static int nrange;

static int each_object(struct dl_phdr_info *o, size_t size, void *unused)
{
    const char *base = strrchr(o->dlpi_name, '/'), *name = base ? base + 1 : o->dlpi_name;
    static const char *const libc[] = { "libc.", "libm.", "ld-", "linux-vdso", "libpthread", "_millrace",
                                        "libmillrace" };
    (void)size;
    (void)unused;
    for (int i = 0; i < o->dlpi_phnum && nrange < RANGES; i++) {
        if (o->dlpi_phdr[i].p_type != PT_LOAD || !(o->dlpi_phdr[i].p_flags & PF_X)) continue;
        struct code_range *r = &range[nrange++];
        r->from = o->dlpi_addr + o->dlpi_phdr[i].p_vaddr;
        r->to = r->from + o->dlpi_phdr[i].p_memsz;
        r->kind = *o->dlpi_name ? EXTENSION : INTERPRETER;
        for (size_t k = 0; k < sizeof libc / sizeof *libc; k++)
            if (strncmp(name, libc[k], strlen(libc[k])) == 0) r->kind = LIBC;
        r->standard = strstr(o->dlpi_name, "/lib-dynload/") != NULL;
        snprintf(r->name, sizeof r->name, "%s", *name ? name : "python");
    }
    return 0;
}

static int by_from(const void *a, const void *b)
{
    const struct code_range *x = a, *y = b;
    return ORDER(x->from, y->from);
}

const struct code_range *ranges_at(uintptr_t a)
{
    int low = 0, high = nrange;
    while (low < high) {
        int middle = (low + high) / 2;
        if (range[middle].to <= a) low = middle + 1;
        else high = middle;
    }
    return low < nrange && a >= range[low].from ? &range[low] : NULL;
}

void ranges_find(void)
{
    nrange = 0;
    dl_iterate_phdr(each_object, NULL);
    qsort(range, (size_t)nrange, sizeof *range, by_from);
    uintptr_t inside = (uintptr_t)dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");   /* libpython, if it is shared */
    const struct code_range *home = ranges_at(inside);
    for (int i = 0; home && i < nrange; i++) if (strcmp(range[i].name, home->name) == 0) range[i].kind = INTERPRETER;
}

int ranges_kind(const void *p)
{
    const struct code_range *r = ranges_at((uintptr_t)p);
    return r ? r->kind : UNKNOWN;
}

static int count_objects(struct dl_phdr_info *info, size_t size, void *to)
{
    if (size >= offsetof(struct dl_phdr_info, dlpi_subs)) *(unsigned long long *)to = info->dlpi_adds;
    return 1;
}

unsigned long long ranges_objects(void)
{
    unsigned long long n = 0;
    dl_iterate_phdr(count_objects, &n);
    return n;
}
