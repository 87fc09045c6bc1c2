/* worker.c - see worker.h.  The C API of LLVM 14 to 19; prototypes are ours, so that no header of LLVM is needed. */
#include "inline/worker.h"
#include "base/message.h"
#include "base/out.h"
#include "inline/tool.h"
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined __aarch64__
#define TARGET "AArch64"
#else
#define TARGET "X86"
#endif

/* a result, a name, parameters; every handle of LLVM is an opaque pointer */
#define API(X)                                                                                                         \
    X(void *, LLVMContextCreate, (void))                                                                               \
    X(void, LLVMContextDispose, (void *))                                                                              \
    X(void, LLVMDisposeModule, (void *))                                                                               \
    X(int, LLVMCreateMemoryBufferWithContentsOfFile, (const char *, void **, char **))                                 \
    X(int, LLVMParseBitcodeInContext2, (void *, void *, void **))                                                      \
    X(void *, LLVMGetFirstFunction, (void *))                                                                          \
    X(void *, LLVMGetNextFunction, (void *))                                                                           \
    X(int, LLVMIsDeclaration, (void *))                                                                                \
    X(const char *, LLVMGetValueName2, (void *, size_t *))                                                             \
    X(void, LLVMSetValueName2, (void *, const char *, size_t))                                                         \
    X(int, LLVMGetLinkage, (void *))                                                                                   \
    X(void, LLVMSetLinkage, (void *, int))                                                                             \
    X(void *, LLVMGetFirstBasicBlock, (void *))                                                                        \
    X(void *, LLVMGetNextBasicBlock, (void *))                                                                         \
    X(void *, LLVMGetFirstInstruction, (void *))                                                                       \
    X(void *, LLVMGetNextInstruction, (void *))                                                                        \
    X(int, LLVMGetInstructionOpcode, (void *))                                                                         \
    X(void *, LLVMGetCalledValue, (void *))                                                                            \
    X(void *, LLVMIsAFunction, (void *))                                                                               \
    X(void *, LLVMIsACallInst, (void *))                                                                               \
    X(void *, LLVMIsAInvokeInst, (void *))                                                                             \
    X(void *, LLVMIsAConstant, (void *))                                                                               \
    X(void *, LLVMGetFirstUse, (void *))                                                                               \
    X(void *, LLVMGetNextUse, (void *))                                                                                \
    X(void *, LLVMGetUser, (void *))                                                                                   \
    X(unsigned, LLVMGetNumArgOperands, (void *))                                                                       \
    X(void *, LLVMGetOperand, (void *, unsigned))                                                                      \
    X(unsigned, LLVMGetEnumAttributeKindForName, (const char *, size_t))                                               \
    X(void *, LLVMCreateEnumAttribute, (void *, unsigned, uint64_t))                                                   \
    X(void, LLVMAddCallSiteAttribute, (void *, unsigned, void *))                                                      \
    X(void *, LLVMGetCallSiteEnumAttribute, (void *, unsigned, unsigned))                                              \
    X(void *, LLVMGetEnumAttributeAtIndex, (void *, unsigned, unsigned))                                               \
    X(void, LLVMAddAttributeAtIndex, (void *, unsigned, void *))                                                       \
    X(void, LLVMRemoveEnumAttributeAtIndex, (void *, unsigned, unsigned))                                              \
    X(unsigned, LLVMCountParams, (void *))                                                                             \
    X(int, LLVMStripModuleDebugInfo, (void *))                                                                         \
    X(void *, LLVMGetModuleFlag, (void *, const char *, size_t))                                                       \
    X(const char *, LLVMGetTarget, (void *))                                                                           \
    X(int, LLVMGetTargetFromTriple, (const char *, void **, char **))                                                  \
    X(void *, LLVMCreateTargetMachine, (void *, const char *, const char *, const char *, int, int, int))              \
    X(void *, LLVMCreatePassBuilderOptions, (void))                                                                    \
    X(void, LLVMPassBuilderOptionsSetLoopVectorization, (void *, int))                                                 \
    X(void, LLVMPassBuilderOptionsSetSLPVectorization, (void *, int))                                                  \
    X(void *, LLVMRunPasses, (void *, const char *, void *, void *))                                                   \
    X(char *, LLVMGetErrorMessage, (void *))                                                                           \
    X(int, LLVMTargetMachineEmitToMemoryBuffer, (void *, void *, int, char **, void **))                               \
    X(const char *, LLVMGetBufferStart, (void *))                                                                      \
    X(size_t, LLVMGetBufferSize, (void *))                                                                             \
    X(void, LLVMParseCommandLineOptions, (int, const char *const *, const char *))                                     \
    X(void, LLVMContextSetDiagnosticHandler, (void *, void (*)(void *, void *), void *))                               \
    X(char *, LLVMGetDiagInfoDescription, (void *))                                                                    \
    X(void, LLVMReplaceAllUsesWith, (void *, void *))                                                                  \
    X(void *, LLVMGetUndef, (void *))                                                                                  \
    X(void *, LLVMTypeOf, (void *))                                                                                    \
    X(int, LLVMGetTypeKind, (void *))                                                                                  \
    X(void, LLVMInstructionEraseFromParent, (void *))                                                                  \
    X(void, LLVMDeleteBasicBlock, (void *))

