#!/bin/bash
# A run written by hand, so that every number of the record is known.
. "$(dirname "$0")/tap.sh"
place-net resnet50 --batch=2 --image=64 > g.sexp
place-cost --model=optane g.sexp > p.csv
for f in sync static; do place-plan -f $f --ratio=4:1 --profile=p.csv --rounds=100 --steps=300 g.sexp > $f.plan; done
cat > run.csv <<'END'
step,warm,seconds,loss,kernel_seconds,move_seconds,moves,read_bytes,written_bytes,fetched_bytes,evicted_bytes,fast_bytes,scratch_bytes,limit_bytes,resident_bytes,read_bytes_per_second,write_bytes_per_second,threads,isa,tier,method,kind,load,machine
0,1,9,7.5,1,5,0,1,2,3,4,5,6,7,8,9,10,1,avx512,file:x,o_direct,real,0.5,abc
1,0,0.75,7.25,1,0.25,0,1,2,3,4,5,6,7,8,9,10,1,avx512,file:x,o_direct,real,0.5,abc
2,0,0.5,7,1,0.5,0,1,2,3,4,5,6,7,8,9,10,1,avx512,file:x,o_direct,real,0.5,abc
3,0,1.5,6.5,1,0.75,0,1,2,3,4,5,6,7,8,9,10,1,avx512,file:x,o_direct,real,0.5,abc
END
record() { place-record --plan=sync.plan --run=run.csv --profile=p.csv --ratio=4:1 "$@" g.sexp; }
record > r.csv
get() { awk -v c="$1" 'NR == 1 { n = split($0, name, ","); next } { k = split($0, v, ","); for (i = 1; i <= n; i++) if (name[i] == c) print v[i] }' "${2:-r.csv}"; }
value() { sed -n "s/.*($1 \([^)]*\)).*/\1/p" sync.plan | head -n1; }
is 'the network and its plan' 'resnet50 2 sync 4:1' echo $(get network) $(get batch) $(get formulation) $(get ratio)
is 'the fastest counted step' 0.5 get actual_seconds
is 'their median' 0.75 get median_seconds
is 'all of them' '(0.75 0.5 1.5)' get step_seconds
is 'in one round' '(0.5)' get round_seconds
csv-cat run.csv run.csv <(sed '5s/,1.5,/,0.25,/' run.csv) > rounds.csv
place-record --plan=sync.plan --run=rounds.csv g.sexp > three.csv
is 'in three' '(0.5 0.5 0.25)' get round_seconds three.csv
is 'their losses' '(7.25 7 6.5)' get loss
is 'what the plan says' "$(value objective_seconds)" get predicted_seconds
is 'the measured time of moves' 0.5 get measured_move_seconds
is 'moves are counted' "$(grep -o '(move ' sync.plan | wc -l)" get num_move_nodes
is 'in both directions' "$(get num_move_nodes)" echo $(($(get num_slow_move_nodes) + $(get num_fast_move_nodes)))
is 'bytes too' "$(get moved_bytes)" echo $(($(get moved_to_slow_bytes) + $(get moved_to_fast_bytes)))
is 'nodes' "$(place-stat g.sexp | tail -1 | cut -d, -f3)" get num_kernels
is 'operands of inputs and outputs' "$(grep -oE '\((in|out)( [0-9]+)+\)' g.sexp | grep -oE ' [0-9]+' | wc -l)" \
    echo $(($(get num_input_tensors) + $(get num_output_tensors)))
part() { [ "$(get num_fast_input_tensors)" -le "$(get num_input_tensors)" ] && [ "$(get fast_output_tensors_bytes)" -le "$(get output_tensors_bytes)" ]; }
ok 'those in fast memory are part of them' part
is 'the setting' 'file:x o_direct real 1 avx512 abc' echo $(for c in tier method kind threads isa machine; do get $c; done)
place-record --plan=static.plan --run=run.csv g.sexp > s.csv
is 'a static plan moves nothing' '0 0' echo "$(get num_move_nodes s.csv)" "$(get moved_bytes s.csv)"
record -o all.csv && record -o all.csv
is 'a run is recorded once' 2 eval 'wc -l < all.csv'
place-record --plan=static.plan --run=run.csv --ratio=4:1 -o all.csv g.sexp
is 'another one is added' 3 eval 'wc -l < all.csv'
# names as they come: the cells are s-expressions all the same
cat > odd.sexp <<'G'
(graph (name "a b") (batch 1) (tensor 0 "x y" arg 4 f32 (1)) (tensor 1 "y(" inter 4 f32 (1)) (tensor 2 z arg 4 f32 (1))
  (node 0 "n n" Foo (in) (out 1)) (node 1 m Bar (in 1 0) (out 2)))
G
place-cost odd.sexp > odd.csv
place-plan -f fast -p odd.csv odd.sexp > odd.plan
printf 'name,seconds\nn n,0.5\nm,2\n' > odd.kernels
place-record --plan=odd.plan --run=run.csv --kernels=odd.kernels odd.sexp > odd.row
for c in tensor_bytes config kernel_seconds; do csv-calc --print="$c" odd.row | sed '1!G;h;$!d' | head -n1 | sed 's/^"//; s/"$//; s/""/"/g'; done > cells
is 'names with blanks and brackets' '(("x y" 0) ("y(" 4) (z 0))
(("n n" - D direct) (m DD D direct))
(("n n" 0.5) (m 2))' cat cells
fails 'no plan' 2 'no plan given' place-record --run=run.csv g.sexp
fails 'no run' 2 'no run given' place-record --plan=sync.plan g.sexp
head -2 run.csv > warm.csv
fails 'no counted step' 1 'warm.csv: no counted step' place-record --plan=sync.plan --run=warm.csv g.sexp
done_testing
