/* input.h - what viewers take: tables of events, or a folder of the recorder's logs. */
#ifndef MILLRACE_INPUT_H
#define MILLRACE_INPUT_H
#include "prof/events.h"

/* All rows of a folder, as whole intervals, or of tables (no path: standard input). */
void input_read(struct event_table *, char **paths);
void input_charged(struct event_table *, char **paths);  /* the same; a folder's rows as prof-op gives them */
bool input_is_folder(char **paths);                      /* one path, and it is a folder */
/* A folder's rows as prof-log and prof-op give them become the standard input, in constant memory; paths that are none
 * are left.  Returns the paths to read.  nested: whole intervals. */
char **input_stream(char **paths, bool nested);
/* What the filter command[0], beside this one, says: the name of a file as long as we live, NULL where it fails. */
char *input_table(char *const command[]);
void input_end(void);                                    /* after the last row: dies if the folder could not be read */
#endif
