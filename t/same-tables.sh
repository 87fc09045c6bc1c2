#!/bin/bash
# same-tables.sh BASE [WORK] - are the exact tables of all pipelines, byte for byte, those of the tree at commit BASE?
#
# Builds BASE beside this tree and runs the same commands and pipelines, small, with fixed seeds and the same inputs, in
# both.  Columns that hold measured times are left out by name, here; what was only renamed is named here too.  Prints a
# row a table: bytes, same or differs.  Exit 1: some differ; both are kept under WORK to be looked at.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
base=${1:?a commit is wanted} work=${2:-$root/build/same}
mkdir -p "$work/in" && cd "$work" || exit 2
[ -d base ] || git clone -q "$root" base || exit 2
git -C base checkout -q "$base" && make -s -C base CC="${CC:-cc}" > base.log 2>&1 || { tail -5 base.log >&2; exit 2; }

# ---- the same inputs for both
runs() { awk 'BEGIN { srand(7); print "label,benchmark,round,wall_seconds,cpu_seconds"
    for (b = 0; b < 3; b++) for (r = 0; r < 20; r++) for (l = 0; l < 3; l++)
        printf "%s,b%d,%d,%.6f,%.6f\n", substr("abc", l + 1, 1), b, r, x = 1 + b + .01 * l + .02 * rand(), x * .9 }'; }
examples() { awk 'BEGIN { srand(3); print "g,class,y,u,v,flag,w"
    for (i = 0; i < 200; i++) { u = rand(); v = rand(); f = rand() < .5
        printf "g%d,%s,%.6f,%.6f,%.6f,%s,%d\n", i % 10, (u + v > 1 ? "yes" : "no"), 3 * u - v + f + .1 * rand(), u, v, (f ? "true" : "false"), i % 7 } }'; }
events() { printf '%s\n' 'proc,phase,tid,kind,cat,name,start_ns,end_ns' 'p,0,1,cat,Python,,0,1000' 'p,0,1,cat,C,f,100,400' \
    'p,0,1,cat,C,g,300,350' 'p,0,1,op,,train,50,900' 'p,0,1,op,,step,120,300' 'p,0,0,gpu,GPU,k,200,600' 'p,0,1,ovh,ovh,h,410,420'; }
study() { # the layout of the data of 2018, small
    local i=0 g x y b p w
    mkdir -p study/decisions-v0/{0,1} study/decisions-v1 study/features-v3 study/training-logs/lasso_star study/pca-data
    for g in 0 1; do for x in true false; do for y in true false; do
        echo "((id $i) (decisions ((((At_call_site TOP_LEVEL 0 ((A camlA) f 1))) ((A camlA) f 1) $x)
            (((At_call_site TOP_LEVEL 1 ((A camlA) g' 2))) ((A camlA) g' 2) $y))) (benchmark ((raw_execution_time (1.$((i + g))s 1.${i}s)))))" \
            > study/decisions-v0/$g/results_$((i % 4)).sexp
        i=$((i + 1))
    done; done; done
    echo '((0 ((At_call_site (() ((A camlA) (Plain_apply 3) ()) (() () ((A camlA) f 1) () ())))) ((A camlA) (Plain_apply 3) ()) Inline (() () ((A camlA) f 1) () ())))' \
        > study/decisions-v1/a.sexp
    row() { echo "(((int_features())(numeric_features((size $1)(dead 7)))(bool_features((y true))))(((inline(((immediate 0)(long_term $2))))(no_inline(0)))))"; }
    echo "($(row 1 0.5) $(row 1 -0.5) $(row 3 0.25) $(row 3 0))" > study/features-v3/p.sexp
    echo "p,correct = INLINE,predicted = APPLY,0.5,0.0,metadata = ['/Apply(camlA__Apply[1])']" > study/training-logs/lasso_star/correct.log
    echo "p,correct = APPLY,predicted = APPLY,-0.5,0.0,metadata = ['/Apply(camlA__Apply[2])']" > study/training-logs/lasso_star/incorrect.log
    for b in kb sieve; do
        mkdir -p study/results/$b/plugins-valid
        for p in nothing fast; do
            for w in 1 2 3; do echo "w$w,o,r,9s,$([ $p = fast ] && echo 1 || echo 2).${w}s,1.${w}s"; done > study/results/$b/plugins-valid/plugin_$p.csv
        done
        for i in 0 1; do echo "/r/initial/$i/x,h,$(seq -s, $i $((i + 46))),100,4.$i"; done > study/pca-data/$b.csv
        for i in 1 2 3 4; do echo "/r/$i/0/x,h,$((i * i)),$(seq -s, $i $((i + 45))),$((100 + i)),3.$i"; done >> study/pca-data/$b.csv
    done
}
( cd in && runs > runs.csv && examples > examples.csv && events > events.csv && study && printf 'problem\n(mm 64 48 32)\n(mm 50 30 20)\n' > problems.csv )

