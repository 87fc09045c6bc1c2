#!/bin/bash
# kill-states.sh TARGET [MAKE-ARGUMENT]... - a pipeline killed at each of its writes, and gone on from each
# A kill loses nothing that was written: what it leaves is the files as they are then.  So OUT and TMPDIR are copied before
# each write, rename, open .. of an undisturbed run (t/shim lets nobody else write meanwhile), and each copy is put back:
# make makes what the recipe in question makes, and that and everything else is compared (t/same-results) with what lay
# there when that recipe had ended.  Of what follows it the files are all that make knows.  Where this differs, since a
# rule makes several files and make was asked for one, everything is made and compared with the end.
# Files .millrace-PID-NAME are removed when make begins, before any recipe: copies that differ only there are one state,
# put back with the last of them.  Where strace is here, so are two states of one recipe that differ in nothing but files
# which make, going on from one of them, first empties or removes, before anything looks at them: they are counted as `like`.
#   IN=      a folder for the copies, kept: begun again with the same, it goes on with what was not put back yet
#   LIMIT=   seconds, after which no other is put back
#   GO_ON=1  does not stop at the first difference;  MAKE_IN= the folder of another Makefile
# Prints one row target,writes,states,gone_on,like,same; exit 1 where something differs, and says what on stderr.
set -uo pipefail
export LC_ALL=C
root=$(cd "$(dirname "$0")/.." && pwd)
if [ -n "${IN-}" ]; then
    mkdir -p "$IN" && W=$(cd "$IN" && pwd) || exit
else
    W=$(mktemp -d "${TMPDIR:-/var/tmp}/states.XXXXXX")
    trap 'rm -rf "$W"' EXIT
fi
shim=${B:-$root/build}/t/shim.so
[ -e "$shim" ] || { echo 'kill-states.sh: make build/t/shim.so first' >&2; exit 2; }
goal=$1
shift
limit=${LIMIT:-1000000}
unset LIMIT                                              # pipelines have one, too
asked=(-s -C "${MAKE_IN:-$root}" OUT="$W/live/out" "$@")
rm -rf "$W/door"
mkdir "$W/door"
mkfifo "$W/door/ask" "$W/door/go"
touch "$W/door/lock"
exec {ask}<> "$W/door/ask" {go}<> "$W/door/go"
export TMPDIR=$W/live/tmp
# the shell of a recipe, told by .SHELLFLAGS what it makes (make reads recipes otherwise for a shell of another name)
printf '#!/bin/bash\nexport SHIM_RECIPE=$1\nshift\nexec /bin/bash "$@"\n' > "$W/bash"
chmod +x "$W/bash"
copy() { rsync -aH --delete --modify-window=-1 "$@"; }  # -1: times are compared to the nanosecond
list() { (cd "$W/live" && find . -type d -printf '%p\n' -o -printf '%p %y %s %T@ %C@ %l\n' 2> /dev/null); }

# watch RUN: answer those who want to write.  W/RUN/N are copies, W/RUN.tsv a row for each write, its copy and recipe.
# Of the run `again` only what lies there when a recipe begins.
watch() {
    local run=$1 n=0 all='' was='' key='' last='' recipe rest
    mkdir "$W/$run"
    while IFS=$'\t' read -r recipe rest <&$ask; do
        if [ "$run" = whole ] || [ "$recipe" != "$last" ]; then all=$(list); fi
        if [ "$all" != "$was" ]; then
            was=$all
            all=$(grep -v '/\.millrace-[0-9]' <<< "$all")
            [ "$all" = "$key" ] || n=$((n + 1))
            copy --link-dest="$W/$run/$((n - 1))" "$W/live/" "$W/$run/$n" 2> "$W/rsync"
            key=$all all=$was
        fi
        printf '%s\t%s\t%s\n' $n "$recipe" "$rest" >> "$W/$run.tsv"
        last=$recipe
        printf x >&$go
        [ "$recipe" != ended ] || break
    done
}
for run in whole again; do
    [ ! -e "$W/recorded" ] || break
    rm -rf "$W/live" "${W:?}/${run:?}" "$W/$run.tsv"
    mkdir -p "$W/live/out" "$W/live/tmp"
    watch $run &
    SHIM_WHAT=kill SHIM_DOOR=$W/door SHIM_UNDER=$W/live/out LD_PRELOAD=$shim make "${asked[@]}" "$goal" SHELL="$W/bash" \
        .SHELLFLAGS='$(or $@,-) -euo pipefail -c' > "$W/log" 2>&1 < /dev/null ||
        { echo 'the undisturbed run fails:' >&2; tail -n 5 "$W/log" >&2; kill $!; exit 1; }
    echo ended > "$W/door/ask"
    wait $!
