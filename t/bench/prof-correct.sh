#!/bin/bash
# prof-correct.sh - ten programs, recorded at three densities, against the same programs not recorded: t/bench/prof-correct.sh DIR [REPEATS] [ROUNDS]
#
# Densities: few (chosen C functions), calls (every C function of a module), tree (every Python
# function and every builtin as well).  A repeat of the experiment
# is ROUNDS rounds; a round runs each program in random order, three times: not recorded and at each density, in full and at half its length.  Of
# three the least counts: on a shared machine one run in eight takes up to half as long again, and a disturbance only ever adds.
#   calibration   from the half length: what a call costs is (recorded - not recorded) / calls, round by round, mean and deviation by prof-calibrate
#   correction    of the whole: mean of the recorded runs less cost times calls, by prof-correct, with the error of both
#   truth         mean of the whole runs that were not recorded, in the same rounds; its error belongs to the interval too
# So no run is used twice, and the interval is one for the difference of two measured means: a sound one holds 0 in 95 % of the repeats.  Times
# are CPU times of the measured part, so that other processes count little; starting the interpreter and the recorder is left out.  Also by costs
# measured once, in tight loops (calibration.sexp of make prof, CALIBRATION=): transferred_ratio shows how well those carry over.
# Resumable: rows of runs.csv are never measured again; LIMIT=SECONDS stops in time, exit 3.  Results: DIR/repeats.csv, DIR/table.csv.
set -euo pipefail
dir=$1 repeats=${2:-4} rounds=${3:-5} ways='few calls tree'
here=$(cd "$(dirname "$0")/../.." && pwd)
script=${B:-$here/build}/prof/millrace_programs.py python=${PYTHON:-/usr/bin/python3}
export PATH=${BIN:-$here/bin}:$PATH PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1 LC_ALL=C
mkdir -p "$dir/count"
$python "$script" --list > "$dir/programs"
[ -z "${PROGRAMS:-}" ] || { grep -E "^(${PROGRAMS// /|})," "$dir/programs" > "$dir/programs.part"; mv "$dir/programs.part" "$dir/programs"; }
log=$dir/log

run() { # NAME UNITS FEW WAY -> cpu_ns,wall_ns
    local how=()
    case $4 in
    bare) $python "$script" "$1" "$2"; return ;;
    few) how=(--wrap="$3") ;; calls) how=(--wrap='*') ;; tree) how=(--wrap='*' --tree) ;;
    esac
    prof-record --quiet --force --wait --bare "${how[@]}" -o "$log" "$script" "$1" "$2"
}
# how many calls, and the profile's own total beside the clock: once for each program, density and length
while IFS=, read -r name units few; do
    for way in $ways; do
        for part in full half; do
            at=$dir/count/$name.$way.$part
            [ -s "$at.clock" ] && continue
            n=$units; [ $part = full ] || n=$((units / 2))
            clock=$(run "$name" "$n" "$few" "$way")
            prof-log --quiet "$log" | prof-op | prof-sweep --hooks="$at.all" | awk -F, 'NR == 1 || $2 == "measured"' > "$at.cells"
            awk -F, 'NR == 1 || $2 == "measured"' "$at.all" > "$at.hooks"
            rm "$at.all"
            echo "$clock" > "$at.clock"
        done
    done
done < "$dir/programs"

[ -e "$dir/runs.csv" ] || echo program,repeat,round,way,part,try,cpu_ns,wall_ns > "$dir/runs.csv"
runs=$(( $(wc -l < "$dir/programs") * 24 ))
for ((repeat = 1; repeat <= repeats; repeat++)); do
    for ((round = 1; round <= rounds; round++)); do
        [ "$(awk -F, -v a="$repeat" -v b="$round" '$2 == a && $3 == b' "$dir/runs.csv" | wc -l)" -lt "$runs" ] || continue
        while IFS=, read -r name units few; do
            ! grep -q "^$name,$repeat,$round," "$dir/runs.csv" || continue
            [ -z "${LIMIT:-}" ] || [ "$SECONDS" -lt "$LIMIT" ] || { echo "prof-correct.sh: $SECONDS s, repeat $repeat, round $round; run again to go on" >&2; exit 3; }
            # a program's rows of a round are written together
            rows=$(for try in 1 2 3; do for part in full half; do for way in bare $ways; do echo "$way $part $try"; done; done; done |
                shuf --random-source=<(yes "$name $repeat $round") | while read -r way part try; do
                    n=$units; [ "$part" = full ] || n=$((units / 2))
                    echo "$name,$repeat,$round,$way,$part,$try,$(run "$name" "$n" "$few" "$way" < /dev/null)"
                done)
            printf '%s\n' "$rows" >> "$dir/runs.csv"
        done < "$dir/programs"
    done
done
rm -rf "$log"

