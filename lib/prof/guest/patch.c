/* patch.c - the half of see.h that puts stubs in place, once for each function */
#include "prof/guest/ranges.h"
#include "prof/guest/rec.h"
#include "prof/guest/see.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined __x86_64__

static uint32_t shared[2 * FUNCTIONS];                   /* stubs of slots by the original's address, open addressing */

static const unsigned char *stub_of(uint32_t i)
{
    return see_stubs + (size_t)i * STUB;
}

bool see_is_stub(const void *p)
{
    return (const unsigned char *)p >= see_stubs && (const unsigned char *)p < stub_of(FUNCTIONS);
}

static uint8_t category_number(const char *name)
{
    const uint8_t most = sizeof see_category / sizeof *see_category;
    uint8_t i = 0;
    while (i < most && see_category[i] && strcmp(see_category[i], name) != 0) i++;
    if (i == most) return 0;
    if (!see_category[i]) see_category[i] = strdup(name);
    return i;
}

/* What is kept for ever, some MiB, is none of malloc's: the program's own pieces lie as they would. */
static void *keep(size_t n)
{
    enum { BLOCK = 1 << 20 };
    static char *block;
    static size_t used = BLOCK;
    n = (n + 15) & ~(size_t)15;
    if (n > BLOCK) return NULL;
    if (n > BLOCK - used) {
        void *p = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) return NULL;
        block = p;
        used = 0;
    }
    used += n;
    return block + used - n;
}

/* mostly the owner is that of the function before */
static const char *keep_text(const char *s, const char **last)
{
    if (*last && strcmp(s, *last) == 0) return *last;
    size_t n = strlen(s) + 1;
    char *copy = keep(n);
    if (copy) *last = memcpy(copy, s, n);
    return copy;
}

/* One stub for each function; for a slot one for each original address, so that slots that were equal stay equal:
 * inheritance, tp_new's safety check and the slots of classes made later depend on it. */
static const void *stub_for(void *real, const char *owner, const char *name, uint8_t kind, bool slot)
{
    uint32_t *place = NULL;
    if (slot) {
        size_t i = (uintptr_t)real * 0x9e3779b97f4a7c15u >> 40 & (2 * FUNCTIONS - 1);
        while (shared[i] && see_function[shared[i]].real != real) i = (i + 1) & (2 * FUNCTIONS - 1);
        place = &shared[i];
        if (*place) return stub_of(*place);
    }
    static const char *last_owner, *last_name;
    const char *o = keep_text(owner, &last_owner), *n = keep_text(name, &last_name);
    if (see_functions == FUNCTIONS || !o || !n) return real;
    see_function[see_functions] = (struct seen){ .real = real, .owner = o, .name = n, .category = kind };
    if (place) *place = see_functions;
    return stub_of(see_functions++);
}

/* what the interpreter puts in the slots of classes written in Python: it calls Python */
static const void *of_classes[128];
static size_t nof_classes;

static bool wanted(const void *p, bool any)
{
    for (size_t i = 0; any && i < nof_classes; i++) if (of_classes[i] == p) return false;
    int kind = p && !see_is_stub(p) ? ranges_kind(p) : UNKNOWN;
    return any ? kind != UNKNOWN && kind != LIBC : kind == EXTENSION;
}

struct patching { const char *owner; uint16_t category; bool any; int done; };

/* in_place: more lies behind it, which its maker looks for there */
static void patch_def(struct patching *p, PyMethodDef **at, const char *owner, bool in_place)
{
    void *real;
    memcpy(&real, &(*at)->ml_meth, sizeof real);
    /* whether a class has a __new__ of its own is asked by its address */
    if (!wanted(real, p->any) || strcmp((*at)->ml_name, "__new__") == 0) return;
    PyMethodDef *copy = in_place ? *at : keep(sizeof *copy);
    if (!copy) return;
    *copy = **at;
    char of[256];
    const char *name = copy->ml_name, *dot = strrchr(owner, '.');
    if (!*name && dot) {                                 /* the getter of a property */
        snprintf(of, sizeof of, "%.*s", (int)(dot - owner), owner);
        owner = of;
        name = dot + 1;
    }
    const void *stub = stub_for(real, owner, *name ? name : "(no name)", p->category, false);
    memcpy(&copy->ml_meth, &stub, sizeof stub);
    *at = copy;
    p->done++;
}