# ---- what is run in each: NAME and a command that writes the table, with $in
commands() { cat <<'END'
bench-compare   bench-compare --base=a --metric=cpu $in/runs.csv
bench-stat      bench-stat -g benchmark --metric=wall $in/runs.csv
bench-guard     bench-guard --base=a --metric=cpu $in/runs.csv
bench-hyperfine bench-emit --to=hyperfine $in/runs.csv | bench-import --from=hyperfine
csv-group       csv-group -g label -c wall_seconds --stat=n,mean,sd,min,max $in/runs.csv
csv-pivot       csv-cut -c label,benchmark,round,cpu_seconds $in/runs.csv | csv-pivot -k benchmark,round --names=label --values=cpu_seconds
csv-sort        csv-sort -k wall_seconds:nr $in/runs.csv
csv-join        csv-cut -c benchmark,label,round,cpu_seconds $in/runs.csv | csv-join -k benchmark,label,round $in/runs.csv -
fit-ridge       fit-ridge -y y -x u,v,flag,w $in/examples.csv
fit-lasso       fit-lasso -y y -x u,v,flag,w --select=cv -g g $in/examples.csv
fit-logistic    fit-logistic -y class -x u,v,flag,w $in/examples.csv
fit-mlp         fit-mlp -y class -x u,v,flag,w --hidden=8 $in/examples.csv
fit-boost       fit-boost -y class -x u,v,flag,w --rounds=20 $in/examples.csv
fit-cv          fit-cv -y class -g g -x u,v,flag,w $in/examples.csv
fit-split       fit-split -g g --test=0.3 --exact $in/examples.csv
fit-pca         csv-cut -c u,v,w $in/examples.csv | fit-pca --table=scores
cartpole        fit-cartpole --steps=3000 -o cartpole.net > curve; cat curve
graph           place-net vgg19 --batch=2
profile         place-net vgg19 --batch=2 > g && place-cost --model=optane g > p && cp -n g p $in/ && cat p
plan-static     place-plan -f static --ratio=4:1 -p $in/p --rounds=50 --steps=200 $in/g
plan-sync       place-plan -f sync --ratio=4:1 -p $in/p --rounds=50 --steps=200 $in/g
plan-numa       place-plan -f numa --ratio=4:1 -p $in/p $in/g
place-stat      place-stat $in/g
place-lp        place-plan --lp -f sync --ratio=4:1 -p $in/p $in/g
place-cache     place-cache --ratio=4:1 $in/g
place-step      place-plan -f fast -p $in/p $in/g > plan && place-run --plan=plan --tier=dram --steps=1 --warm=0 $in/g
loop-search     for a in greedy2 beam2dfs beam2bfs random anneal heuristic; do loop-search --algo=$a --eval=model --seconds=0.05 --seed=3 $in/problems.csv; done
loop-observe    loop-search --algo=greedy1 --eval=model --seconds=0.05 $in/problems.csv | loop-observe
loop-gen        loop-gen --kind=mm --m=64:192:64 --n=64:128:64 --k=64 && loop-gen --set=resnet50
loop-train      loop-train --algo=dqn --eval=model --steps=600 -o policy $in/problems.csv > curve && cat policy
loop-roll       loop-roll --policy=policy --eval=model $in/problems.csv
prof-sweep      prof-sweep $in/events.csv
prof-view       prof-sweep $in/events.csv | prof-view --view=category
prof-venn       prof-sweep $in/events.csv | prof-view --view=venn
prof-emit       prof-emit --to=chrome -o e.json $in/events.csv && prof-import --from=chrome e.json
END
}
# pipelines: each writes into out/; names of targets before, now
study_of() { make -s -C "$tree" OUT="$here/out" DATA="$in/study" "${study_words[@]}"; }
demo_of() { mkdir -p "$here/out" && make -s -C "$tree" SCALE=ci OUT="$here/out" "${demo_words[@]}" "$here/out/inline${live}demo/built"; }

