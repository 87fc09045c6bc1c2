/* calls.c - LD_PRELOAD library that records calls of C functions across shared objects, in any program (x86-64 ELF).
 *
 * MILLRACE_PROF_CALLS holds patterns "NAME[=CATEGORY],..." with * and ?.  In every loaded object the slots of the
 * global offset table that lead to a matching function are pointed to a stub of ours, so neither headers nor signatures
 * are needed.  The stub saves the registers in which arguments travel, records the call, puts its own return address in
 * place of the caller's, and jumps to the function; on the way back the return is recorded and the true address
 * restored from a stack of our own. Objects loaded later are treated when dlopen returns.  Not seen: calls within an
 * object, calls through pointers from dlsym (ctypes has its own hook), static libraries.  Functions that throw C++
 * exceptions or take 256-bit vectors by value must not be named; longjmp is noticed.  About 30 ns a call. */
#include "prof/record/rec.h"
#include <dlfcn.h>
#include <elf.h>
#include <fnmatch.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATTERNS = 64, FUNCTIONS = 4096, STUB = 16, DEPTH = 512 };

struct pattern { char name[128], category[32]; };
struct function { const char *name; void *real, *stub; uint32_t id; };
struct frame { uintptr_t *slot, address; uint32_t id; };

static struct pattern pattern[PATTERNS];
static struct function function[FUNCTIONS];
static int npattern, nfunction;
static unsigned char *stubs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread struct frame stack[DEPTH] __attribute__((tls_model("initial-exec")));
static __thread int depth __attribute__((tls_model("initial-exec")));
static __thread bool inside __attribute__((tls_model("initial-exec")));

void *millrace_call_enter(uint64_t index, uintptr_t *slot);
uintptr_t millrace_call_leave(void);
void millrace_call_stub(void) __attribute__((visibility("hidden")));
void millrace_call_return(void) __attribute__((visibility("hidden")));

__asm__(
    ".text\n"
    ".globl millrace_call_stub\n.hidden millrace_call_stub\n.type millrace_call_stub, @function\n"
    /* [rsp] index, [rsp + 8] return address; rsp is 16-byte aligned */
    "millrace_call_stub:\n"
    "  subq $208, %rsp\n"
    "  movq %rax, 0(%rsp)\n  movq %rdi, 8(%rsp)\n  movq %rsi, 16(%rsp)\n  movq %rdx, 24(%rsp)\n"
    "  movq %rcx, 32(%rsp)\n  movq %r8, 40(%rsp)\n  movq %r9, 48(%rsp)\n  movq %r10, 56(%rsp)\n"
    "  movups %xmm0, 64(%rsp)\n  movups %xmm1, 80(%rsp)\n  movups %xmm2, 96(%rsp)\n  movups %xmm3, 112(%rsp)\n"
    "  movups %xmm4, 128(%rsp)\n  movups %xmm5, 144(%rsp)\n  movups %xmm6, 160(%rsp)\n  movups %xmm7, 176(%rsp)\n"
    "  movq 208(%rsp), %rdi\n"
    "  leaq 216(%rsp), %rsi\n"
    "  call millrace_call_enter@PLT\n"
    "  movq %rax, %r11\n"
    "  movq 0(%rsp), %rax\n  movq 8(%rsp), %rdi\n  movq 16(%rsp), %rsi\n  movq 24(%rsp), %rdx\n"
    "  movq 32(%rsp), %rcx\n  movq 40(%rsp), %r8\n  movq 48(%rsp), %r9\n  movq 56(%rsp), %r10\n"
    "  movups 64(%rsp), %xmm0\n  movups 80(%rsp), %xmm1\n  movups 96(%rsp), %xmm2\n  movups 112(%rsp), %xmm3\n"
    "  movups 128(%rsp), %xmm4\n  movups 144(%rsp), %xmm5\n  movups 160(%rsp), %xmm6\n  movups 176(%rsp), %xmm7\n"
    "  addq $216, %rsp\n"                                /* the index too: the stack is as the caller left it */
    "  jmp *%r11\n"
    ".globl millrace_call_return\n.hidden millrace_call_return\n.type millrace_call_return, @function\n"
    /* the function has returned to us; its return address is gone */
    "millrace_call_return:\n"
    /* one word for the true address; 16-byte aligned again with the call's */
    "  subq $56, %rsp\n"
    "  movq %rax, 0(%rsp)\n  movq %rdx, 8(%rsp)\n  movups %xmm0, 16(%rsp)\n  movups %xmm1, 32(%rsp)\n"
    "  subq $8, %rsp\n"
    "  call millrace_call_leave@PLT\n"
    "  addq $8, %rsp\n"
    "  movq %rax, 48(%rsp)\n"
    "  movq 0(%rsp), %rax\n  movq 8(%rsp), %rdx\n  movups 16(%rsp), %xmm0\n  movups 32(%rsp), %xmm1\n"
    "  addq $48, %rsp\n"
    "  ret\n");

