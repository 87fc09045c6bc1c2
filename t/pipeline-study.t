#!/bin/bash
# the targets flambda-decisions, flambda-trees and flambda-features on a small directory of the study's layout
. "$(dirname "$0")/tap.sh"
data=$T/data
mkdir -p "$data"/decisions-v0/{0,1} "$data"/decisions-v1 "$data"/features-v3 "$data"/training-logs/lasso_star
i=0
for g in 0 1; do
    for x in true false; do
        for y in true false; do
            echo "((id $i) (decisions ((((At_call_site TOP_LEVEL 0 ((A camlA) f 1))) ((A camlA) f 1) $x)
                (((At_call_site TOP_LEVEL 1 ((A camlA) g' 2))) ((A camlA) g' 2) $y))) (benchmark ((raw_execution_time (1.$((i + g))s 1.${i}s)))))" > "$data/decisions-v0/$g/results_$((i % 4)).sexp"
            i=$((i + 1))
        done
    done
done
echo '((0 ((At_call_site (() ((A camlA) (Plain_apply 3) ()) (() () ((A camlA) f 1) () ())))) ((A camlA) (Plain_apply 3) ()) Inline (() () ((A camlA) f 1) () ()))
 (1 ((At_call_site (() ((A camlA) (Plain_apply 4) ()) (() () ((A camlA) f 1) () ())))) ((A camlA) (Plain_apply 4) ()) Apply (() () ((A camlA) f 1) () ())))' > "$data/decisions-v1/a.sexp"
row() { echo "(((int_features())(numeric_features((size $1)(dead 7)))(bool_features((y true))))(((inline(((immediate 0)(long_term $2))))(no_inline(0)))))"; }
echo "($(row 1 0.5) $(row 1 -0.5) $(row 3 0.25) $(row 3 0))" > "$data/features-v3/p.sexp"
echo "p,correct = INLINE,predicted = APPLY,0.5,0.0,metadata = ['/Apply(camlA__Apply[1])']" > "$data/training-logs/lasso_star/correct.log"
echo "p,correct = APPLY,predicted = APPLY,-0.5,0.0,metadata = ['/Apply(camlA__Apply[2])']" > "$data/training-logs/lasso_star/incorrect.log"
run() { make -s -C "$root" B="$B" BIN="$BIN" OUT="$T/$1" DATA="$data" FLAMBDA_GAMMAS=0.5 FLAMBDA_LAMBDAS=0.05 FLAMBDA_ALPHAS='0.001 cv' flambda-decisions flambda-trees flambda-features; }
run out > log 2>&1 || cat log
fact() { grep -F "$2," "$T/out/flambda/$1.csv" | head -1 | sed 's/.*,//'; }
is 'eight runs of four variants, three nodes, five columns, rank 3' '8 4 3 5 3' echo "$(fact decisions n_runs,all) $(fact decisions n_distinct,all) $(fact decisions n_nodes,all) $(fact decisions n_columns,all) $(fact decisions rank,all)"
ok 'ridge and lasso are there, by their settings' grep -q '^lasso_objective,gamma=0.5 lambda=0.001 target=log_over_mean,[0-9.]*$' out/flambda/decisions.csv
ok 'with the value of the best decisions' grep -q '^ridge_value,gamma=0.5 lambda=0.05 target=tanh_over_mean,[-0-9.e]*$' out/flambda/decisions.csv
is 'trees by round' '1 1 1 0 1' echo "$(fact trees n_decisions_round_0,a.sexp) $(fact trees n_decisions_round_1,a.sexp) $(fact trees n_inlined,a.sexp) $(fact trees n_apply,a.sexp) $(fact trees depth,a.sexp)"
is 'features: rows, both rewards, columns, distinct ones' '4 4 2 1 1 2' echo "$(fact features n_rows,) $(fact features n_both,) $(fact features n_numeric,) $(fact features n_bool,) $(fact features n_numeric_kept,) $(fact features n_distinct,)"
# inline and apply share the vector of size 1, inline and neither that of size 3
is 'no function of the features is right on more than half' '0.5' fact features ceiling,lasso
is 'labels of the log' '1 1' echo "$(fact features n_inline,lasso_star) $(fact features n_apply,lasso_star)"
run again > log 2>&1 || cat log
ok 'a second run gives the same bytes' diff -r -x settings -x '*.lock' out again
rm -r "$data/training-logs"
make -s -C "$root" B="$B" BIN="$BIN" OUT="$T/few" DATA="$data" flambda-features > log 2>&1
ok 'features without logs of training: said' grep -q 'no training-logs in DATA=.*left out' log
is 'and all but their rows are there' "$(grep -v ,lasso_star, out/flambda/features.csv)" \
    cat few/flambda/features.csv
fails 'without data it says so' 2 'no decisions-v0 in DATA=' make -s -C "$root" B="$B" BIN="$BIN" OUT="$T/none" DATA="$T/none" flambda-decisions
done_testing
