/* got.c - see got.h */
#include "prof/guest/got.h"
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined __x86_64__
struct wanted { const char *name, *function; uintptr_t holds, to; size_t found; };

struct loaded { const char *strings; const ElfW(Sym) *symbols; const ElfW(Rela) *plt; size_t plt_bytes; };

static struct loaded tables_of(const struct dl_phdr_info *info)
{
    struct loaded l = { 0 };
    const ElfW(Dyn) *d = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) d = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; d && d->d_tag != DT_NULL; d++) {
        uintptr_t at = d->d_un.d_ptr < info->dlpi_addr ? info->dlpi_addr + d->d_un.d_ptr : d->d_un.d_ptr;
        if (d->d_tag == DT_SYMTAB) l.symbols = (const void *)at;
        else if (d->d_tag == DT_STRTAB) l.strings = (const void *)at;
        else if (d->d_tag == DT_JMPREL) l.plt = (const void *)at;
        else if (d->d_tag == DT_PLTRELSZ) l.plt_bytes = d->d_un.d_val;
    }
    return l;
}

/* is the slot on a page that the loader has made read-only? */
static bool read_only(const struct dl_phdr_info *info, uintptr_t page, uintptr_t size)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + h->p_vaddr;
        if (h->p_type == PT_GNU_RELRO && page >= (from & ~(size - 1)) && page + size <= from + h->p_memsz) return true;
    }
    return false;
}

static bool has_address(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type == PT_LOAD && address - (info->dlpi_addr + h->p_vaddr) < h->p_memsz) return true;
    }
    return false;
}

static void point(const struct dl_phdr_info *info, uintptr_t *slot, uintptr_t to)
{
    uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE), page = (uintptr_t)slot & ~(size - 1);
    bool shut = read_only(info, page, size);
    if (shut && mprotect((void *)page, size, PROT_READ | PROT_WRITE) != 0) return;
    __atomic_store_n(slot, to, __ATOMIC_RELEASE);
    if (shut) mprotect((void *)page, size, PROT_READ);
}

static int each(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct wanted *w = arg;
    (void)size;
    if ((w->name && !strstr(info->dlpi_name, w->name)) || (w->holds && !has_address(info, w->holds))) return 0;
    struct loaded l = tables_of(info);
    if (!l.symbols || !l.strings || !l.plt) return 0;
    for (size_t i = 0; i < l.plt_bytes / sizeof *l.plt; i++) {
        const ElfW(Sym) *s = &l.symbols[ELF64_R_SYM(l.plt[i].r_info)];
        if (ELF64_R_TYPE(l.plt[i].r_info) != R_X86_64_JUMP_SLOT || strcmp(l.strings + s->st_name, w->function) != 0)
            continue;
        point(info, (uintptr_t *)(info->dlpi_addr + l.plt[i].r_offset), w->to);
        w->found++;
    }
    return 0;
}

size_t got_point(const char *name, uintptr_t holds, const char *function, uintptr_t to)
{
    struct wanted w = { name, function, holds, to, 0 };
    dl_iterate_phdr(each, &w);
    return w.found;
}
#else
size_t got_point(const char *name, uintptr_t holds, const char *function, uintptr_t to)
{
    (void)name;
    (void)holds;
    (void)function;
    (void)to;
    return 0;
}
#endif
