#include "fit/folds.h"
#include "base/checked.h"
#include "table/record.h"
#include "table/table.h"
#include <math.h>

#define IN(member) offsetof(struct cv_score, member)
static const struct field sums[] = {
    { "n", F_NUM, IN(n) },
    { "correct", F_NUM, IN(correct) },
    { "majority", F_NUM, IN(majority) },
    { "own", F_NUM, IN(own) },
    { "sse", F_NUM, IN(sse) },
    { "base", F_NUM, IN(base) },
    { 0 }
};
enum { SUMS = sizeof sums / sizeof *sums - 1 };

/* scores of all groups by kind, and behind those of a kind their sum */
struct scores { struct cv_score *score; bool want[MODEL_KINDS]; size_t groups; };

static struct scores scores_of(size_t groups)
{
    return (struct scores){ xcalloc(size_mul(groups + 1, MODEL_KINDS), sizeof(struct cv_score)), { 0 }, groups };
}

static struct cv_score *at(const struct scores *s, int kind, size_t group)
{
    return &s->score[(size_t)kind * (s->groups + 1) + group];
}

static void add(struct scores *s, int kind, size_t group, const struct cv_score *score)
{
    *at(s, kind, group) = *score;
    cv_add(at(s, kind, s->groups), score);
}

static void write_score(csvw *w, int kind, str group, const struct cv_score *s, bool number)
{
    csvw_cstr(w, model_kind_name[kind]);
    csvw_str(w, group);
    csvw_num(w, s->n);
    csvw_num(w, number ? s->sse / s->n : s->correct);
    csvw_num(w, number ? s->base / s->n : s->correct / s->n);
    csvw_known(w, number ? (s->base > 0 ? 1 - s->sse / s->base : NAN) : s->majority / s->n);
    if (!number) csvw_num(w, s->own / s->n);
    csvw_end(w);
}

static int write_scores(const struct scores *s, const struct intern *group, bool number)
{
    csvw *w = csvw_open(NULL);
    csvw_names(w, number ? "model,group,n,mse,mean_mse,r_squared"
                         : "model,group,n,correct,accuracy_ratio,majority_ratio,own_majority_ratio");
    csvw_end(w);
    for (int k = 0; k < MODEL_KINDS; k++)
        for (size_t g = 0; s->want[k] && g <= s->groups; g++)
            write_score(w, k, g < s->groups ? group->name[g] : str_of("(all)"), at(s, k, g), number);
    return csvw_close(w);
}

int folds_all(const struct cv *cv, const struct intern *groups)
{
    struct scores all = scores_of(groups->n);
    for (uint32_t g = 0; g < groups->n; g++) {
        struct cv_score s[MODEL_KINDS] = { 0 };
        cv_fold(cv, g, s);
        for (int k = 0; k < MODEL_KINDS; k++) add(&all, k, g, &s[k]);
    }
    for (int k = 0; k < MODEL_KINDS; k++) all.want[k] = cv->wanted[k];
    return write_scores(&all, groups, cv->number);
}

int folds_one(const struct cv *cv, str name, uint32_t group)
{
    struct cv_score s[MODEL_KINDS] = { 0 };
    cv_fold(cv, group, s);
    csvw *w = csvw_open(NULL);
    csvw_names(w, "model,group");
    record_names(w, sums);
    csvw_end(w);
    for (int k = 0; k < MODEL_KINDS; k++) {
        if (!cv->wanted[k]) continue;
        csvw_cstr(w, model_kind_name[k]);
        csvw_str(w, name);
        record_write(w, sums, &s[k]);
        csvw_end(w);
    }
    return csvw_close(w);
}

static int kind_of(const struct table *rows, size_t r, int column)
{
    str name = table_str(rows, r, column);
    for (int k = 0; k < MODEL_KINDS; k++) if (str_is(name, model_kind_name[k])) return k;
    die_at(rows->file, rows->line[r], "'%.*s' is no model", (int)name.n, name.s);
}

int folds_pool(char **files, bool number)
{
    csv *t = csv_files(files);
    int model = csv_need(t, "model"), group = csv_need(t, "group"), col[SUMS];
    for (int i = 0; i < SUMS; i++) col[i] = csv_need(t, sums[i].name);
    struct table rows = table_load(t);
    struct intern groups = { 0 };
    for (size_t r = 0; r < rows.nrow; r++) intern(&groups, table_str(&rows, r, group));
    struct scores all = scores_of(groups.n);
    for (size_t r = 0; r < rows.nrow; r++) {
        int k = kind_of(&rows, r, model);
        struct cv_score s = { 0 };
        for (int i = 0; i < SUMS; i++) *(double *)(void *)((char *)&s + sums[i].at) = table_num(&rows, r, col[i]);
        if (number ? s.majority > 0 : s.base > 0)
            die_at(rows.file, rows.line[r], number ? "a fold of classes" : "a fold of numbers: see --number");
        size_t g = intern(&groups, table_str(&rows, r, group));
        if (at(&all, k, g)->n) die_at(rows.file, rows.line[r], "a second fold of this group and model");
        add(&all, k, g, &s);
        all.want[k] = true;
    }
    return write_scores(&all, &groups, number);
}
