#!/bin/bash
# place-gpu.t - a training step on a stand-in for a GPU's driver: losses of the CPU, moves in time, failures named.
. "$(dirname "$0")/tap.sh"
unset LD_LIBRARY_PATH
stand_in() { env LD_LIBRARY_PATH="$B/t/cuda" "$@"; }
place-net mlp --batch=2 --study --quiet > mlp.sexp
if ! ldconfig -p | grep -q 'libcuda[.]so[.]1'; then
    fails 'without a driver: one line' 1 'no GPU can be used here: libcuda' place-gpu --profile mlp.sexp
fi
fails 'neither profile nor plan' 2 'one of --profile and --plan' place-gpu mlp.sexp
fails 'a limit of nothing' 2 'limit is for --managed' place-gpu --plan=p --limit=1Gi mlp.sexp
place-net resnet18 --batch=2 --image=64 --quiet > fused.sexp
fails 'what GPUs have no kernel for is named' 1 "no kernel for operator '.*place-net --study" place-gpu --profile fused.sexp

# one operator each: what it would read or write beside its operands is refused, and what does not, not
one() { { echo '(graph (name f) (batch 1)'; printf '%s\n' "$@"; echo ')'; } > one.sexp; place-gpu --profile one.sexp 2>&1 |
    grep -o 'do not fit' || echo sound; }
pool() { one '(tensor 0 x arg 16384 f32 (1 16 16 16))' '(tensor 1 y inter 4096 f32 (1 16 8 8))' \
    "(node 0 y AvgPool (in 0) (out 1) (attr (kernel 2 2) (stride $1 $1) (pad $2 $2)))"; }
slice() { one '(tensor 0 x arg 32768 f32 (1 32 16 16))' '(tensor 1 y inter 16384 f32 (1 16 16 16))' \
    "(node 0 y Slice (in 0) (out 1) (attr (from $1)))"; }
dense() { one '(tensor 0 w arg 48 f32 (4 3))' "(tensor 1 x arg 24 f32 ($1))" "(tensor 2 b arg $2 f32 ($(($2 / 4))))" \
    '(tensor 3 y inter 32 f32 (2 4))' '(node 0 y MatmulBias (in 0 1 2) (out 3))'; }
norm() { one "(tensor 0 a arg $1 f32 ($(($1 / 4))))" "(tensor 1 b arg $1 f32 ($(($1 / 4))))" '(tensor 2 x arg 256 f32 (1 16 2 2))' \
    '(tensor 3 y inter 256 f32 (1 16 2 2))' "(tensor 4 m inter $1 f32 ($(($1 / 4))))" "(tensor 5 v inter $1 f32 ($(($1 / 4))))" \
    "(node 0 y BatchNormTraining (in 0 1 2) (out 3 4 5))"; }
each() { for k in "${@:2}"; do $1 $k; done | paste -sd, ; }
is 'strides and paddings of pools' 'sound,do not fit,do not fit,do not fit' eval \
    '{ pool 2 0; pool 0 0; pool 1e9 0; pool 2 -100; } | paste -sd,'
is 'beginnings of slices' 'sound,sound,do not fit,do not fit,do not fit,do not fit' each slice 0 16 17 1600000 -16 1e30
is 'sizes of products' 'sound,do not fit,do not fit' eval '{ dense "2 3" 16; dense "3 2" 12; dense "2 3" 8; } | paste -sd,'
is 'numbers for each channel' 'sound,do not fit,do not fit' each norm 64 32 256

place-net resnet18 --study --batch=2 --image=48 --quiet > g.sexp
stand_in place-gpu --profile --runs=1 --workspace=1Mi g.sexp > p.csv
ok 'a stand-in is no GPU: simulated' test "$(csv-cut -c kind p.csv | sort -u | tr '\n' ' ')" = 'kind simulated '
ok 'no algorithm takes more workspace than allowed' \
    test "$(csv-calc --where='staging_bytes > 1048576' p.csv | sed 1d | wc -l)" = 0
plan() { place-plan --quiet --steps=300 --rounds=100 -p p.csv "$@" g.sexp; }
plan -f fast > fast.sexp
plan -f sync --limit=10500000 > sync.sexp
plan -f async --limit=10500000 > async.sexp
losses() { csv-cut -c loss "$1"; }
stand_in place-gpu --plan=fast.sexp --steps=2 --warm=0 --kernels=k.csv g.sexp > fast.csv
place-run --plan=fast.sexp --tier=dram --steps=2 --warm=0 --again=0 g.sexp > cpu.csv
is 'the columns of place-run' "$(head -n 1 cpu.csv)" head -n 1 fast.csv
csv-cut -c step,loss cpu.csv > a.csv
csv-calc --set=gpu=loss fast.csv | csv-cut -c step,gpu > b.csv
ok 'losses are those of the CPU' \
    test "$(csv-join -k step a.csv b.csv | csv-calc --where='abs(loss - gpu) < 2e-3 * loss' | sed 1d | wc -l)" = 2
