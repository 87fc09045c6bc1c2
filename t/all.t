#!/bin/bash
# all.t - every program is asked the same questions; every source file is looked at.
. "$(dirname "$0")/tap.sh"
programs=()
for f in "$root"/bin/*.c; do f=${f##*/}; programs+=("${f%.c}"); done

# Questions that a program may leave out, with the reason.  Questions: empty (no input at all is refused), missing (a file
# that is not there is refused), full (a full disk is noticed), misuse (all of them).
declare -A leaves_out=(
    [millrace:empty]='without a word it says what there is'
    [inline-cc:misuse]='its arguments are those of the compiler'
    [bench-machine:empty]='reads no input: it describes the machine'
    [bench-machine:missing]='takes no operand'
    [bench-run:missing]='takes commands, and reports one that cannot be run as a row'
    [bench-count:missing]='takes commands, and reports one that cannot be run as a row'
    [flambda-results:missing]='takes a directory'
    [fit-cartpole:empty]='reads no input: its task is in it'
    [fit-cartpole:missing]='takes no operand'
    [loop-machine:empty]='reads no input: it measures the machine'
    [loop-machine:missing]='takes no operand'
    [loop-step:empty]='without input it shows the untiled nest'
    [loop-step:missing]='takes no operand'
)
# Programs whose status 1 and 2 are answers: what they end with when something is wrong.
declare -A trouble=( [bench-compare]=3 )
# Plain CSV filters: arguments with which they pass the table a,b on or make another of it.  These are asked more.
declare -A csv=(
    [csv-cat]= [csv-cut]='-c b,a' [csv-where]='-c a --min=0' [csv-sort]='-k a:n' [csv-group]='-g a -c b' [csv-sample]='--first=5'
    [csv-pivot]='--long -k a --names=n --values=v' [csv-dedupe]='-k a' [csv-show]= [csv-join]='--quiet -k a - right' [csv-diff]='- right'
    [csv-calc]='--set=c=a+b' [csv-check]= [sexp-from-csv]='--head=r'
)
declare -A sexp=( [sexp-get]='-k a' [sexp-to-csv]= [sexp-check]= [sexp-show]= )
# their status for bad data is 2 because 1 is an answer
declare -A answers=( [csv-diff]=2 )

problem() { echo "$*" >> why; }
# run CMD: stdout to out, stderr to err, status to $rc
run() { rc=0; "$@" > out 2> err || rc=$?; }
message() { [[ $(<err) == "$p: "* ]] || problem "$1: the message does not begin with '$p: ': $(head -c 300 err)"; }
refused() {
    local want=${trouble[$p]:-[12]}
    [[ $rc == $want ]] || problem "$1: exit $rc, want $want"
    message "$1"
    [ ! -s out ] || problem "$1: wrote to standard output: $(head -c 200 out)"
}

