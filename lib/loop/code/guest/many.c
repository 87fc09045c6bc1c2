/* Any number of rows of a product whose weights are packed: a block of columns after the other, all rows of each, by
 * kernels of about as many of them. */
int carry_run_rows(int64_t rows, void *c, const void *a, const void *b, const void *more, const void *residual,
                   const struct carry_rows *q, struct carry_state *s)
{
    const struct carry_kernel *all = (const struct carry_kernel *)(const void *)((const char *)q + q->at[0]);
    const struct carry_change *to = &layout(all, s)->change[1];
    const int64_t most = chosen(all, s) ? q->most : 1, n = (rows + most - 1) / most;     /* plain loops fill all of C */
    int bad = 0;
    for (int64_t j = 0; j < q->columns * q->blocks; j += q->columns)
        for (int64_t i = 0; i < n && !bad; i++) {
            const int64_t from = rows * i / n, some = rows * (i + 1) / n - from;
            bad = carry_run_then((char *)c + from * q->row[0] + j * q->column[0],
                                 (const float *)(const void *)((const char *)a + from * q->row[1]),
                                 (const float *)b + (j ? j / to->size[2] * to->to[0] : 0),
                                 more ? (const float *)more + j : 0,
                                 residual ? (const float *)residual + from * q->row[2] + j : 0,
                                 (const struct carry_kernel *)(const void *)((const char *)q + q->at[some]), s);
        }
    return bad;
}