#define POINTER(result, name, parameters) static result(*name) parameters;
API(POINTER)

enum { FUNCTION_INDEX = -1, OPCODE_INDIRECT_BRANCH = 4, LINKAGE_EXTERNAL = 0, LINKAGE_ONCE = 2, LINKAGE_ONCE_ODR = 3,
       LINKAGE_INTERNAL = 8, LINKAGE_PRIVATE = 9, KIND_VOID = 0, CODEGEN_DEFAULT = 2, CODEGEN_AGGRESSIVE = 3,
       RELOC_STATIC = 1, RELOC_PIC = 2, CODE_MODEL_DEFAULT = 0, OBJECT_FILE = 1, KIND_TOKEN = 16 };
/* nothing near it is needed by any C file; what runs away is stopped */
enum { CPU_SECONDS = 120 };

struct llvm_state {
    void *bitcode, *context, *module, *target;
    void **function, **call;                             /* handles of the worker's */
    uint64_t *inferred;                                /* attributes of each when nothing is inlined; NULL: not known */
    bool debug;
};

static void *library;
static int library_version;

/* in shared memory, of a child */
struct answer { double text; char why[300]; uint64_t *inferred; double *bytes; };
static struct answer *answering;                         /* in the child that builds, NULL in the process itself */

/* LLVM gives up by abort() where it is refused memory or cannot go on, with nothing said or nothing to be read: here it
 * ends as everything else does. */
static void gave_up(const char *why)
{
    if (!answering) die("LLVM: %s", why);
    snprintf(answering->why, sizeof answering->why, "%s", why);
    _exit(1);
}

static void no_memory(void)
{
    gave_up("out of memory");
}

static void bad_allocation(void *data, const char *why, bool diagnose)
{
    (void)data;
    (void)why;
    (void)diagnose;
    no_memory();
}

/* one of the library's functions into a pointer of any type; one that is not there leaves NULL */
static void *found(void *lib, const char *name, void *pointer)
{
    void *p = lib ? dlsym(lib, name) : NULL;
    memcpy(pointer, &p, sizeof p);
    return p;
}

/* before the library is loaded, whose constructors ask for memory too; C++'s functions have mangled names */
static void end_well_in_cxx(void)
{
    void (*(*set)(void (*)(void)))(void);
    if (found(dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL), "_ZSt15set_new_handlerPFvvE", &set)) set(no_memory);
}

static void end_well_in_llvm(void)
{
    void (*on_fatal)(void (*)(const char *)), (*on_malloc)(void (*)(void *, const char *, bool), void *);
    if (found(library, "LLVMInstallFatalErrorHandler", &on_fatal)) on_fatal(gave_up);
    if (found(library, "_ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_", &on_malloc))
        on_malloc(bad_allocation, NULL);
}