sed 's/(scale -[0-9.e-]*)/(scale -1e30)/' g.sexp > long.sexp
is 'weights beyond all numbers: a loss of nan' nan \
    eval 'stand_in place-gpu --plan=fast.sexp --steps=4 --warm=0 long.sexp | csv-cut -c loss | tail -n 1'
for f in sync async; do
    ok "$f: the plan moves something" grep -q '(move' $f.sexp
    MILLRACE_CUDA_LATE=1 stand_in place-gpu --plan=$f.sexp --steps=2 --warm=0 g.sexp > $f.csv
    is "$f: copies that come as late as they may change nothing" "$(losses fast.csv)" losses $f.csv
done
MILLRACE_CUDA_CALLS=calls stand_in place-gpu --plan=fast.sexp --managed --steps=1 --warm=0 g.sexp > managed.csv
is 'managed memory: the same loss' "$(losses fast.csv | head -2)" losses managed.csv
ok 'and nothing but managed memory is taken' test "$(grep -c 'cuMemAllocManaged 2' calls) $(grep -c cuMemAlloc_v2 calls)" = '1 0'

stand_in place-gpu --plan=fast.sexp --managed --limit=10500000 --steps=1 --warm=0 g.sexp > limited.csv
is 'and with as much of the GPU as a plan has' "$(losses managed.csv)" losses limited.csv
fails 'the rest is taken away' 1 'GPU 0: cuMemAlloc_v2: CUDA_ERROR_ILLEGAL_ADDRESS' \
    env MILLRACE_CUDA_FAIL=cuMemAlloc_v2:1 LD_LIBRARY_PATH="$B/t/cuda" \
    place-gpu --plan=fast.sexp --managed --limit=10500000 --steps=1 --warm=0 g.sexp
fails 'too little memory' 1 'GPU 0: .* takes [0-9]* bytes, [0-9]* are free' \
    env MILLRACE_CUDA_BYTES=20000000 LD_LIBRARY_PATH="$B/t/cuda" place-gpu --plan=fast.sexp g.sexp
for call in cuInit:1 cuModuleLoadData:1 cuMemHostAlloc:1 cuStreamCreate:2 cuLaunchKernel:50 cuEventRecord:9; do
    fails "$call fails: named" 1 "GPU 0: ${call%:*}: CUDA_ERROR_ILLEGAL_ADDRESS [(]700[)]" \
        env MILLRACE_CUDA_FAIL=$call LD_LIBRARY_PATH="$B/t/cuda" place-gpu --plan=async.sexp --steps=1 --warm=0 g.sexp
done
fails 'a second GPU' 1 'there is no GPU 1: the driver knows 1' \
    env LD_LIBRARY_PATH="$B/t/cuda" place-gpu --device=1 --plan=fast.sexp g.sexp
place-plan --quiet -f sync --limit=9600000 --steps=10 --rounds=1 -p p.csv g.sexp > slow.sexp
fails 'operands in slow memory' 1 'which a kernel on a GPU does not reach' \
    env LD_LIBRARY_PATH="$B/t/cuda" place-gpu --plan=slow.sexp g.sexp

for f in fast sync async; do
    [ $f = fast ] && run=managed || run=$f
    place-record --plan=$f.sexp --run=$run.csv --profile=p.csv --kernels=k.csv g.sexp > row.$f.csv
done
csv-cat row.*.csv > rows.csv
place-figure --figure=12 rows.csv > f12.csv
is 'figure 12: a row for async and one for sync' $'formulation\nasync\nsync' csv-cut -c formulation f12.csv
ok 'the oracle is not slower than the plan foresaw' \
    test "$(csv-calc --where='oracle_seconds > predicted_seconds * 1.000001' rows.csv | sed 1d | wc -l)" = 0
csv-calc --set='gpu_managed_seconds=gpu_managed_seconds * 2' --set='ratio="9:1"' rows.csv > twice.csv
csv-cat rows.csv twice.csv | place-figure --figure=12 > f12.twice.csv
is 'and each ratio beside the managed memory of its own' '2 2' \
    eval "csv-cut -c managed_seconds f12.twice.csv | awk 'NR == 2 { a = \$1 } NR == 3 { b = \$1 } NR == 4 { print \$1 / a } NR == 5 { print \$1 / b }' | xargs"
is 'and says that nothing of it is real' $'kind\nsimulated\nsimulated' csv-cut -c kind f12.csv
fails 'without managed memory there is no figure 12' 1 'managed memory' place-figure --figure=12 row.sync.csv

# the PTX text is assembled where there is an assembler
if command -v ptxas > /dev/null; then
    for arch in sm_75 sm_80 sm_90; do
        ok "assembles for $arch" ptxas -arch $arch -o o.cubin "$B/place/kernels.ptx"
    done
fi
done_testing
