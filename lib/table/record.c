#include "table/record.h"

void record_names(csvw *w, const struct field *field)
{
    for (; field->name; field++) csvw_cstr(w, field->name);
}

void record_write(csvw *w, const struct field *field, const void *record)
{
    for (; field->name; field++) {
        const void *at = (const char *)record + field->at;
        switch (field->type) {
        case F_TEXT: csvw_cstr(w, *(const char *const *)at); break;
        case F_STR: csvw_str(w, *(const str *)at); break;
        case F_SIZE: csvw_int(w, (int64_t)*(const size_t *)at); break;
        case F_UINT64: csvw_int(w, (int64_t)*(const uint64_t *)at); break;
        case F_INT: csvw_int(w, *(const int *)at); break;
        case F_LONG: csvw_int(w, *(const long *)at); break;
        case F_NUM: csvw_num(w, *(const double *)at); break;
        case F_KNOWN: csvw_known(w, *(const double *)at); break;
        case F_YES: csvw_cstr(w, *(const bool *)at ? "yes" : "no"); break;
        }
    }
}