static void patch_getset(struct patching *p, PyGetSetDescrObject *g)
{
    void *get, *set;
    memcpy(&get, &g->d_getset->get, sizeof get);
    memcpy(&set, &g->d_getset->set, sizeof set);
    if (!wanted(get, p->any)) return;
    PyGetSetDef *copy = keep(sizeof *copy);
    if (!copy) return;
    *copy = *g->d_getset;
    const char *type = ((PyDescrObject *)g)->d_type->tp_name;
    const void *stub = stub_for(get, type, copy->name, p->category, false);
    memcpy(&copy->get, &stub, sizeof stub);
    if (wanted(set, p->any)) {
        stub = stub_for(set, type, copy->name, p->category, false);
        memcpy(&copy->set, &stub, sizeof stub);
    }
    g->d_getset = copy;
    p->done++;
}

static void patch_word(struct patching *p, void *word, const char *owner, const char *name, bool slot)
{
    void *real;
    memcpy(&real, word, sizeof real);
    if (!wanted(real, p->any)) return;
    const void *stub = stub_for(real, owner, name, p->category, slot);
    memcpy(word, &stub, sizeof stub);
    p->done++;
}

struct slot { size_t offset; const char *name; };
#define TYPE(S) { offsetof(PyTypeObject, tp_##S), #S }
#define NUMBER(S) { offsetof(PyNumberMethods, nb_##S), #S }
#define SEQUENCE(S) { offsetof(PySequenceMethods, sq_##S), #S }
#define MAPPING(S) { offsetof(PyMappingMethods, mp_##S), #S }
static const struct slot type_slot[] = { TYPE(call), TYPE(new), TYPE(init), TYPE(iter), TYPE(iternext),
                                         TYPE(richcompare), TYPE(hash), TYPE(str), TYPE(repr), TYPE(vectorcall) };
static const struct slot number_slot[] = {
    NUMBER(add), NUMBER(subtract), NUMBER(multiply), NUMBER(remainder), NUMBER(divmod), NUMBER(power), NUMBER(negative),
    NUMBER(positive), NUMBER(absolute), NUMBER(bool), NUMBER(invert), NUMBER(lshift), NUMBER(rshift), NUMBER(and),
    NUMBER(xor), NUMBER(or), NUMBER(int), NUMBER(float), NUMBER(inplace_add), NUMBER(inplace_subtract),
    NUMBER(inplace_multiply), NUMBER(inplace_remainder), NUMBER(inplace_power), NUMBER(inplace_lshift),
    NUMBER(inplace_rshift), NUMBER(inplace_and), NUMBER(inplace_xor), NUMBER(inplace_or), NUMBER(floor_divide),
    NUMBER(true_divide), NUMBER(inplace_floor_divide), NUMBER(inplace_true_divide), NUMBER(index),
    NUMBER(matrix_multiply), NUMBER(inplace_matrix_multiply)
};
static const struct slot sequence_slot[] = { SEQUENCE(length), SEQUENCE(concat), SEQUENCE(repeat), SEQUENCE(item),
                                             SEQUENCE(ass_item), SEQUENCE(contains), SEQUENCE(inplace_concat),
                                             SEQUENCE(inplace_repeat) };
static const struct slot mapping_slot[] = { MAPPING(length), MAPPING(subscript), MAPPING(ass_subscript) };

/* base: the same of the type that it inherits from; what a type of the interpreter has from there stays as it is */
static void patch_slots(struct patching *p, const PyTypeObject *t, void *suite, const void *base,
                        const struct slot *slot, size_t n)
{
    if (!suite || (p->any && suite == base)) return;
    for (size_t i = 0; i < n; i++) {
        char *word = (char *)suite + slot[i].offset;
        if (p->any && base && memcmp(word, (const char *)base + slot[i].offset, sizeof(void *)) == 0) continue;
        patch_word(p, word, t->tp_name, slot[i].name, true);
    }
}

