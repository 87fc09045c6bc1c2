#!/bin/bash
. "$(dirname "$0")/tap.sh"
# Three programs of eight builds whose time is 1 an instruction and 14 a misprediction, by the definition of the model:
# log ratio = sum of weights x differences.  Instructions alone rank them otherwise.
events="instructions data_reads data_writes fetch_misses read_misses write_misses last_misses branches indirect_branches mispredictions"
{
    echo run,label,metric,value
    echo phase,round,benchmark,label,position,cpu_seconds,wall_seconds,status > runs.csv
    for p in a b c; do
        for l in 0 1 2 3 4 5 6 7 8; do
            i=$((100000 - l * 700)) m=$((l == 0 ? 1000 : 1000 + (l * 5 + ${#p} + l * l) % 7 * 90))
            for e in $events; do
                case $e in instructions) v=$i ;; mispredictions) v=$m ;; *) v=5000 ;; esac
                echo "$p.1,v$l,$e,$v"
            done
            for r in 0 1 2 3; do
                s=$(echo "e(($i - 100000) / 100000 + 14 * ($m - 1000) / 100000 + $r)" | bc -l)
                echo "main,$r,$p.1,v$l,$l,$s,$s,ok" >> runs.csv
            done
        done
    done
} > exact.csv
inline-cost --base=v0 --penalty=0 --runs=runs.csv --weights=w.csv exact.csv > out.csv
is 'programs, and their mean' $'a,8\nb,8\nc,8\n(mean),24' bash -c 'csv-cut -c program,builds out.csv | tail -n +2'
is 'the cost ranks builds of a program it was not fitted to as the time does' 4 bash -c 'csv-where -c rank_cost --min=0.999999 out.csv | tail -n +2 | wc -l'
is 'instructions do not' 0 bash -c 'csv-where -c rank_instructions --min=0.9 out.csv | tail -n +2 | wc -l'
is 'nor is its error' 4 bash -c 'csv-where -c error_cost --max=1e-6 out.csv | csv-where -c error_instructions --min=0.01 | tail -n +2 | wc -l'
is 'both halves of the rounds say the same' 4 bash -c 'csv-where -c rank_halves --min=0.999999 out.csv | tail -n +2 | wc -l'
is 'draws of builds rank as they do' 4 bash -c 'csv-calc --where="lower_cost > 0.999999 && upper_cost <= 1" out.csv | tail -n +2 | wc -l'
is 'and the cost surely gains in the mean, though no program has builds enough' '0 0 0 1' bash -c 'csv-calc --print="lower_gain > 0" out.csv | xargs'
is 'intervals hold what they are of' 4 bash -c 'csv-calc --where="abs(lower_gain - (1 - upper_instructions)) < 1e-9 &&
    lower_instructions <= rank_instructions && rank_instructions <= upper_instructions" out.csv | tail -n +2 | wc -l'
is 'the draws are those of a seed' same bash -c 'draw() { inline-cost --seed=$1 --base=v0 --penalty=0 --runs=runs.csv exact.csv; }
    draw 7 > s.7 && draw 7 | cmp -s - s.7 && ! draw 8 | cmp -s - s.7 && echo same'
is 'a misprediction costs 14 instructions' 1 bash -c 'csv-where -c event --is=mispredictions w.csv | csv-where -c weight --min=13.9999 | csv-where -c weight --max=14.0001 | tail -n +2 | wc -l'
inline-cost --base=v0 --runs=runs.csv exact.csv > chosen.csv
is 'a penalty that was chosen keeps to what the times say' 4 bash -c 'csv-where -c rank_cost --min=0.99 chosen.csv | tail -n +2 | wc -l'
inline-cost --base=v0 --penalty=1e6 --runs=runs.csv --weights=w.csv exact.csv > prior.csv
is 'what they may not say is as instructions say' 1,0 bash -c "csv-calc --set='weight=round(weight * 1000) / 1000' w.csv |
    csv-where -c event --is=instructions --is=mispredictions | csv-calc --print=weight | paste -sd,"
is 'and so are the ranks' "$(csv-calc --print=rank_instructions prior.csv)" csv-calc --print=rank_cost prior.csv
fails 'one program is not enough' 1 'builds of 1 programs' bash -c 'grep "^run\|^a" exact.csv | inline-cost --base=v0 --runs=runs.csv'
fails 'a base that is not there' 1 "no label 'O2'" inline-cost --runs=runs.csv exact.csv
fails 'no rounds' 2 'see --runs' inline-cost exact.csv
done_testing