void *millrace_call_enter(uint64_t index, uintptr_t *slot)
{
    const struct function *f = &function[index];
    if (!rec_on || inside) return f->real;
    while (depth && stack[depth - 1].slot <= slot)       /* frames that longjmp left behind */
        rec_put(LOG_EXCEPTION, stack[--depth].id, HOOK_PRELOAD);
    if (depth == DEPTH) return f->real;
    stack[depth++] = (struct frame){ slot, *slot, f->id };
    void (*back)(void) = millrace_call_return;
    memcpy(slot, &back, sizeof back);
    inside = true;
    rec_put(LOG_CALL, f->id, HOOK_PRELOAD);
    inside = false;
    return f->real;
}

uintptr_t millrace_call_leave(void)
{
    uint64_t t = rec_now();
    struct frame f = stack[--depth];
    if (rec_on) {
        inside = true;
        rec_put_at(LOG_RETURN, f.id, HOOK_PRELOAD, t);
        inside = false;
    }
    return f.address;
}

/* push index; jmp *[rip + 0]; the address of millrace_call_stub lies once, behind all stubs */
static void *make_stub(int index)
{
    unsigned char *p = stubs + index * STUB;
    int32_t to_address = (int32_t)((FUNCTIONS - index) * STUB - 11);
    p[0] = 0x68;
    memcpy(p + 1, &index, 4);
    p[5] = 0xff;
    p[6] = 0x25;
    memcpy(p + 7, &to_address, 4);
    return p;
}

static const struct pattern *match(const char *name)
{
    for (int i = 0; i < npattern; i++) if (fnmatch(pattern[i].name, name, 0) == 0) return &pattern[i];
    return NULL;
}

static const struct function *function_for(const char *name, const struct pattern *p)
{
    for (int i = 0; i < nfunction; i++) if (strcmp(function[i].name, name) == 0) return &function[i];
    void *real = nfunction < FUNCTIONS ? dlsym(RTLD_DEFAULT, name) : NULL;
    if (!real) return NULL;
    Dl_info where;
    const char *file = dladdr(real, &where) && where.dli_fname ? where.dli_fname : "", *base = strrchr(file, '/');
    struct function *f = &function[nfunction];
    *f = (struct function){ .name = strdup(name), .real = real, .stub = make_stub(nfunction),
                            .id = rec_name("c", p->category, base ? base + 1 : file, name) };
    nfunction++;
    return f;
}

static void point_slot(uintptr_t *slot, void *to)
{
    uintptr_t page = (uintptr_t)slot & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);
    uintptr_t value;
    memcpy(&value, &to, sizeof value);
    if (*slot == value) return;
    if (mprotect((void *)page, 2 * (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE) != 0
        && mprotect((void *)page, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE) != 0) return;
    __atomic_store_n(slot, value, __ATOMIC_RELEASE);
}