done
touch "$W/recorded"
# what lay there when each recipe had ended: the copy before the first write of the next
declare -A end_whole=() end_again=() recipe_of=()
for run in whole again; do
    declare -n end=end_$run
    last='' all=0
    while IFS=$'\t' read -r n recipe rest; do
        [ "$recipe" != - ] || continue                   # make itself
        [ "$recipe" = "$last" ] || end[${last:--}]=$n
        last=$recipe all=$n
    done < "$W/$run.tsv"
    end[$goal]=$all
done
# the recipe that each state is put back for: of the last write in it; make's own belong to what comes next
recipe=$goal
while IFS=$'\t' read -r n next rest; do
    [[ $next = - || $next = ended ]] || recipe=$next
    : "${recipe_of[$n]:=$recipe}"
done < <(tac "$W/whole.tsv")

# same RECIPE: is what lies in live/out what lay there when the recipe had ended?  Where files differ or are there in one
# only, t/same-results has the folders they are in.
same() {
    local whole=$W/whole/${end_whole[$1]} again=$W/again/${end_again[$1]} folder x
    find "$W/live/tmp" -name '*millrace-*' ! -name '*.lock' > "$W/differs"
    rsync -rlcn --delete --filter='hide .millrace-[0-9]*-*' --out-format=%n "$whole/out/" "$W/live/out/" |
        sed 's,^deleting ,,; s,[^/]*$,,' | sort -u > "$W/folders"
    rm -rf "$W/part"
    while read -r folder; do
        for x in "$whole" "$again" "$W/live"; do
            mkdir -p "$W/part/${x##"$W/"}/out/$folder"
            find "$x/out/$folder" -maxdepth 1 \( -type f -o -type l \) ! -path "$W/[wa]*/.millrace-[0-9]*-*" \
                -exec cp -al -t "$W/part/${x##"$W/"}/out/$folder" {} + 2> /dev/null
        done
    done < "$W/folders"
    [ ! -e "$W/part" ] || (cd "$W/part" && TMPDIR=$W "$root/t/same-results" {whole,again}/*/out live/out) >> "$W/differs"
    [ ! -s "$W/differs" ]
}
# files that were first named by what empties or removes them, from strace; rm asks what it removes, which is no look, and
# a relative name without its folder may be any of that name
emptied() {
    awk '
    { pid = $1; line = substr($0, length(pid) + 2); sub(/^ +/, "", line) }
    line !~ /^[a-z0-9_]+\(/ { next }
    { call = substr(line, 1, index(line, "(") - 1); rest = substr(line, length(call) + 1) }
    call == "execve" { rest = substr(rest, 1, index(rest, ", [")); program[pid] = rest ~ /\/rm"/ ? "rm" : "" }
    {
        removes = call ~ /^unlink/ || (call ~ /^open/ && rest ~ /O_TRUNC/)
        asks = program[pid] == "rm" && call ~ /stat/
        while (match(rest, /(<[^<>]*>, )?"[^"]*"/)) {
            piece = substr(rest, RSTART, RLENGTH); rest = substr(rest, RSTART + RLENGTH)
            folder = ""
            if (piece ~ /^</) { folder = substr(piece, 2, index(piece, ">") - 2); sub(/^<[^>]*>, /, "", piece) }
            name = substr(piece, 2, length(piece) - 2)
            if (name == "") continue
            if (name !~ /^\//) {
                if (folder == "") { last = name; sub(/.*\//, "", last); any[last] = 1; continue }
                name = folder "/" name
            }
            gsub(/\/\.?\//, "/", name)
            while (sub(/\/[^\/]+\/\.\.\//, "/", name)) continue
            if (call ~ /^(rename|link)/) moved[name] = 1
            if (!(name in first) && !asks) first[name] = removes ? "empties" : "looks"
        }
    }
    END {
        for (name in first) {
            if (first[name] != "empties") continue
            last = name; sub(/.*\//, "", last)
            good = !(last in any)
            for (folder = name; good && sub(/\/[^\/]+$/, "", folder) && folder != ""; ) good = !(folder in moved)
            if (good) print name
        }
    }' "$1" | sed -n "s,^$W/live/,./,p"
}
# what each copy has, but for .millrace-PID-NAME
[ -e "$W/have" ] || {
    (cd "$W/whole" && find . -mindepth 2 -name '.millrace-[0-9]*-*' -prune -o -type d -printf '%p\t%y\n' -o \
        -printf '%p\t%y %s %T@ %l\n') | sed 's,^\./\([0-9]*\)/,\1\t./,' > "$W/have.new"
    mv "$W/have.new" "$W/have"
}
# those of the states on stdin that differ from state $1 in nothing but what is emptied
alike() {
    awk -F '\t' -v one="$1" '
    FILENAME == ARGV[1] { emptied[$1] = 1; next }
    FILENAME == "/dev/stdin" { asked[$1] = 1; next }
    FNR == 1 { pass++ }
    pass == 1 { if ($1 == one) { has[$2] = $3; files++ } next }
    $1 in asked { if (!($2 in has) || (has[$2] != $3 && !($2 in emptied))) other[$1] = 1; else found[$1]++ }
    END { for (m in asked) if (!(m in other) && found[m] == files) print m }' "$W/emptied" /dev/stdin "$W/have" "$W/have"
}
traced=
! command -v strace > /dev/null || traced="strace -f -y -s 4096 -qq --seccomp-bpf -e trace=%file -e signal=none -o $W/trace"
states=$(sed '$!d' "$W/whole.tsv" | cut -f1) writes=$(($(wc -l < "$W/whole.tsv") - 1))
touch "$W/done"
declare -A seen=()
while IFS=$'\t' read -r n said; do seen[$n]=$said; done < "$W/done"
order=()                                                 # from everywhere first, in case the time is up
for step in 64 32 16 8 4 2 1; do
    for ((n = step; n <= states; n += step)); do [ $((n / step % 2)) = 0 ] && [ $step != 64 ] || order+=("$n"); done
done
for n in "${order[@]}"; do
    [ ! -v "seen[$n]" ] || continue
    [ $SECONDS -lt "$limit" ] || break
    copy "$W/whole/$n/" "$W/live/"
    said=
    for recipe in "${recipe_of[$n]}" "$goal"; do         # where that is one of several files of a rule: all of it
        if ! $traced make "${asked[@]}" "$recipe" > "$W/log" 2>&1 < /dev/null; then
            said="does not go on: $(tail -n 3 "$W/log")"
        elif ! same "$recipe"; then
            said=$(head -n 12 "$W/differs")
        else
            said=
            break
        fi
    done
    seen[$n]=${said:+differs}
    printf '%s\t%s\n' "$n" "${seen[$n]}" >> "$W/done"
    if [ -z "$said" ]; then
        [ "$recipe" = "${recipe_of[$n]}" ] && [ -n "$traced" ] || continue
        emptied "$W/trace" > "$W/emptied"
        [ ! -s "$W/emptied" ] || for m in $(for ((k = 1; k <= states; k++)); do
            [ "${recipe_of[$k]}" != "$recipe" ] || [ -v "seen[$k]" ] || echo $k
        done | alike "$n"); do
            seen[$m]=like
            printf '%s\tlike\n' "$m" >> "$W/done"
        done
        continue
    fi
    printf 'state %s, %s\n%s\n' "$n" "$(grep -m 1 "^$n	" "$W/whole.tsv" | cut -f2- | tr '\t' ' ')" "$said" >&2
    [ -n "${GO_ON-}" ] || break
done
bad=$(grep -c 'differs$' "$W/done")
like=$(grep -c 'like$' "$W/done")
echo "$goal $*,$writes,$states,$((${#seen[@]} - like)),$like,$([ "$bad" = 0 ] && echo yes || echo "no: $bad")"
[ "$bad" = 0 ]
