#include "adopt.h"
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct search { const char *library; const struct call *call; size_t ncall; int found; };

/* An entry may be read-only once it is bound.  The page stays writable: others on it may still be bound. */
static int put(void **at, void *value)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)at / page * page;
    size_t bytes = (uintptr_t)(at + 1) - first;
    if (mprotect((void *)first, bytes, PROT_READ | PROT_WRITE)) return 0;
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
    return 1;
}

static void scan(struct search *s, uintptr_t base, const ElfW(Rela) *rela, size_t bytes, const ElfW(Sym) *symbol,
                 const char *names)
{
    for (size_t i = 0; rela && i < bytes / sizeof *rela; i++) {
        unsigned kind = (unsigned)ELF64_R_TYPE(rela[i].r_info), which = (unsigned)ELF64_R_SYM(rela[i].r_info);
        if (!which || (kind != R_X86_64_JUMP_SLOT && kind != R_X86_64_GLOB_DAT)) continue;
        for (size_t k = 0; k < s->ncall; k++)
            if (!strcmp(names + symbol[which].st_name, s->call[k].name))
                s->found += put((void **)(base + rela[i].r_offset), s->call[k].to);
    }
}

static int visit(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    struct search *s = argument;
    const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;
    if (strncmp(name, s->library, strlen(s->library))) return 0;
    const ElfW(Dyn) *d = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) d = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    const ElfW(Rela) *jump = NULL, *other = NULL;
    const ElfW(Sym) *symbol = NULL;
    const char *names = NULL;
    size_t njump = 0, nother = 0;
    for (; d && d->d_tag != DT_NULL; d++) {
        const void *at = (const void *)d->d_un.d_ptr;    /* glibc has added the base */
        if (d->d_tag == DT_JMPREL) jump = at;
        if (d->d_tag == DT_PLTRELSZ) njump = d->d_un.d_val;
        if (d->d_tag == DT_RELA) other = at;
        if (d->d_tag == DT_RELASZ) nother = d->d_un.d_val;
        if (d->d_tag == DT_SYMTAB) symbol = at;
        if (d->d_tag == DT_STRTAB) names = at;
    }
    if (!symbol || !names) return 0;
    scan(s, info->dlpi_addr, jump, njump, symbol, names);
    scan(s, info->dlpi_addr, other, nother, symbol, names);
    return 1;
}

int adopt(const char *library, const struct call *call, size_t ncall)
{
    struct search s = { library, call, ncall, 0 };
    dl_iterate_phdr(visit, &s);
    return s.found;
}