#define COUNT(A) (sizeof(A) / sizeof *(A))
static void patch_type(struct patching *p, PyTypeObject *t)
{
    void *dealloc;
    memcpy(&dealloc, &t->tp_dealloc, sizeof dealloc);
    const struct code_range *r = ranges_at((uintptr_t)dealloc);
    /* freeing takes time there, and nobody compares it */
    if (r && (strstr(r->name, "_multiarray_umath") || strstr(r->name, "libtorch_python")))
        patch_word(p, &t->tp_dealloc, t->tp_name, "dealloc", true);
    /* Cython's generators name no module */
    if (!strchr(t->tp_name, '.') && r && r->kind == EXTENSION && !r->standard)
        p->category = category_number("Backend");
    const PyTypeObject *b = t->tp_base;
    patch_slots(p, t, t, b, type_slot, COUNT(type_slot));
    patch_slots(p, t, t->tp_as_number, b ? b->tp_as_number : NULL, number_slot, COUNT(number_slot));
    patch_slots(p, t, t->tp_as_sequence, b ? b->tp_as_sequence : NULL, sequence_slot, COUNT(sequence_slot));
    patch_slots(p, t, t->tp_as_mapping, b ? b->tp_as_mapping : NULL, mapping_slot, COUNT(mapping_slot));
}

static void note_slots(const void *suite, const struct slot *slot, size_t n)
{
    for (size_t i = 0; suite && i < n && nof_classes < COUNT(of_classes); i++) {
        const void *code;
        memcpy(&code, (const char *)suite + slot[i].offset, sizeof code);
        if (code) of_classes[nof_classes++] = code;
    }
}

void see_class(PyObject *o)
{
    const PyTypeObject *t = (const PyTypeObject *)(void *)o;
    note_slots(t, type_slot, COUNT(type_slot));
    note_slots(t->tp_as_number, number_slot, COUNT(number_slot));
    note_slots(t->tp_as_sequence, sequence_slot, COUNT(sequence_slot));
    note_slots(t->tp_as_mapping, mapping_slot, COUNT(mapping_slot));
}

static void patch_wrapper(struct patching *p, PyWrapperDescrObject *w)
{
    static const size_t never[] = { offsetof(PyTypeObject, tp_getattro), offsetof(PyTypeObject, tp_setattro),
                                    offsetof(PyTypeObject, tp_descr_get), offsetof(PyTypeObject, tp_descr_set),
                                    offsetof(PyTypeObject, tp_finalize), offsetof(PyTypeObject, tp_getattr),
                                    offsetof(PyTypeObject, tp_setattr) };
    for (size_t i = 0; i < COUNT(never); i++) if ((size_t)w->d_base->offset == never[i]) return;
    patch_word(p, &w->d_wrapped, ((PyDescrObject *)w)->d_type->tp_name, w->d_base->name, true);
}

static bool is_of_cffi(PyObject *f)
{
    PyObject *self = ((PyCFunctionObject *)(void *)f)->m_self;
    return PyCFunction_Check(f) && self && strcmp(Py_TYPE(self)->tp_name, "_cffi_backend.Lib") == 0;
}

int see_patch(PyObject *o, const char *owner, const char *name, bool any)
{
    struct patching p = { .owner = owner, .category = category_number(name), .any = any };
    PyTypeObject *t = Py_TYPE(o);
    if (PyCFunction_Check(o) || strstr(t->tp_name, "cython_function_or_method"))   /* it begins with the same fields */
        patch_def(&p, &((PyCFunctionObject *)(void *)o)->m_ml, owner, is_of_cffi(o));
    else if (Py_IS_TYPE(o, &PyMethodDescr_Type) || Py_IS_TYPE(o, &PyClassMethodDescr_Type))
        patch_def(&p, &((PyMethodDescrObject *)(void *)o)->d_method, ((PyDescrObject *)(void *)o)->d_type->tp_name,
                  false);
    else if (Py_IS_TYPE(o, &PyGetSetDescr_Type)) patch_getset(&p, (PyGetSetDescrObject *)(void *)o);
    else if (Py_IS_TYPE(o, &PyWrapperDescr_Type)) patch_wrapper(&p, (PyWrapperDescrObject *)(void *)o);
    else if (PyType_Check(o)) patch_type(&p, (PyTypeObject *)(void *)o);
    else if (!PyFunction_Check(o) && !PyMethod_Check(o) && PyType_HasFeature(t, Py_TPFLAGS_HAVE_VECTORCALL)
             && t->tp_vectorcall_offset > 0
             && ranges_kind(*(void **)(void *)((char *)o + t->tp_vectorcall_offset)) == EXTENSION) {
        PyObject *own = PyObject_GetAttrString(o, "__name__");   /* ufuncs and the like, object by object */
        const char *s = own && PyUnicode_Check(own) ? PyUnicode_AsUTF8(own) : NULL;
        patch_word(&p, (char *)o + t->tp_vectorcall_offset, owner, s ? s : t->tp_name, false);
        if (p.done) Py_INCREF(o);
        PyErr_Clear();
        Py_XDECREF(own);
    }
    return p.done;
}