# A letter means the same in every program: the long options that may have it.
declare -A letter=(
    [0]=null [C]=directory [T]=tau [a]=alpha [b]=base [c]='column columns' [d]=decisions [e]=event
    [f]='formulation formulations' [g]=group [j]='jobs threads' [k]=key [l]=label [m]=model
    [n]='count components iterations rounds rows runs samples steps trials' [o]='output out' [p]=profile [r]=reverse [s]=seed
    [t]=tier [x]='features x' [y]='target y'
)
letters_are_known() {
    local line c name
    while read -r line; do
        c=${line:1:1}
        name=${line#-?, --}
        name=${name%%[= ]*}
        [[ $c == h || " ${letter[$c]:-} " == *" $name "* ]] || problem "-$c means '${letter[$c]:-nothing}', not $name"
    done < <(grep '^  -[a-zA-Z0-9], --' help)
}
help_is_sound() {
    run "$p" --help
    cp out help
    [[ $rc == 0 && ! -s err ]] || problem "--help: exit $rc, $(<err)"
    local line first=1 text option
    while IFS= read -r line; do
        [[ $first = 0 || $line == "$p - "* ]] || problem "--help does not begin with '$p - purpose': $line"
        first=0
        [ ${#line} -le 79 ] || problem "--help has a line of ${#line} columns: $line"
    done < help
    text=$(<help)
    [[ $text == *$'\nUsage: '"$p"* ]] || problem "--help has no line 'Usage: $p'"
    [[ $text == *$'\nExamples:\n  $ '* ]] || problem "--help has no 'Examples:' with a line '  \$ command'"
    letters_are_known
    run "$p" --_options
    while IFS='=' read -r option _; do [[ $text == *" $option"[=\ $'\n']* ]] || problem "--help does not name $option"; done < out
    run "$p" --version
    [[ $rc == 0 && $(<out) == "$p (millrace) "?* ]] || problem "--version: exit $rc, $(<out)"
    run "$p" -h
    cmp -s out help || problem '-h is not --help'
    rc=0
    "$p" --help > /dev/full 2> err || rc=$?
    [[ $rc == ${trouble[$p]:-[12]} ]] || problem "--help on a full disk: exit $rc"
}

misuse_is_refused() {
    run "$p" --no-such-option < /dev/null
    [ $rc = ${trouble[$p]:-2} ] || problem "unknown option: exit $rc"
    refused 'unknown option'
    if [ -z "${leaves_out[$p:missing]:-}" ]; then
        run timeout 900 "$p" no/such/file < /dev/null
        refused 'a file that is not there'
        run timeout 900 "$p" . < /dev/null
        refused 'a directory'
    fi
    if [ -z "${leaves_out[$p:empty]:-}" ]; then
        run timeout 900 "$p" < /dev/null
        refused 'no input'
        run timeout 900 "$p" <&-
        refused 'standard input closed'
        run timeout 900 "$p" < zeros
        refused 'NUL bytes'
    fi
}

head -c 1000 /dev/zero > zeros
for p in "${programs[@]}"; do
    : > why
    if [ ! -x "$BIN/$p" ]; then
        problem "not built"
    else
        help_is_sound
        [ -n "${leaves_out[$p:misuse]:-}" ] || misuse_is_refused
    fi
    [ -f "$root/t/$p.t" ] || problem "no test t/$p.t"
    if [ -s why ]; then fail "$p: help, version, misuse"; else pass "$p: help, version, misuse"; fi
done

# ---- plain filters

# fed INPUT: the program's answer to the file
fed() { "$p" $args < "$1"; }
foreign() { env LC_ALL=de_DE.UTF-8 "$p" $args < "$1"; }
# answered FILE: the same as the first answer?
answered() { run fed "$2"; cmp -s out first || problem "$1: another answer, exit $rc: $(head -c 300 out err)"; }
bad() {
    local name=$1 want=$2 re=$3
    shift 3
    run "$@"
    [[ $rc == $want ]] || problem "$name: exit $rc, want $want"
    [[ $(<err) =~ $re ]] || problem "$name: no /$re/ in: $(head -c 300 err)"
    message "$name"
}
questions() {
    local status=${answers[$p]:-1}
    run fed good
    cp out first
    [[ $rc == 0 && ! -s err ]] || problem "sound input: exit $rc, $(<err)"
    answered 'once more' good
    answered 'blanks at line ends or CRLF' good.crlf
    answered 'quoted where it need not be' good.quoted
    run foreign good
    cmp -s out first || problem 'in another locale: another answer'
    bad 'no input' $status 'empty input' fed /dev/null
    bad 'a git-lfs pointer' $status 'git-(LFS|lfs) pointer' fed pointer
    bad 'NUL bytes' $status 'NUL byte' fed zeros
    bad 'standard input closed' '[12]' . eval '"$p" $args <&-'
    if [ $p != csv-check ] && [ $p != sexp-check ]; then
        rc=0
        fed good > /dev/full 2> err || rc=$?
        [ $rc = $status ] || problem "a full disk: exit $rc"
        message 'a full disk'
    fi
    fed long 2> err | head -1 > /dev/null
    [[ ${PIPESTATUS[0]} =~ ^(0|1|141)$ && ! -s err ]] || problem "output cut off: exit ${PIPESTATUS[0]}, $(<err)"
}

printf 'a,b\n1,2\n3,4\n' > good
printf 'a,b\r\n1,2\r\n3,4\r\n' > good.crlf
printf '"a","b"\n"1",2\n3,"4"\n' > good.quoted
printf 'a,b\n1,2\n3\n' > ragged
printf 'a,b\n1,2\n3,"4\n' > unclosed
printf 'a,b\n' > header
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\n' > pointer
(echo a,b; seq 200000 | sed 's/.*/&,&/') > long
cp good right
for p in "${!csv[@]}"; do
    args=${csv[$p]}
    : > why
    questions
    status=${answers[$p]:-1}
    bad 'a short row' $status ':3: ' fed ragged
    bad 'an unclosed quote' $status ':3: ' fed unclosed
    [[ $args == *right* ]] && cp header right
    run fed header
    [ $rc = 0 ] || problem "header only: exit $rc, $(<err)"
    [[ -s out || $p == sexp-from-csv ]] || problem 'header only: no header comes out'
    cp good right
    if [ -s why ]; then fail "$p: as a plain CSV filter"; else pass "$p: as a plain CSV filter"; fi
done
printf '(r (a 1) (b 2))\n(r (a 3))\n' > good
printf '(r\r\n  (a 1)\t( b 2 ) ) ; note\r\n#| x |# (r(a 3))' > good.crlf
printf '(r ("a" 1) (b "2"))\n("r"(a "3"))\n' > good.quoted
(for i in {1..20000}; do echo "(r (a $i))"; done) > long
for p in "${!sexp[@]}"; do
    args=${sexp[$p]}
    : > why
    questions
    bad 'an unclosed list' 1 'opened at line 2' fed <(printf '(a)\n(b\n')
    if [ -s why ]; then fail "$p: as a plain s-expression filter"; else pass "$p: as a plain s-expression filter"; fi
done

# ---- promises of constant memory: 36 MB through 24 MB of address space

if sanitized; then
    skip 'constant memory' 'address sanitizer maps terabytes'
else
    (echo a,b; yes 12345,67890 | head -3000000) > big
    for p in "${!csv[@]}"; do
        args=${csv[$p]}
        grep -qi 'constant memory\.$' "$root/bin/$p.c" || continue
        ok "$p: constant memory" eval '(ulimit -v 24000; fed big > /dev/null)'
    done
    rm big
fi

# ---- examples: every `$` line of the help texts and commands of README.md; options are those that the programs have, and
# where all files are here, the line is run

examples() { sed -n '/^ \*\//q; s/^ \*   \$ //p; s/^ \*       \(.*\)/  \1/p' "$1" | sed -e :a -e '/\\$/N; s/\\\n *//; ta' | grep -v '^  '; }
of_readme() { sed -n 's/^    \([a-z]*-[a-z0-9-]* .*\)/\1/p' README.md docs/*.md 2> /dev/null | sed 's/  *#.*//'; }
# options_of LINE: every option of every program of ours in a line that the program does not have
declare -A options                                       # of a program, each between blanks
quoted="'[^']*'|\"[^\"]*\""
options_of() {
    local line=$1 stage word first
    while [[ $line =~ $quoted ]]; do line=${line/"${BASH_REMATCH[0]}"/Q}; done
    line=${line%% #*} line=${line//&&/|}
    while IFS= read -r stage; do
        first=
        for word in $stage; do
            if [ -z "$first" ]; then
                [[ $word == *=* ]] && continue
                first=$word
                [ -f "$root/bin/$first.c" ] || break
                [ -n "${options[$first]-}" ] || options[$first]=" $("$BIN/$first" --_options 2> /dev/null | tr '=\n' '  ') --help --version "
                continue
            fi
            [[ $word == -- ]] && break
            # what a measuring program starts has options of its own
            [[ $first == prof-record && $word != -* ]] && break
            [[ $word == --?* ]] || continue
            word=${word%%=*}
            [[ ${options[$first]} == *" $word "* ]] || echo "$first has no option $word: $1"
        done
    done <<< "${line//[|;<>]/$'\n'}"
}
: > why
for p in "${programs[@]}"; do
    while IFS= read -r command; do
        options_of "$command" >> why
        there=no
        for word in $command; do
            [[ ${word##*=} == data/* && -e $root/${word##*=} ]] && there=yes && continue
            [[ $word == *.csv || $word == *.sexp || $word == '>' || $word == --out=* ]] && there=no && break
        done
        [ $there = no ] || ok "$p: example: $command" eval '(set -o pipefail; cd "$root" && eval "$command" > /dev/null)'
    done < <(examples "$root/bin/$p.c")
done
while IFS= read -r command; do options_of "$command" >> why; done < <(cd "$root" && of_readme)
if [ -s why ]; then fail 'examples use options that there are'; else pass 'examples use options that there are'; fi
ok 'there are examples, of programs and of the README' [ "$(for p in "${programs[@]}"; do examples "$root/bin/$p.c"; done | wc -l)" -ge 120 ]

# ---- sources

cd "$root" || exit 99
sources=$(find bin lib t -name '*.[ch]')
quiet_if() { local found; found=$("$@"); [ -z "$found" ] || { echo "$found" | head -20; return 1; }; }
manifest() { sed 1d data/MANIFEST.csv | while IFS=, read -r path sum rest; do echo "$sum  $path"; done | sha256sum --check --quiet --strict; }
ok 'data/MANIFEST.csv has the sums of the files that ship' manifest
ok 'and names all of them' diff <(sed 1d data/MANIFEST.csv | cut -d, -f1 | sort) <(find data -type f ! -name MANIFEST.csv | sort)
ok "the README's figures stand on the pages that they name" quiet_if t/lint-results
other_figure() { t/lint-results <(sed '2s/,less,/,less,290.12345/' data/results.csv) | grep -q '290.12345.* is not in'; }
ok 'and one that does not is told' other_figure
ok 'every test file can be executed' quiet_if find "$root/t" -name '*.t' ! -perm -u+x
no_cdpath() { for f in "$root"/pipelines/*; do
    [[ ! -f $f || $f == *.mk ]] || ! grep -qE '\bcd "|\bparallel --' "$f" || grep -q '^unset CDPATH' "$f" || echo "$f"; done; }
ok 'scripts that change folders, or start GNU parallel, forget what a user set for his shell' quiet_if no_cdpath
ok 'guards ask for all programs, by have or needs' quiet_if grep -nE 'command -v +[^- >|;&)][^ >|;&)]* +[a-zA-Z$]' "$root"/t/*.t "$root"/t/*.sh
ok 'no line is longer than 120 columns' quiet_if awk 'length > 120 {print FILENAME ":" FNR ": " length}' $sources
# what a test leaves in the wrong folder would otherwise be committed, and shadow modules of Python there
known='.ci .clang-format .gitattributes .github .gitignore CHANGELOG.md CONTRIBUTING.md LICENSE Makefile ORIGINS.md README.md SECURITY.md
    VERSION bin data debian docs examples lib mk packages.csv pipelines plots python share t'
strangers() { git ls-files 2> /dev/null | cut -d/ -f1 | sort -u | grep -vxF "$(printf '%s\n' $known)"; }
ok 'nothing strange at the top' quiet_if strangers
ok 'no file of more than 800 lines' quiet_if eval 'find bin lib -name "*.[ch]" | xargs wc -l |
    awk "\$1 > 800 && \$2 != \"total\""'
ok 'no tabs' quiet_if grep -nP '\t' $sources
ok 'no blanks at line ends' quiet_if grep -nP ' $' $sources
ok 'none of the banned functions' quiet_if grep -nwE '(atoi|atof|strtok|gets|sprintf|strcpy|strcat|rand|srand|setlocale|system|scanf|alloca) ?\(' \
    $(find bin lib -name '*.[ch]')
ok 'nothing left to do' quiet_if grep -nE '\b(TODO|FIXME|XXX)\b' $(printf '%s\n' $sources | grep -v t/all)
ok 'pipelines, plots and sizes of allocations: what t/lint-pipelines refuses' quiet_if t/lint-pipelines
ok 'and it refuses each of the kinds' t/lint-refuses
ok 'rooms use those below them, families do not see each other' quiet_if t/lint-rooms
ok 'no files of a room call each other in a circle' quiet_if t/circles "$B"
ok 'every header and program begins with its name and what it is' quiet_if awk 'FNR == 1 && FILENAME ~ /^bin|h$/ {
    n = FILENAME; sub(".*/", "", n); if (FILENAME ~ /^bin/) sub("[.]c$", "", n)
    if (index($0, "/* " n " - ") != 1) print FILENAME ": " $0}' $sources
# tests run at the same time: a folder that one of them makes and removes is no other's
shared() { grep -ho 'mkdir -p "\$B/[^"]*"' t/*.t | sort | uniq -d; }
ok 'no two tests use one folder' quiet_if shared
# tests of more than one program are named FAMILY-something; these are known
several='all loop-library filter-* pipeline-* figures-* *-oracle *-live *-fuzz *-golden'
alone() {
    local f p good=0
    for f in t/*.t; do
        f=${f##*/}
        f=${f%.t}
        [ -f "bin/$f.c" ] && continue
        for p in $several; do [[ $f == $p ]] && continue 2; done
        echo "t/$f.t has no program bin/$f.c"
        good=1
    done
    return $good
}
ok 'every test of a program has its program' alone
ok 'no program needs libgslcblas' eval '! for p in bin/*.c; do p=${p##*/}; readelf -d "$BIN/${p%.c}"; done 2> /dev/null | grep gslcblas'
if [ -f README.md ]; then
    list() { sed -n '/<!-- list -->/,/<!-- end of list -->/{/^- /p}' docs/filters.md | sed 's/ (step)$//' | sort; }
    want() { for f in bin/*-*.c; do sed -n '1s|^/\* \([^ ]*\) - \(.*\)|- `\1` \2|p' "$f"; done | sort; }
    ok "docs/filters.md lists the programs (make readme)" diff <(list) <(want)
fi
done_testing
