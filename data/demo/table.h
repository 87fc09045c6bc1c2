/* table.h - a small hash table of words; demo program for the inline family */
#ifndef TABLE_H
#define TABLE_H
struct word { char text[32]; unsigned count; struct word *next; };
struct word *table_find(const char *text);
unsigned table_list(struct word **out, unsigned max);
unsigned hash_step(unsigned h, char c);
#endif
