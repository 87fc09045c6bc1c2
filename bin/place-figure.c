/* place-figure - the tables of the study's figures from the results of runs
 *
 * Usage: place-figure --figure=7|8|9|10|11|12 [--price=X] [RESULTS]
 *
 * Columns in: those of place-record; the last row of a network, batch,
 * formulation and ratio counts.  Rows out are in the order of the input.
 * A step's time is that of the fastest, as in the study, since what others do
 * can only slow a step down; 8 and 12: the median.  A ratio of times is that of
 * the rounds (round_seconds) by pairs: the Hodges-Lehmann estimate, with lower
 * and upper the exact 95 % interval; empty below six rounds.  reached_ratio is
 * that of the pools; ratio_off (1: more than 5 % from the ratio, also said on
 * stderr).
 * 7: network, batch, formulation (numa, static, sync, async, fast), ratio,
 *   step_seconds, speedup_over_slow_ratio, lower_ratio, upper_ratio,
 *   loss_ratio (1 - all-fast / step time), lower_loss_ratio, upper_loss_ratio,
 *   least_loss_ratio (by the plan's bound: less cannot be lost), rounds,
 *   reached_ratio, ratio_off, kind.  The row of formulation slow has speed-up 1,
 *   that of fast is the line no plan can cross.
 * 8: network, batch, formulation, ratio, step_seconds, control, control_seconds,
 *   speedup_over_control_ratio, lower_ratio, upper_ratio, given_bytes, kind.
 *   Rows with median_seconds: the control is the row of formulation paged, of
 *   the same network and batch (empty: there is none, the system ended it).
 *   Others are planned: by predicted_seconds, and the control is the row of
 *   formulation cache, from place-cache.
 * 9: network, batch, formulation (sync, async), ratio, performance_ratio
 *   (all-fast over step time), lower_ratio, upper_ratio, cost_ratio (of memory
 *   against all fast, when fast costs --price times slow), rounds,
 *   reached_ratio, ratio_off, kind.
 * 10: network, batch, formulation, ratio, fast_memory_bytes (the limit, and
 *   what lies outside the pools), default_bytes (of everything), slowdown_ratio
 *   (over all fast), lower_ratio, upper_ratio, fast_input_ratio and
 *   fast_output_ratio (operand bytes in fast memory), moved_to_slow_bytes,
 *   moved_to_fast_bytes, rounds, reached_ratio, ratio_off, kind.
 * 11: network, batch, formulation, ratio, predicted_seconds, step_seconds,
 *   error_ratio ((predicted - measured) / measured), beyond_third (1: off by
 *   more than a third, also said on stderr), kind.
 * 12: network, batch, formulation (sync, async), ratio, step_seconds,
 *   managed_seconds (managed memory), oracle_seconds (no moves, any workspace),
 *   speedup_over_managed_ratio (of the fastest step, as in the study),
 *   lower_ratio (of the slowest), oracle_ratio (what the oracle would reach),
 *   kind.
 * Memory: a few numbers for each row.
 *
 * Examples:
 *   $ place-figure --figure=7 out/place/results.csv
 */
#include "base/filter.h"
#include "place/figures.h"
#include HELP

static int figure = -1;
enum { FIRST_FIGURE = 7 };
static double price = 2.1;
static const struct opt options[] = {
    { 0, "figure", WORD, &figure, "7|8|9|10|11|12", "which one" },
    { 0, "price", NUM, &price, "X", "figure 9: of fast memory, a byte of slow memory being 1", 1e-3, 1e6 },
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (figure < 0) usage("no figure given, see --figure");
    int number = FIRST_FIGURE + figure;
    struct results *all = results_read(filter_operand(argc, argv, i), number, price);
    csvw *w = csvw_open("-");
    figure_write(w, all, number);
    return csvw_close(w);
}
