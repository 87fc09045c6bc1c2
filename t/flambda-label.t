#!/bin/bash
. "$(dirname "$0")/tap.sh"
cat > l.csv <<'C'
site,long_term,no_inline
a,0.5,0.25
b,0.25,0.5
c,-0.5,1e-9
d,1e-9,-0.5
e,1e-9,0
f,,0.5
C
is 'lasso: the larger, the sign of the only one, or neither' 'site,long_term,no_inline,label
a,0.5,0.25,inline
b,0.25,0.5,apply
c,-0.5,1e-9,apply
d,1e-9,-0.5,inline
e,1e-9,0,doesnt_matter' flambda-label --rule=lasso l.csv
is 'ridge: closer than tau does not matter' 'site,long_term,no_inline,label
a,0.5,0.25,inline
b,0.25,0.5,apply
c,-0.5,1e-9,apply
d,1e-9,-0.5,inline
e,1e-9,0,doesnt_matter
f,,0.5,' flambda-label --rule=ridge --tau=0.1 --all l.csv
is 'shares for many taus' 'rule,tau,n_rows,doesnt_matter,inline,apply,doesnt_matter_ratio,inline_ratio,apply_ratio
ridge,0.1,5,1,2,2,0.2,0.4,0.4
ridge,0.3,5,3,1,1,0.6,0.2,0.2' flambda-label --rule=ridge --tau=0.1 --tau=0.3 --count l.csv
fails 'many taus make no labels' 2 'need --count' flambda-label --rule=ridge --tau=0.1 --tau=0.3 l.csv
fails 'the rule must be said' 2 'see --rule' flambda-label l.csv
fails 'text is no reward' 1 ":2: column 'no_inline': 'x'" bash -c "printf 'long_term,no_inline\n1,x\n' | flambda-label --rule=lasso"
if [ -n "${MILLRACE_DATA:-}" ] || [ -d "$root/../shared/data" ]; then
    need_data inline/training-logs
    logs=$DATA/inline/training-logs
    for k in star:3592,492,304 general:3907,270,211 hand:3925,290,173; do
        is "published counts of the lasso labels, ${k%:*}" "${k#*:}" bash -c "flambda-sites --kind=log '$logs'/lasso_${k%:*}/{correct,incorrect}.log | flambda-label --rule=lasso --count | sed -n '2s/^lasso,,4388,\([0-9]*,[0-9]*,[0-9]*\),.*/\1/p'"
        is "and every single one of them" 0 bash -c "flambda-sites --kind=log '$logs'/lasso_${k%:*}/{correct,incorrect}.log | flambda-label --rule=lasso |
            sed 's/\"[^\"]*\"//' | awk -F, 'NR > 1 { got = \$NF; gsub(\"doesnt\", \"DOESNT\", got); wrong += toupper(got) != \$(NF - 2) } END { print wrong }'"
    done
    flambda-sites --kind=log "$logs"/ridge_moe/{correct,incorrect}.log | flambda-label --rule=ridge --count -T 0.00001 -T 0.00005 -T 0.0001 -T 0.0005 -T 0.001 -T 0.005 -T 0.01 -T 0.05 | awk -F, 'NR > 1 { print $7 "," $8 "," $9 }' > shares
    is 'the eight published rows of ridge-star, to the last digit' "$(awk -F' , ' '/^ridge-star/ { print $3 "," $4 "," $5 }' "$DATA/inline/class_distribution.csv")" cat shares
fi
fails 'labelled before' 1 "two columns would be called 'label'" bash -c 'flambda-label --rule=lasso l.csv | flambda-label --rule=lasso'
done_testing