static const char *load(int version)
{
    static char sentence[160];
    if (library && library_version == version) return NULL;
    if (library) return "one version of LLVM in a process, not two";
    char *name[] = { xformat("libLLVM-%d.so.1", version), xformat("libLLVM.so.%d.1", version),
                     xformat("libLLVM-%d.so", version) };
    end_well_in_cxx();
    for (size_t i = 0; i < 3 && !library; i++) library = dlopen(name[i], RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < 3; i++) free(name[i]);
    if (!library) {
        const char *why = dlerror();
        if (why && !strstr(why, "No such file")) snprintf(sentence, sizeof sentence, "%s", why);
        else snprintf(sentence, sizeof sentence, "libLLVM-%d.so.1 not found (apt install libllvm%d)", version, version);
        return sentence;
    }
    end_well_in_llvm();
    const char *missing = NULL;
#define FIND(result, name, parameters)                                                                                 \
    do {                                                                                                               \
        if (!found(library, #name, &name)) missing = #name;                                                            \
    } while (0);
    API(FIND)
    static const char *const start[] = { "LLVMInitialize" TARGET "TargetInfo", "LLVMInitialize" TARGET "Target",
                                         "LLVMInitialize" TARGET "TargetMC", "LLVMInitialize" TARGET "AsmPrinter",
                                         "LLVMInitialize" TARGET "AsmParser" };
    for (size_t i = 0; i < sizeof start / sizeof *start && !missing; i++) {
        void (*initialise)(void);
        if (found(library, start[i], &initialise)) initialise();
        else missing = start[i];
    }
    if (missing) {
        snprintf(sentence, sizeof sentence, "libLLVM-%d has no %s", version, missing);
        return sentence;
    }
    library_version = version;
    return NULL;
}

/* ---- what is in the module */

static unsigned kind(const char *name)
{
    return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

static bool has(void *function, const char *attribute)
{
    return LLVMGetEnumAttributeAtIndex(function, (unsigned)FUNCTION_INDEX, kind(attribute)) != NULL;
}

static bool is_call(void *instruction)
{
    return LLVMIsACallInst(instruction) || LLVMIsAInvokeInst(instruction);
}

static void *callee_of(void *instruction)
{
    return is_call(instruction) ? LLVMIsAFunction(LLVMGetCalledValue(instruction)) : NULL;
}

static str name_of(void *value)
{
    size_t n;
    const char *s = LLVMGetValueName2(value, &n);
    return n && *s == 1 ? (str){ s + 1, n - 1 } : (str){ s, n };         /* \1: as it is, no prefix of the platform */
}

/* what LLVM's isInlineViable refuses, and what the source has decided */
static const char *never(void *f)
{
    if (has(f, "noinline")) return "noinline";
    if (has(f, "alwaysinline")) return "always_inline";
    if (has(f, "optnone")) return "optnone";
    for (void *b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (void *i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            void *callee = callee_of(i);
            if (LLVMGetInstructionOpcode(i) == OPCODE_INDIRECT_BRANCH) return "indirect branch";
            if (callee == f) return "recursive";
            str name = callee ? name_of(callee) : (str){ "", 0 };
            if (str_begins(name, "llvm.va_start") || str_begins(name, "llvm.localescape")) return "varargs";
            if (callee && has(callee, "returns_twice")) return "setjmp";
        }
    return NULL;
}

static bool taken(void *f)
{
    for (void *u = LLVMGetFirstUse(f); u; u = LLVMGetNextUse(u)) {
        void *user = LLVMGetUser(u);
        if (callee_of(user) != f) return true;
        for (unsigned i = 0, n = LLVMGetNumArgOperands(user); i < n; i++)
            if (LLVMGetOperand(user, i) == f) return true;
    }
    return false;
}

static bool read_bitcode(struct llvm_state *s)
{
    s->context = LLVMContextCreate();
    if (LLVMParseBitcodeInContext2(s->context, s->bitcode, &s->module)) return false;
    if (!s->debug) LLVMStripModuleDebugInfo(s->module);
    return true;
}

/* the functions and calls of w in the module as it lies here */
static void find_handles(struct worker *w)
{
    struct llvm_state *s = w->llvm;
    struct intern names = { 0 };
    size_t k = 0, c = 0;
    for (; k < w->nfunctions; k++) intern(&names, w->function[k].name);
    k = 0;
    for (void *f = LLVMGetFirstFunction(s->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) continue;
        s->function[k++] = f;
        for (void *b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (void *i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                void *callee = callee_of(i);
                if (callee && intern_find(&names, name_of(callee)) >= 0) s->call[c++] = i;
            }
    }
    intern_free(&names);
}

/* the same module again, as if nothing had been built from it */
static void read_again(struct worker *w)
{
    struct llvm_state *s = w->llvm;
    LLVMDisposeModule(s->module);
    LLVMContextDispose(s->context);
    if (!read_bitcode(s)) gave_up("no bitcode any more");
    find_handles(w);
}

static void read_module(struct worker *w)
{
    struct llvm_state *s = w->llvm;
    struct intern names = { 0 };                         /* lives as long as the worker: texts are borrowed */
    size_t cap = 0, capc = 0, k = 0;
    for (void *f = LLVMGetFirstFunction(s->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) continue;
        uint32_t name = intern(&names, name_of(f));
        int linkage = LLVMGetLinkage(f);
        w->function = grow(w->function, w->nfunctions + 1, &cap, sizeof *w->function);
        struct worker_function *to = &w->function[w->nfunctions++];
        *to = (struct worker_function){ .name = names.name[name], .taken = taken(f), .never = never(f),
                                        .local = linkage == LINKAGE_INTERNAL || linkage == LINKAGE_PRIVATE ||
                                                 linkage == LINKAGE_ONCE || linkage == LINKAGE_ONCE_ODR };
        for (void *b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b), to->blocks++)
            for (void *i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) to->instructions++;
    }
    for (void *f = LLVMGetFirstFunction(s->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) continue;
        for (void *b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (void *i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                void *callee = callee_of(i);
                long c = callee ? intern_find(&names, name_of(callee)) : -1;
                if (c < 0) continue;
                w->call = grow(w->call, w->ncalls + 1, &capc, sizeof *w->call);
                bool fixed = LLVMGetCallSiteEnumAttribute(i, (unsigned)FUNCTION_INDEX, kind("noinline")) != NULL;
                struct worker_call *to = &w->call[w->ncalls++];
                *to = (struct worker_call){ .caller = (uint32_t)k, .callee = (uint32_t)c, .fixed = fixed,
                                            .arguments = LLVMGetNumArgOperands(i) };
                for (unsigned j = 0; j < to->arguments; j++)
                    to->constants += LLVMIsAConstant(LLVMGetOperand(i, j)) != NULL;
            }
        k++;
    }
    s->function = xcalloc(w->nfunctions + 1, sizeof *s->function);
    s->call = xcalloc(w->ncalls + 1, sizeof *s->call);
    find_handles(w);
}

struct worker *worker_open(const char *module, int version, const char *level, bool debug, const char **why)
{
    static char sentence[300];
    if ((*why = load(version))) return NULL;
    struct worker *w = xcalloc(1, sizeof *w);
    struct llvm_state *s = w->llvm = xcalloc(1, sizeof *s);
    char *text = NULL;
    void *buffer, *target;
    *why = sentence;
    if (LLVMCreateMemoryBufferWithContentsOfFile(module, &buffer, &text)) {
        snprintf(sentence, sizeof sentence, "%s: %s", module, text);
        return NULL;
    }
    s->bitcode = buffer;
    s->debug = debug;
    if (!read_bitcode(s)) {
        snprintf(sentence, sizeof sentence, "%s: no bitcode of LLVM %d", module, version);
        return NULL;
    }
    const char *triple = LLVMGetTarget(s->module);
    if (LLVMGetTargetFromTriple(triple, &target, &text)) {
        snprintf(sentence, sizeof sentence, "%s: %s", triple, text);
        return NULL;
    }
    static const char pic[] = "PIC Level";
    int reloc = LLVMGetModuleFlag(s->module, pic, sizeof pic - 1) ? RELOC_PIC : RELOC_STATIC;
    w->hash = hash_bytes(LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer),
                         hash_bytes(level, strlen(level), (uint64_t)reloc));
    s->target = LLVMCreateTargetMachine(target, triple, strncmp(triple, "x86_64", 6) == 0 ? "x86-64" : "generic", "",
                                        strcmp(level, "-O3") == 0 ? CODEGEN_AGGRESSIVE : CODEGEN_DEFAULT, reloc,
                                        CODE_MODEL_DEFAULT);
    w->level = level;
    read_module(w);
    *why = NULL;
    return w;
}

/* ---- one build, in a child */

static void remark(void *diagnostic, void *to)
{
    char *text = LLVMGetDiagInfoDescription(diagnostic);
    buf_format(to, "x:1:1: remark: %s\n", text);
}

/* Attributes that LLVM infers bottom-up and callers rely on, as bits of one number: of the function, of its result, of
 * its first parameters.  Others, and later parameters, only make a sleeping function look worse than it is. */
static const char *const of_function[] = { "readnone",   "readonly", "writeonly", "argmemonly", "inaccessiblememonly",
                                           "willreturn", "nounwind", "nofree",    "nosync",     "norecurse" };
static const char *const of_result[] = { "noalias", "nonnull", "noundef" };
static const char *const of_parameter[] = { "nocapture", "readonly", "readnone", "writeonly", "returned", "noalias" };
enum { PARAMETERS = 8, FUNCTION_BITS = 10, RESULT_BITS = 3, PARAMETER_BITS = 6 };

/* visit the bits in their order; with `set` give those of `bits` to f, without collect them */
static uint64_t attributes(void *context, void *f, bool set, uint64_t bits)
{
    uint64_t found = 0;
    unsigned bit = 0, parameters = LLVMCountParams(f);
    for (long index = FUNCTION_INDEX; index <= PARAMETERS; index++) {
        const char *const *name = index < 0 ? of_function : index == 0 ? of_result : of_parameter;
        unsigned n = index < 0 ? FUNCTION_BITS : index == 0 ? RESULT_BITS : PARAMETER_BITS;
        for (unsigned i = 0; i < n; i++, bit++) {
            if (index > (long)parameters || !kind(name[i])) continue;
            if (!set && LLVMGetEnumAttributeAtIndex(f, (unsigned)index, kind(name[i]))) found |= 1ull << bit;
            if (set && bits >> bit & 1)
                LLVMAddAttributeAtIndex(f, (unsigned)index, LLVMCreateEnumAttribute(context, kind(name[i]), 0));
        }
    }
    return found | (uint64_t)(parameters < 8 ? parameters : 7) << 61;    /* dead ones may have been removed */
}

static void send_to_sleep(struct worker *w, size_t k)
{
    struct llvm_state *s = w->llvm;
    static const char *const size[] = { "optsize", "minsize" };
    void *f = s->function[k];
    if (s->inferred && s->inferred[k] >> 61 == attributes(s->context, f, false, 0) >> 61)
        attributes(s->context, f, true, s->inferred[k]);
    for (size_t i = 0; i < 2; i++) LLVMRemoveEnumAttributeAtIndex(f, (unsigned)FUNCTION_INDEX, kind(size[i]));
    LLVMAddAttributeAtIndex(f, (unsigned)FUNCTION_INDEX, LLVMCreateEnumAttribute(s->context, kind("optnone"), 0));
    LLVMAddAttributeAtIndex(f, (unsigned)FUNCTION_INDEX, LLVMCreateEnumAttribute(s->context, kind("noinline"), 0));
}

/* Leave a declaration, so that no code is generated for it. */
static void drop_body(void *f)
{
    for (void *b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (void *i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            int k = LLVMGetTypeKind(LLVMTypeOf(i));
            if (LLVMGetFirstUse(i) && k != KIND_VOID && k != KIND_TOKEN)
                LLVMReplaceAllUsesWith(i, LLVMGetUndef(LLVMTypeOf(i)));
        }
    for (void *b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (void *i = LLVMGetFirstInstruction(b), *next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            LLVMInstructionEraseFromParent(i);
        }
    for (void *b = LLVMGetFirstBasicBlock(f), *next; b; b = next) {
        next = LLVMGetNextBasicBlock(b);
        LLVMDeleteBasicBlock(b);
    }
    LLVMSetLinkage(f, LINKAGE_EXTERNAL);
}

/* a function that others may jump into by the address of a block cannot be taken apart */
static bool may_drop(void *f)
{
    for (void *b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (void *i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMGetInstructionOpcode(i) == OPCODE_INDIRECT_BRANCH || LLVMIsAInvokeInst(i)) return false;
    return true;
}

static void drop_unwanted(struct worker *w, const unsigned char *wanted)
{
    struct intern names = { 0 };
    for (size_t k = 0; k < w->nfunctions; k++) intern(&names, w->function[k].name);
    for (void *f = LLVMGetFirstFunction(w->llvm->module), *next; f; f = next) {
        next = LLVMGetNextFunction(f);
        long k = LLVMIsDeclaration(f) ? -1 : intern_find(&names, name_of(f));
        if (k >= 0 && !wanted[k] && may_drop(f)) drop_body(f);
    }
}

static void rename_locals(struct worker *w, const char *suffix)
{
    for (void *f = LLVMGetFirstFunction(w->llvm->module); f; f = LLVMGetNextFunction(f)) {
        int linkage = LLVMGetLinkage(f);
        if (LLVMIsDeclaration(f) || (linkage != LINKAGE_INTERNAL && linkage != LINKAGE_PRIVATE)) continue;
        str name = name_of(f);
        char *new = xformat("%.*s%s", (int)name.n, name.s, suffix);
        LLVMSetValueName2(f, new, strlen(new));
        free(new);
    }
}

/* sizes from the object, which LLVM has just made: still nothing is read beyond it */
static const char *read_object(const struct worker *w, const char *p, size_t n, double *text, double *bytes)
{
    Elf64_Ehdr h;
    Elf64_Shdr section, strings;
    if (n < sizeof h) return "no object";
    memcpy(&h, p, sizeof h);
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_shoff > n ||
        (n - h.e_shoff) / sizeof section < h.e_shnum)
        return "no ELF64 object";
    struct intern names = { 0 };
    for (size_t k = 0; k < w->nfunctions; k++) intern(&names, w->function[k].name);
    for (size_t i = 0; i < h.e_shnum; i++) {
        memcpy(&section, p + h.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_flags & SHF_EXECINSTR) *text += (double)section.sh_size;
        if (section.sh_type != SHT_SYMTAB || section.sh_link >= h.e_shnum) continue;
        memcpy(&strings, p + h.e_shoff + section.sh_link * sizeof strings, sizeof strings);
        if (section.sh_offset > n || section.sh_size > n - section.sh_offset || strings.sh_offset > n ||
            strings.sh_size > n - strings.sh_offset)
            return "an ELF object that ends too early";
        for (size_t k = 0; k < section.sh_size / sizeof(Elf64_Sym); k++) {
            Elf64_Sym y;
            memcpy(&y, p + section.sh_offset + k * sizeof y, sizeof y);
            if (ELF64_ST_TYPE(y.st_info) != STT_FUNC || y.st_name >= strings.sh_size) continue;
            const char *name = p + strings.sh_offset + y.st_name;
            long f = intern_find(&names, (str){ name, strnlen(name, strings.sh_size - y.st_name) });
            if (f >= 0) bytes[f] = (double)y.st_size;
        }
    }
    intern_free(&names);
    return NULL;
}

static const char *write_object(const char *path, const char *p, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return fd < 0 || !write_all(fd, p, n) || close(fd) != 0 ? strerror(errno) : NULL;
}

static void set_options(const struct worker_order *o)
{
    struct args a = { 0 };
    arg(&a, "millrace");
    if (o->inlined) {                                    /* marked calls come first, the others are never looked at */
        arg(&a, "-cgscc-inline-replay=/dev/null");
        arg(&a, "-cgscc-inline-replay-scope=Module");
        arg(&a, "-cgscc-inline-replay-fallback=NeverInline");
    } else if (o->threshold) {
        arg(&a, xformat("-inline-threshold=%s", o->threshold));
    }
    if (o->remarks) arg(&a, "-pass-remarks=inline");
    if (a.n > 1) LLVMParseCommandLineOptions((int)a.n, (const char *const *)a.v, NULL);
}

static void collect_inferred(const struct worker *w, uint64_t *inferred)
{
    struct intern names = { 0 };
    for (size_t k = 0; k < w->nfunctions; k++) intern(&names, w->function[k].name);
    for (void *f = LLVMGetFirstFunction(w->llvm->module); f; f = LLVMGetNextFunction(f)) {
        long k = LLVMIsDeclaration(f) ? -1 : intern_find(&names, name_of(f));
        if (k >= 0) inferred[k] = attributes(w->llvm->context, f, false, 0);
    }
    intern_free(&names);
}

static const char *run(struct worker *w, const struct worker_order *o, struct answer *a, struct buf *said)
{
    struct llvm_state *s = w->llvm;
    LLVMContextSetDiagnosticHandler(s->context, remark, said);
    void *always = LLVMCreateEnumAttribute(s->context, kind("alwaysinline"), 0);
    for (size_t i = 0; o->inlined && i < w->ncalls; i++)
        if (o->inlined[i]) LLVMAddCallSiteAttribute(s->call[i], (unsigned)FUNCTION_INDEX, always);
    for (size_t k = 0; o->awake && k < w->nfunctions; k++)
        if (!o->awake[k] && !has(s->function[k], "alwaysinline")) send_to_sleep(w, k);
    bool vectors = strcmp(w->level, "-Oz") != 0;         /* as clang has it */
    void *options = LLVMCreatePassBuilderOptions();
    LLVMPassBuilderOptionsSetLoopVectorization(options, vectors);
    LLVMPassBuilderOptionsSetSLPVectorization(options, vectors);
    char *passes = xformat("default<%s>", w->level + 1), *why = NULL;
    void *error = LLVMRunPasses(s->module, passes, s->target, options);
    if (error) return LLVMGetErrorMessage(error);
    collect_inferred(w, a->inferred);
    if (o->wanted) drop_unwanted(w, o->wanted);
    if (o->suffix) rename_locals(w, o->suffix);
    void *object;
    if (LLVMTargetMachineEmitToMemoryBuffer(s->target, s->module, OBJECT_FILE, &why, &object)) return why;
    const char *p = LLVMGetBufferStart(object);
    size_t n = LLVMGetBufferSize(object);
    if (o->object && (why = (char *)(uintptr_t)write_object(o->object, p, n))) return why;
    return read_object(w, p, n, &a->text, a->bytes);
}

/* the first build in which nothing is inlined tells */
static void keep_inferred(struct worker *w, const struct worker_order *o, const struct answer *a)
{
    bool none = !w->llvm->inferred && o->inlined && !o->awake;
    for (size_t i = 0; i < w->ncalls && none; i++) none = !o->inlined[i];
    if (!none) return;
    w->llvm->inferred = xmalloc(w->nfunctions + 1, sizeof(uint64_t));
    memcpy(w->llvm->inferred, a->inferred, w->nfunctions * sizeof(uint64_t));
}

static const char *ended(pid_t child, const struct answer *a)
{
    static char sentence[400];
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) die_errno("wait");
    if (WIFSIGNALED(status)) snprintf(sentence, sizeof sentence, "LLVM: signal %d", WTERMSIG(status));
    else snprintf(sentence, sizeof sentence, "LLVM: %s", *a->why ? a->why : "gave up");
    return status ? sentence : NULL;
}

static struct answer *shared(size_t bytes, size_t functions)
{
    struct answer *a = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (a == MAP_FAILED) die_errno("memory for an answer");
    a->bytes = (double *)(a + 1);
    a->inferred = (uint64_t *)(a->bytes + functions);
    return a;
}

static size_t answer_bytes(const struct worker *w)
{
    return sizeof(struct answer) + w->nfunctions * (sizeof(double) + sizeof(uint64_t));
}

static void limit_cpu(void)
{
    struct rusage u;
    struct rlimit limit;
    if (getrlimit(RLIMIT_CPU, &limit) || getrusage(RUSAGE_SELF, &u)) return;
    const rlim_t until = (rlim_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + CPU_SECONDS;
    if (until < limit.rlim_max) limit.rlim_cur = until;
    setrlimit(RLIMIT_CPU, &limit);
}

/* ---- a child for one build */

static const char *build_alone(struct worker *w, const struct worker_order *o, struct answer *a)
{
    struct memory_file said = { .fd = -1 };
    if (o->remarks) said = memory_file("remarks");
    pid_t child = fork();
    if (child < 0) die_errno("fork");
    if (child == 0) {
        answering = a;
        limit_cpu();
        set_options(o);
        struct buf text = { 0 };
        const char *why = run(w, o, a, &text);
        if (why) snprintf(a->why, sizeof a->why, "%s", why);
        if (o->remarks) memory_file_write(&said, &text);
        _exit(why != NULL);
    }
    const char *why = ended(child, a);
    if (o->remarks) *o->remarks = memory_file_read(&said);
    return why;
}

/* ---- a child for many: most of a small build is what LLVM does at its first, and pages a fork has to find again */

static struct server {
    pid_t child;                                         /* 0: none */
    int fd;
    struct worker *of;
    struct answer *answer;
    unsigned char *inlined, *awake, *wanted;             /* behind the answer; the first of each: is it there? */
    size_t bytes;
} server;

static _Noreturn void serve(struct worker *w, int fd)
{
    struct answer *a = answering = server.answer;
    const struct worker_order o = { .inlined = server.inlined + 1 };
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    set_options(&o);
    for (char c; read(fd, &c, 1) == 1;) {
        struct worker_order order = o;
        struct buf text = { 0 };
        if (*server.awake) order.awake = server.awake + 1;
        if (*server.wanted) order.wanted = server.wanted + 1;
        limit_cpu();
        read_again(w);
        const char *why = run(w, &order, a, &text);
        if (why) snprintf(a->why, sizeof a->why, "%s", why);
        if (!why) keep_inferred(w, &order, a);
        free(text.s);
        if (why || write(fd, &c, 1) != 1) break;
    }
    _exit(1);
}

static const char *stop_server(void)
{
    if (!server.child) return NULL;
    close(server.fd);
    const char *why = ended(server.child, server.answer);
    munmap(server.answer, server.bytes);
    server.child = 0;
    return why;
}

static void start_server(struct worker *w)
{
    const size_t n = w->nfunctions, answer = answer_bytes(w);
    int ends[2];
    stop_server();
    server.of = w;
    server.bytes = answer + w->ncalls + 2 * n + 3;
    server.answer = shared(server.bytes, n);
    server.inlined = (unsigned char *)server.answer + answer;
    server.awake = server.inlined + w->ncalls + 1;
    server.wanted = server.awake + n + 1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) die_errno("socketpair");
    server.child = fork();
    if (server.child < 0) die_errno("fork");
    if (server.child == 0) {
        close(ends[0]);
        serve(w, ends[1]);
    }
    close(ends[1]);
    server.fd = ends[0];
}

static void put(unsigned char *to, const unsigned char *from, size_t n)
{
    if ((*to = from != NULL)) memcpy(to + 1, from, n);
}

static const char *build_served(struct worker *w, const struct worker_order *o, struct answer **a)
{
    if (!server.child || server.of != w) start_server(w);
    *a = server.answer;
    (*a)->text = 0;
    memset((*a)->bytes, 0, w->nfunctions * sizeof(double));
    put(server.inlined, o->inlined, w->ncalls);
    put(server.awake, o->awake, w->nfunctions);
    put(server.wanted, o->wanted, w->nfunctions);
    char c = 'b';
    ssize_t n = send(server.fd, &c, 1, MSG_NOSIGNAL);
    while (n == 1 && (n = read(server.fd, &c, 1)) < 0 && errno == EINTR) n = 1;
    return n == 1 ? NULL : "";
}

const char *worker_build(struct worker *w, const struct worker_order *o, struct worker_answer *to)
{
    const bool alone = !o->inlined || o->object || o->suffix || o->remarks;
    struct answer *a = alone ? shared(answer_bytes(w), w->nfunctions) : NULL;
    const char *why = alone ? build_alone(w, o, a) : build_served(w, o, &a);
    to->text = a->text;
    memcpy(to->bytes, a->bytes, w->nfunctions * sizeof(double));
    if (!why) keep_inferred(w, o, a);
    if (alone) munmap(a, answer_bytes(w));
    else if (why) why = stop_server();
    return why;
}

void worker_close(struct worker *w)
{
    if (!w) return;
    if (server.of == w) stop_server();
    LLVMDisposeModule(w->llvm->module);
    LLVMContextDispose(w->llvm->context);
    free_all(w->llvm->function, w->llvm->call, w->llvm->inferred, w->llvm, w->function, w->call, w);
}
