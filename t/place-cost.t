#!/bin/bash
source "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

cat > tiny <<'G'
(graph (name tiny) (batch 1)
  (tensor 0 x arg 4000000 f32 (1000000)) (tensor 1 a inter 4000000 f32 (1000000)) (tensor 2 y arg 4000000 f32 (1000000))
  (node 0 n0 Foo (in 0) (out 1) (attr (kernel 3 3)) (flops 1.9e9)) (node 1 n1 Bar (in 1) (out 2)))
G
# Foo: 1 ms of compute; memory 4e6/110e9 + 4e6/78e9 = 87.6 us fast, 4e6/110e9 + 4e6/5e9 = 836.4 us when a is slow
is "the model's arithmetic, every placement, copies" "key,op,shapes,in_tiers,out_tiers,mode,staging_bytes,time_seconds,runs,method,kind
Foo 1000000>1000000 kernel=3x3 Foo 1000000>1000000 D D direct 0 0.00101615 0 model simulated
Foo 1000000>1000000 kernel=3x3 Foo 1000000>1000000 D P direct 0 0.00112845 0 model simulated
Bar 1000000>1000000 Bar 1000000>1000000 D D direct 0 9.06457e-05 0 model simulated
Bar 1000000>1000000 Bar 1000000>1000000 P D direct 0 0.000187615 0 model simulated
Move 4096 Move 4096 D P direct 0 3.41333e-07 0 model simulated
Move 4096 Move 4096 P D direct 0 1.41241e-07 0 model simulated" bash -c 'place-cost tiny | head -n7 | awk -F, "NR == 1 { print; next } { \$8 = sprintf(\"%.6g\", \$8); print }"'
ok "twice the bandwidth, half the time" awk -v a="$(place-cost tiny | awk -F, '$1 == "Move 65536" && $5 == "D" { print $8 }')" \
    -v b="$(place-cost --fetch=58G tiny | awk -F, '$1 == "Move 65536" && $5 == "D" { print $8 }')" 'BEGIN { exit !(a / b > 1.999 && a / b < 2.001) }'
# what happens to a parameter in one node may happen to an intermediate in another node of the same kernel
arg() { echo "(tensor $1 $2 arg 262144 f32 (65536)${3:+ (updates $3)})"; }
inter() { echo "(tensor $1 $2 inter 262144 f32 (65536))"; }
{ echo '(graph (name shared) (batch 1)'; arg 0 w; arg 1 g; arg 2 next 0; inter 3 x; inter 4 y; arg 5 z
  echo '(node 0 up Add (in 0 1) (out 2)) (node 1 r Relu (in 1) (out 3)) (node 2 a Add (in 3 1) (out 4)) (node 3 s Relu (in 4) (out 5)))'
} > shared
place-cost shared > shared.csv
ok "a kernel of updates and of sums" eval 'place-plan -f static --limit=300K -p shared.csv shared > plan && place-check --plan=plan -p shared.csv shared'
# more operands than a word has bits, none of which can move
many() { local i; echo '(graph (name many) (batch 1)'; for ((i = 0; i < $1; i++)); do echo "(tensor $i t$i inter 4 f32 (1))"; done
    echo "(tensor $1 y arg $((4 * $1)) f32 ($1))"; for ((i = 0; i < $1; i++)); do echo "(node $i t$i Foo (in) (out $i))"; done
    echo "(node $1 y Concat (in $(seq -s' ' 0 $(($1 - 1)))) (out $1)))"; }
many 1500 > many
place-cost many > many.csv
is "operands by the thousand" "1500 1" eval 'tail -n 1 <(grep ^Concat many.csv) | awk -F, "{ print length(\$4), length(\$5) }"'
is "a kernel without inputs" "Foo >1,Foo,>1,,D" eval 'grep ^Foo many.csv | cut -d, -f1-5'
ok "and a plan of them" eval 'place-plan -f sync --limit=1M -p many.csv many > plan && place-check --plan=plan -p many.csv many'
cat > table.csv <<'C'
op,nin,nout,inshapes,outshapes,intypes,outtypes,mkl,formats,in_tiers,out_tiers,usec
Bar,1,1,1000x1000,1000x1000,f32,f32,1,0;0,D,D,77
Foo,1,1,1000x1000,1000x1000,f32,f32,1,0;0,D,D,1000
Foo,1,1,1000x1000,1000x1000,f32,f32,1,0;0,D,P,2000
Foo,1,1,tagx7,1000x1000,f32,f32,1,0;0,D,P,1
C
is "times of a table, the nearest tiers where some are missing" "D D 0.001 table
D P 0.002 table
D D 0.000077 table
P D 0.000077 nearest" bash -c 'place-cost --table=table.csv tiny | awk -F, "NR > 1 && \$2 != \"Move\" { print \$4, \$5, \$8, \$10 }"'
fails "an unknown model" 2 "unknown model 'moon', one of optane" place-cost --model=moon tiny
sed -i 's/,77/,x/' table.csv
fails "a table with nonsense" 1 "table.csv:2: column 'usec': 'x'" place-cost --table=table.csv tiny
sed -i 's/D,D,x/D,Q,7/' table.csv
fails "a tier that does not exist" 1 "table.csv:2: column 'out_tiers': 'Q'" place-cost --table=table.csv tiny
file=${MILLRACE_DATA:-$root/../shared/data}/place/optane_kernels.csv
if [ -e "$file" ]; then
    is "nearly all large kernels of VGG19 at batch 16 are in the authors' table" "few" bash -c "place-net --study vgg19 --batch=16 | place-cost --table=$file |
        awk -F, 'NR > 1 && \$2 != \"Move\" { n[\$10]++ } END { print (n[\"model\"] * 20 < n[\"table\"]) ? \"few\" : n[\"model\"] }'"
else skip "the authors' table" "the original data is not here"; fi
done_testing