static void patch_relocations(ElfW(Addr) base, const ElfW(Rela) * r, size_t bytes, const ElfW(Sym) * symbols,
                              const char *strings)
{
    for (size_t i = 0; i < bytes / sizeof *r; i++) {
        unsigned type = ELF64_R_TYPE(r[i].r_info);
        const ElfW(Sym) *s = &symbols[ELF64_R_SYM(r[i].r_info)];
        bool slot = type == R_X86_64_JUMP_SLOT ||
                    (type == R_X86_64_GLOB_DAT &&
                     (ELF64_ST_TYPE(s->st_info) == STT_FUNC || ELF64_ST_TYPE(s->st_info) == STT_GNU_IFUNC));
        if (!slot) continue;
        const char *name = strings + s->st_name;
        const struct pattern *p = match(name);
        const struct function *f = p ? function_for(name, p) : NULL;
        if (f) point_slot((uintptr_t *)(base + r[i].r_offset), f->stub);
    }
}

static int patch_object(struct dl_phdr_info *info, size_t size, void *ours)
{
    const ElfW(Dyn) *d = NULL;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + h->p_vaddr;
        if (h->p_type == PT_LOAD && (uintptr_t)ours >= start && (uintptr_t)ours < start + h->p_memsz) return 0;
        if (h->p_type == PT_DYNAMIC) d = (const void *)start;
    }
    if (!d || strstr(info->dlpi_name, "linux-vdso") || strstr(info->dlpi_name, "/ld-linux")) return 0;
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL;
    const ElfW(Rela) *plt = NULL, *rela = NULL;
    size_t plt_bytes = 0, rela_bytes = 0;
    for (; d->d_tag != DT_NULL; d++) {
        uintptr_t at = d->d_un.d_ptr < info->dlpi_addr ? info->dlpi_addr + d->d_un.d_ptr : d->d_un.d_ptr;
        if (d->d_tag == DT_SYMTAB) symbols = (const void *)at;
        else if (d->d_tag == DT_STRTAB) strings = (const void *)at;
        else if (d->d_tag == DT_JMPREL) plt = (const void *)at;
        else if (d->d_tag == DT_RELA) rela = (const void *)at;
        else if (d->d_tag == DT_PLTRELSZ) plt_bytes = d->d_un.d_val;
        else if (d->d_tag == DT_RELASZ) rela_bytes = d->d_un.d_val;
    }
    if (!symbols || !strings) return 0;
    if (plt) patch_relocations(info->dlpi_addr, plt, plt_bytes, symbols, strings);
    if (rela) patch_relocations(info->dlpi_addr, rela, rela_bytes, symbols, strings);
    return 0;
}

static void patch_all(void)
{
    if (!stubs || inside) return;
    pthread_mutex_lock(&lock);
    inside = true;
    dl_iterate_phdr(patch_object, (void *)(uintptr_t)&patch_all);
    inside = false;
    pthread_mutex_unlock(&lock);
}

void *dlopen(const char *path, int flags)
{
    static void *(*real)(const char *, int);
    if (!real) {
        void *p = dlsym(RTLD_NEXT, "dlopen");
        memcpy(&real, &p, sizeof real);
    }
    void *h = real(path, flags);
    if (h) patch_all();
    return h;
}

static void read_patterns(const char *s)
{
    while (*s && npattern < PATTERNS) {
        size_t n = strcspn(s, ","), name = strcspn(s, ",=");
        struct pattern *p = &pattern[npattern++];
        snprintf(p->name, sizeof p->name, "%.*s", (int)name, s);
        snprintf(p->category, sizeof p->category, "%.*s", name < n ? (int)(n - name - 1) : 7,
                 name < n ? s + name + 1 : "Backend");
        s += n + (s[n] == ',');
    }
}

__attribute__((constructor)) static void begin(void)
{
    const char *calls = getenv("MILLRACE_PROF_CALLS"), *dir = getenv("MILLRACE_PROF_DIR");
    if (!calls || !dir || !rec_start(dir)) return;
    void (*common)(void) = millrace_call_stub;
    read_patterns(calls);
    size_t bytes = (FUNCTIONS + 1) * STUB;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        fprintf(stderr, "millrace recorder: no executable memory, C calls are not recorded\n");
        return;
    }
    stubs = p;
    memcpy(stubs + FUNCTIONS * STUB, &common, sizeof common);
    rec_put(LOG_ON, 0, HOOK_NONE);
    patch_all();
}
