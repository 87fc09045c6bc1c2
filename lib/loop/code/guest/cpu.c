/* What is here, memory, and which variant that runs. */
#ifdef __x86_64__
enum { MMAP = 9, MUNMAP = 11 };
static long system_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return number;
}

/* The system keeps the registers of AMX for a process that asks for leave (arch_prctl, ARCH_REQ_XCOMP_PERM, 18). */
static int tiles_allowed(void) { return system_call(158, 0x1023, 18, 0, 0, 0, 0) == 0; }

int carry_bits(const struct carry_words *w)
{
    int have = 0;
    if (!(w->c1 & bit_OSXSAVE) || !(w->c1 & bit_FMA) || !(w->c1 & bit_F16C) || (w->state & 6) != 6) return 0;
    if (w->b7 & bit_AVX2) have |= CARRY_AVX2;
    if ((w->state & 0xe6) != 0xe6 || !(w->b7 & bit_AVX512F) || !(w->b7 & bit_AVX512BW) || !(w->b7 & bit_AVX512VL))
        return have;
    have |= CARRY_AVX512;
    if (w->c7 & 1u << 11) have |= CARRY_AVX512VNNI;
    if (w->a71 & 1u << 5) have |= CARRY_AVX512BF16;
    if ((w->state & 0x60000) != 0x60000 || !(w->d7 & 1u << 24)) return have;     /* tiles and their shapes */
    return have | (w->d7 & 1u << 22 ? CARRY_AMX_BF16 : 0) | (w->d7 & 1u << 25 ? CARRY_AMX_INT8 : 0);
}

int carry_cpu(void)
{
    enum { TILES = CARRY_AMX_BF16 | CARRY_AMX_INT8 };
    struct carry_words w = { 0 };
    unsigned a, b, d, upper;
    if (!__get_cpuid_count(1, 0, &a, &b, &w.c1, &d) || !(w.c1 & bit_OSXSAVE)) return 0;
    __asm__("xgetbv" : "=a"(w.state), "=d"(upper) : "c"(0));
    if (!__get_cpuid_count(7, 0, &a, &w.b7, &w.c7, &w.d7)) return 0;
    if (a) __get_cpuid_count(7, 1, &w.a71, &b, &upper, &d);
    int have = carry_bits(&w);
    return have & TILES && !tiles_allowed() ? have & ~TILES : have;
}

#else
enum { MMAP = 222, MUNMAP = 215 };
static long system_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}
int carry_cpu(void) { return CARRY_AVX2; }               /* what is narrow, by NEON */
#endif

struct piece { int64_t bytes; char unused[56]; };        /* before scratch memory, so that that is aligned */

/* memory of calls that are over is kept for the next ones; a thread that finds none gets its own */
static struct piece *get_memory(struct carry_pool *pool, int64_t bytes)
{
    bytes += (int64_t)sizeof(struct piece);
    for (int i = 0; i < CARRY_KEPT && pool; i++) {
        struct piece *p = (struct piece *)__atomic_exchange_n(&pool->piece[i], (void *)0, __ATOMIC_ACQUIRE);
        if (p && p->bytes >= bytes) return p;
        if (p) system_call(MUNMAP, (long)p, p->bytes, 0, 0, 0, 0);
    }
    long at = system_call(MMAP, 0, bytes, 3, 0x22, -1, 0);  /* to be read and written, private and anonymous */
    if (at < 0 && at > -4096) return 0;
    ((struct piece *)at)->bytes = bytes;
    return (struct piece *)at;
}

static void put_memory(struct carry_pool *pool, struct piece *p)
{
    for (int i = 0; i < CARRY_KEPT; i++) {
        void *none = 0;
        if (__atomic_compare_exchange_n(&pool->piece[i], &none, (void *)p, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return;
    }
    system_call(MUNMAP, (long)p, p->bytes, 0, 0, 0, 0);
}

static int here(struct carry_state *s)
{
    int have = __atomic_load_n(&s->cpu, __ATOMIC_RELAXED);
    if (have) return have & ~(1 << 30);
    have = carry_cpu();
    __atomic_store_n(&s->cpu, have | 1 << 30, __ATOMIC_RELAXED);
    return have;
}

static const struct carry_variant *chosen(const struct carry_kernel *k, struct carry_state *s)
{
    int have = here(s);
    for (int i = 0; i < CARRY_VARIANTS; i++)
        if ((k->variant[i].code || k->variant[i].function) && (k->variant[i].need & have) == k->variant[i].need)
            return &k->variant[i];
    return 0;
}

/* whose packing B has: plain loops take any, and the first is always there */
static const struct carry_variant *layout(const struct carry_kernel *k, struct carry_state *s)
{
    const struct carry_variant *v = chosen(k, s);
    return v ? v : &k->variant[0];
}

int carry_level(const struct carry_kernel *k, struct carry_state *s)
{
    const struct carry_variant *v = chosen(k, s);
    return v ? v->need : 0;
}