/* ---- Python entered from C: the C call is interrupted */

#define FROM_C(TYPE, CALL)                                                                                            \
    void *sp = see_thread.sp;                                                                                         \
    if (!sp || sp < (void *)&sp) return CALL;                                                                         \
    see_turn();                                                                                                       \
    uint32_t id = see_thread.id;                                                                                      \
    if (id) rec_put(LOG_PYTHON, 0, HOOK_NONE);                                                                        \
    see_thread.sp = NULL;                                                                                             \
    TYPE result = CALL;                                                                                               \
    see_thread.sp = sp;                                                                                               \
    see_thread.id = id;                                                                                               \
    see_thread.f = NULL;                                                                                              \
    if (id) rec_put(LOG_PYTHON_END, 0, HOOK_NONE);                                                                    \
    return result

#if PY_VERSION_HEX >= 0x030b0000                        /* before, see frames.h */
static iternextfunc generator_next;

/* Without HAVE_VECTORCALL Python counts one more level of C for this call, against the limit of recursion. */
static PyObject *call_function(PyObject *f, PyObject *args, PyObject *kw)
{
#if PY_VERSION_HEX < 0x030c0000
    int *left = &PyThreadState_Get()->recursion_remaining;
#elif PY_VERSION_HEX < 0x030d0000
    int *left = &PyThreadState_Get()->c_recursion_remaining;
#else
    int none = 0, *left = &none;
#endif
    ++*left;
    PyObject *result = PyVectorcall_Call(f, args, kw);
    --*left;
    return result;
}

static PyObject *function_call(PyObject *f, PyObject *args, PyObject *kw)
{
    FROM_C(PyObject *, call_function(f, args, kw));
}

static PyObject *next_of_generator(PyObject *g)
{
    FROM_C(PyObject *, generator_next(g));
}

static sendfunc generator_send, coroutine_send;

static PySendResult send_to_generator(PyObject *g, PyObject *v, PyObject **out)
{
    FROM_C(PySendResult, generator_send(g, v, out));
}

static PySendResult send_to_coroutine(PyObject *g, PyObject *v, PyObject **out)
{
    FROM_C(PySendResult, coroutine_send(g, v, out));
}

static void hook_send(bool on)
{
    PyAsyncMethods *generator = PyGen_Type.tp_as_async, *coroutine = PyCoro_Type.tp_as_async;
    if (!generator_send) {
        generator_send = generator->am_send;
        coroutine_send = coroutine->am_send;
    }
    generator->am_send = on ? send_to_generator : generator_send;
    coroutine->am_send = on ? send_to_coroutine : coroutine_send;
}
#endif

void see_python_from_c(bool on)
{
#if PY_VERSION_HEX >= 0x030b0000
    if (!generator_next) generator_next = PyGen_Type.tp_iternext;
    if (on) PyFunction_Type.tp_flags &= ~Py_TPFLAGS_HAVE_VECTORCALL;
    else PyFunction_Type.tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    PyFunction_Type.tp_call = on ? function_call : PyVectorcall_Call;
    PyGen_Type.tp_iternext = on ? next_of_generator : generator_next;
    hook_send(on);
    PyType_Modified(&PyFunction_Type);
#else
    (void)on;                                            /* frames are minded, see frames.h */
#endif
}

#else
int see_patch(PyObject *o, const char *owner, const char *name, bool any)
{
    (void)o;
    (void)owner;
    (void)name;
    (void)any;
    return 0;
}
bool see_is_stub(const void *p) { (void)p; return false; }
void see_python_from_c(bool on) { (void)on; }
void see_class(PyObject *o) { (void)o; }
#endif
