/* hide.c - see hide.h */
#include "prof/guest/hide.h"
#include "prof/guest/got.h"
#include <execinfo.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#if defined __x86_64__

static uintptr_t own_from, own_to;

static int backtrace_of_others(void **to, int size)
{
    enum { MOST = 64 };
    void *all[MOST];
    int n = backtrace(all, MOST), kept = 0;
    for (int i = 0; i < n && kept < size; i++) {
        uintptr_t at = (uintptr_t)all[i];
        if (at < own_from || at >= own_to) to[kept++] = all[i];
    }
    return kept;
}

static int find_own(struct dl_phdr_info *info, size_t size, void *unused)
{
    uintptr_t from = UINTPTR_MAX, to = 0, here;
    int (*ours)(void **, int) = backtrace_of_others;
    (void)size;
    (void)unused;
    memcpy(&here, &ours, sizeof here);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + h->p_vaddr;
        if (h->p_type != PT_LOAD) continue;
        if (start < from) from = start;
        if (start + h->p_memsz > to) to = start + h->p_memsz;
    }
    if (here < from || here >= to) return 0;
    own_from = from;
    own_to = to;
    return 1;
}

void hide_from_numpy(void)
{
    if (!own_to) dl_iterate_phdr(find_own, NULL);
    int (*ours)(void **, int) = backtrace_of_others;
    got_point("_multiarray_umath", 0, "backtrace", (uintptr_t)ours);
}

#else
void hide_from_numpy(void) { }
#endif