# ---- each repeat by itself
t=$dir/work
mkdir -p "$t"
echo program,density,repeat,raw_ratio,corrected_ratio,low_ratio,high_ratio,covered,transferred_ratio > "$dir/repeats.csv.part"
while IFS=, read -r name units few; do
    for way in $ways; do
        at=$dir/count/$name.$way
        calls() { awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) k[$i] = i; next } { n += $k["begun"] } END { print n + 0 }' "$at.$1.hooks"; }
        half=$(calls half)
        # what is calibrated is the recording of a call, be it by one hook or by several
        awk -F, -v OFS=, 'NR > 1 { $5 = "any" } 1' "$at.full.hooks" > "$t/hooks.csv"
        for ((repeat = 1; repeat <= repeats; repeat++)); do
            awk -F, -v p="$name" -v r="$repeat" -v w="$way" -v calls="$half" -v t="$t" '
                BEGIN { pairs = t "/pairs.csv"; rec = t "/recorded.csv"; bare = t "/bare.csv"
                        print "hook,calls,uninstrumented_ns,instrumented_ns" > pairs; print "total_ns" > rec; print "total_ns" > bare }
                $1 == p && $2 == r && ($4 == w || $4 == "bare") { k = $4 SUBSEP $5 SUBSEP $3; if (!(k in v) || $7 < v[k]) v[k] = $7; if ($3 > m) m = $3 }
                END { for (i = 1; i <= m; i++) { print v[w, "full", i] > rec; print v["bare", "full", i] > bare
                      print "any," calls "," v["bare", "half", i] "," v[w, "half", i] > pairs } }' "$dir/runs.csv"
            prof-calibrate --quiet "$t/pairs.csv" > "$t/calibration.sexp" 2> "$t/warnings"
            prof-correct --total --calibration="$t/calibration.sexp" --hooks="$t/hooks.csv" --repeats="$t/recorded.csv" --against="$t/bare.csv" \
                "$at.full.cells" > "$t/own.csv"
            echo "$name,$way,$repeat,$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) k[$i] = i; next }
                { printf "%.5f,%.5f,%.5f,%.5f,%d", $k["raw_ns"] / $k["true_ns"], $k["corrected_ratio"], $k["low_ratio"], $k["high_ratio"], $k["covered"] }' "$t/own.csv"),$(
                [ -z "${CALIBRATION:-}" ] || {
                    prof-correct --quiet --total --calibration="$CALIBRATION" --hooks="$at.full.hooks" --repeats="$t/recorded.csv" --against="$t/bare.csv" "$at.full.cells" |
                    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) k[$i] = i; next } { printf "%.5f", $k["corrected_ratio"] }'; })" >> "$dir/repeats.csv.part"
        done
    done
done < "$dir/programs"
mv "$dir/repeats.csv.part" "$dir/repeats.csv"
# calls a second of the program as it runs when nobody records; log: the profile's own total against the clock of the same run
{ echo program,density,calls_per_second,repeats,raw_ratio,corrected_ratio,worst_ratio,half_width_ratio,covered_share,transferred_ratio,profile_by_clock_ratio
  for at in "$dir"/count/*.full.hooks; do
      name=$(basename "$at" .full.hooks)
      echo "count,${name/./,},$(awk -F, 'NR > 1 { n += $7 } END { print n + 0 }' "$at"),$(awk -F, 'NR > 1 { n += $5 } END { print n + 0 }' "${at%.hooks}.cells"),$(cat "${at%.hooks}.clock")"
  done | cat - <(sed 1d "$dir/runs.csv") <(sed 1d "$dir/repeats.csv") | awk -F, '
      $1 == "count" { k = $2 "," $3; calls[k] = $4; by_clock[k] = $5 / $7; next }
      $4 == "bare" && $5 == "full" { bare[$1] += $7; nbare[$1]++; next }
      NF < 9 { next }
      { k = $1 "," $2; if (!n[k]++) order[++m] = k; raw[k] += $4; own[k] += $5; half[k] += ($7 - $6) / 2; covered[k] += $8; other[k] += $9; has = $9 != ""
        d = $5 - 1; if (d < 0) d = -d; if (d > worst[k]) { worst[k] = d; which[k] = $5 } }
      END { for (i = 1; i <= m; i++) { k = order[i]; split(k, a, ","); printf "%s,%.0f,%d,%.4f,%.4f,%.4f,%.4f,%.3f,%s,%.4f\n", k, calls[k] / (bare[a[1]] / nbare[a[1]] / 1e9),
          n[k], raw[k] / n[k], own[k] / n[k], which[k], half[k] / n[k], covered[k] / n[k], has ? sprintf("%.4f", other[k] / n[k]) : "", by_clock[k] } }'
} > "$dir/table.csv.part"
mv "$dir/table.csv.part" "$dir/table.csv"
awk -F, 'NR > 1 { n += $4; c += $4 * $9; d = $6 > 1 ? $6 - 1 : 1 - $6; if (d > m) { m = d; who = $1 " " $2 } within += d <= 0.05; k++ }
    END { printf "covered in %.1f %% of %d repeats (standard error %.1f %%); corrected total within 5 %% in %d of %d, furthest off: %s, %.1f %%\n",
        100 * c / n, n, 100 * sqrt(c / n * (1 - c / n) / n), within, k, who, 100 * m }' "$dir/table.csv"
