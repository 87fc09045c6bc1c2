#!/bin/bash
. "$(dirname "$0")/tap.sh"
need_llvm
mkdir p
cat > p/a.c <<'X'
int putchar(int);
static int loop(int n) { return n ? loop(n - 1) : 3; }
static void out(int x, int y) { putchar(x & 15 ? 'a' + (x & 15) : '-'); putchar(y & 7); putchar('\n'); }
static void once(int x) { out(x, 2); out(x, x); }
int main(int argc, char **argv) { (void)argv; once(argc); out(loop(argc), 1); return 0; }
X
printf 'build a.c\nsearch x\nconfirm x\n' > p/program
inline-module --per-file --out=w p
inline-calls w > calls.csv
cut_() { csv-cut -c "$1" calls.csv; }
is 'calls with a choice, in the order of the module' $'callee,caller,uses,only_call,arguments,constants,callee_leaf
once,main,1,1,1,0,0
out,main,3,0,2,1,1
out,once,3,0,2,1,1
out,once,3,0,2,0,1' cut_ callee,caller,uses,only_call,arguments,constants,callee_leaf
inline-optimal --calls=all.csv w > best.csv
is 'the same features as beside the optimum' "$(csv-where -c choice --is=yes all.csv | csv-cut -c chain,heuristic_yes,callee_bytes,others_bytes)" \
    cut_ chain,heuristic_yes,callee_bytes,others_bytes
is 'with a threshold that nothing is under' 0,0,0,0 bash -c \
    'inline-calls --threshold=-100000 w | csv-cut -c heuristic_yes | tail -n +2 | paste -sd,'
# a policy decides by these columns alone
csv-calc --set="worth=callee_bytes - 40" calls.csv | fit-ridge --quiet -y worth -x callee_bytes,arguments,uses > size.model
fit-predict -m size.model --name=worth calls.csv | csv-calc --set="predicted=worth < 0 ? 'yes' : 'no'" > p.csv
is 'the policy answers for every call' 4 bash -c 'csv-where -c predicted --is=yes --is=no p.csv | tail -n +2 | wc -l'
inline-size --verdicts=p.csv --decisions=p.sexp w > p.size
inline-build --level=-Oz --decisions=p.sexp --out=p.exe w > obeyed.csv
is 'its decisions are obeyed' 0 bash -c 'csv-where -c inlined --is=no obeyed.csv | tail -n +2 | wc -l'
# memory refused to LLVM, in its parts of the work: it would call abort()
if [ -e "$B/t/shim.so" ] && ! sanitized; then
    short_of_memory() { # HOW-MUCH: at that part of all pieces of memory, in percent
        rm -f count
        SHIM_WHAT=malloc SHIM_AT=$((all * $1 / 100)) SHIM_COUNT=count LD_PRELOAD=$B/t/shim.so inline-calls w
    }
    SHIM_COUNT=count SHIM_WHAT=malloc LD_PRELOAD=$B/t/shim.so inline-calls w > /dev/null
    all=$(od -An -tu8 count)
    for part in 30 45 60 75 90; do
        short_of_memory $part > got.csv 2> err && rc=0 || rc=$?
        echo "$rc $(grep -c 'out of memory' err) $(cmp -s got.csv calls.csv && echo same)"
    done | grep -vx '1 1 \|0 0 same' > wrong
    ok 'no memory for LLVM: a message, or the same' [ ! -s wrong ]
fi
fails 'no work directory' 1 'made by inline-module' inline-calls p
fails 'nothing' 2 'one work directory' inline-calls
done_testing
