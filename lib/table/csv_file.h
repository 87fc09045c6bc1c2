/* csv_file.h - what csvio.c, which reads tables, and csvw.c, which writes them, know of each other. */
#ifndef MILLRACE_CSV_FILE_H
#define MILLRACE_CSV_FILE_H
#include "table/csvio.h"

static const char csv_bom[] = "\xef\xbb\xbf", csv_lfs[] = "version https://git-lfs";   /* no table begins so */

bool csv_is_plain(const csv *, int col);                 /* the field stood in the file as CSV without quotes */
bool csv_needs_quotes(str field);
extern void (*csv_before_read)(void);                   /* writes out what writers hold, but append-only logs */
#endif