one_side() { # TREE, where
    tree=$1 here=$work/$2 in=$work/in
    rm -rf "$here" && mkdir -p "$here/table" && cd "$here" || exit 2
    export PATH=$tree/bin:$PATH LC_ALL=C
    while read -r name command; do ( set -o pipefail; eval "$command" ) > "table/$name" 2> "table/$name.why" || echo "$2: $name failed: $(tail -1 "table/$name.why")" >&2; done < <(commands)
    local study_words=(INLINE_GAMMAS=0.5 FLAMBDA_GAMMAS=0.5 INLINE_LAMBDAS=0.05 FLAMBDA_LAMBDAS=0.05 INLINE_ALPHAS=0.001 FLAMBDA_ALPHAS=0.001) live=/
    local demo_words=(LIVE_EVALS=10 LIVE_SIZE=10)
    [ ! -e "$tree/pipelines/names.mk" ] || demo_words=(INLINE_EVALS=10 INLINE_SIZE=10)
    ! grep -q INLINE_STUDY_EVALS "$tree"/pipelines/*.mk || demo_words=(INLINE_STUDY_EVALS=10 INLINE_STUDY_SIZE=10) live=-study/
    if [ -e "$tree/pipelines/flambda.mk" ]; then study_words+=(flambda-decisions flambda-trees flambda-features flambda-policies flambda-pca)
    else study_words+=(inline-decisions inline-trees inline-features inline-policies pca) live=/live/; fi
    study_of > study.log 2>&1 || { echo "$2: the study failed:" >&2; tail -3 study.log >&2; }
    demo_of > demo.log 2>&1 || { echo "$2: make inline failed:" >&2; tail -3 demo.log >&2; }
    local study=out/flambda; [ -d $study ] || study=out/inline
    for t in decisions trees features policies policies-summary pca pca-points; do cp "$study/$t.csv" "table/study-$t" 2> /dev/null; done
    for t in history.csv learned.sexp rewards.csv sites.csv; do cp "out/inline${live}demo/$t" "table/inline-$t" 2> /dev/null; done
}
# columns that both have (rows of a log, which come as jobs end, and of item,key,value in order of their bytes), without what is measured: times, counts that depend on the user's environment (all before
# bench-count fixed it), what is estimated from them, and names of a machine
columns_of() { head -n1 "$1" | tr , '\n' | sort; }
kept() { comm -12 <(columns_of before/table/$1) <(columns_of after/table/$1) | case $1 in
    place-step) grep -xE 'step|loss|moves|fast_bytes' ;;
    loop-search | loop-roll) grep -vx seconds ;;
    inline-history.csv) grep -xE 'program|decisions|state|text_bytes|inlined|output_hash' ;;
    inline-rewards.csv) grep -xE 'site' ;;
    *) cat ;;
esac | paste -sd,; }
exact() { # NAME SIDE
    case $(head -c1 $2/table/$1) in
    '(' | '{' | '\\') sed -e 's/(millrace [^)]*)//' $2/table/$1 ;;
    *) csv-cut -c "$(kept $1)" $2/table/$1 | { [[ $1 == *-history* || $1 == study-* ]] && sort || cat; } | sed 's/,model$/,simulated/; s/,model,/,simulated,/' ;;  # renamed: simulated
    esac
}
( one_side "$work/base" before ) ; ( one_side "$root" after )
cd "$work" && PATH=$root/bin:$PATH
echo table,bytes,answer
for f in before/table/* after/table/*; do echo "${f##*/}"; done | grep -v '\.why$' | sort -u | while read -r name; do
    exact "$name" before > a 2> why || echo "(refused: $(tail -1 why))" >> a
    exact "$name" after > b 2> why || echo "(refused: $(tail -1 why))" >> b
    if [ ! -s a ] || [ ! -s b ]; then answer=empty; elif cmp -s a b; then answer=same; else answer=differs; fi
    echo "$name,$(wc -c < b),$answer"
    [ $answer = same ] || echo "$name" >> differing.$$
done
[ ! -e differing.$$ ] || { rm differing.$$; exit 1; }
