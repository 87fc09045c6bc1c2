#!/bin/bash
# what a faster part would bring
. "${0%/*}/tap.sh"
head=proc,tid,kind,cat,start_ns,end_ns,name,link,flag
cat > e.csv <<D
$head
1,1,cat,Python,0,100,begin,,
1,1,cat,Python,90,100,put,q1,
1,2,cat,Waiting,0,100,get,q1,
1,2,cat,C,100,500,work,,
1,2,cat,Python,500,510,put,q2,
1,1,cat,C,100,400,mine,,
1,1,cat,Waiting,400,510,get,q2,
1,1,cat,Python,510,610,finish,,
D
whatif() { prof-whatif --quiet "$@" e.csv | csv-cut -c part,speed,after_ns,speedup,naive_speedup | sed 1d; }
is 'on the path, until another path is longer' 'work,2,500,1.2200,1.4878' whatif --speed=work:2
is 'twice as much brings no more' 'work,4,500,1.2200,1.9677' whatif --speed=work:4
is 'beside the path nothing is gained' 'mine,2,610,1.0000,1.3261' whatif --speed=mine:2
is 'a category, on both threads' 'C,2,410,1.4878,2.3462' whatif --speed=cat=C:2
is 'slower is a speed too' 'mine,0.5,800,0.7625,0.6703' whatif --speed=name=mine:0.5
is 'a factor of one changes nothing' '*,1,610,1.0000,1.0000' whatif '--speed=*:1'
is 'several questions' 'work,2,500,1.2200,1.4878
finish,2,560,1.0893,1.0893' whatif --speed=work:2 --speed=finish:2
is 'a hundred parts, each by several factors, are as each alone' 300 eval 'for k in {1..100}; do for f in 2 3 4; do
    echo "--speed=[w$k]ork:$f"; done; done > asked; mapfile -t asked < asked
    paste -d: <(whatif "${asked[@]}" | cut -d, -f2-) <(for f in 2 3 4; do whatif --speed=work:$f; done | cut -d, -f2- |
        for i in {1..100}; do [ $i = 1 ] && l=$(cat); echo "$l"; done) | awk -F: '"'"'$1 == $2'"'"' | wc -l'
fails 'nothing matches: names like it' 1 'mein: nothing matches it; names like it: begin, mine' prof-whatif --speed=mein:2 e.csv
near() { local pattern=$1; shift; { echo "$head"; for i; do echo "1,1,$i"; done | awk -F, -v OFS=, '{ print $1, $2, $3, $4, 10 * NR, 10 * NR + 10, $5, "", "" }'; } > near.csv
    prof-whatif "--speed=$pattern:2" near.csv 2>&1 | sed 's/.*names like it: //; s/,.*//'; }
is 'what has it inside is nearest' zwork12345 near wor cat,C,war cat,C,zwork12345
is 'of kernels too' gemm near gema gpu,GPU,gemm cat,C,unlike
long=$(printf 'abcdefghi%.0s' {1..13})
is 'of long names their ends' "$long.y" near "$long-x" cat,C,b cat,C,cd "cat,C,$long.y"
printf '%s\n' "$head,hook" '1,1,cat,Python,0,10,a.py:1.f,,,tree' 1,1,cat,C,10,20,math.sqrt,,,c_patch '1,1,cat,Python,20,30,a.py:1.f,,,' > cut.csv
fails 'a table of pieces does not know what runs under a name' 1 'this table has pieces of functions' prof-whatif --speed=name=*f:2 cut.csv
is 'a category does' '30,25' eval "prof-whatif --speed=cat=C:2 cut.csv | csv-cut -c before_ns,after_ns | sed 1d"
# f calls g a thousand times, each call 20 ns and 40 to record it, ten of these on either side of either record; the
# recorder works for itself besides
{ echo "$head,hook"; echo 1,,proc,cost,0,0,call,40.0,,; echo 1,1,cat,Python,0,100000,,,,; echo 1,1,cat,Python,0,60020,f,,,tree
  for i in {0..999}; do echo 1,1,cat,C,$((i * 60 + 20)),$((i * 60 + 60)),g,,,c_patch; done; echo 1,1,cat,Profiler,70000,80000,writing,,,c_patch; } > cost.csv
# f: 60020 - 40 * 1000 - 20, then 39980 - 10000 - 30 of the rest, a thousand times 20 of it in g
is 'what recording cost is taken out first' '49950,39950,20000' eval "prof-whatif --speed=name=f:2 cost.csv | csv-cut -c before_ns,after_ns,selected_ns | sed 1d"
# a call in C that calls back into Python: whole, and as the pieces that exclude each other
{ echo "$head,hook"; echo 1,,proc,cost,0,0,call,40.0,,; echo 1,1,cat,C,0,100000,sort,,,c_patch
  for i in {0..999}; do echo 1,1,cat,Python,$((i * 100)),$((i * 100 + 50)),key,,,tree; done; } > whole.csv
{ echo "$head,hook"; echo 1,,proc,cost,0,0,call,40.0,,
  for i in {0..999}; do echo 1,1,cat,Python,$((i * 100)),$((i * 100 + 50)),key,,,tree; echo 1,1,cat,C,$((i * 100 + 50)),$((i * 100 + 100)),sort,,part,; done; } > pieces.csv
for t in whole pieces; do
    is "of $t, too: no answer depends on the table's form" '60000,45000' eval "prof-whatif --speed=cat=Python:2 $t.csv | csv-cut -c before_ns,after_ns | sed 1d"
done
# launches mostly take 60: k3, which waited for k2, comes at 20 + 60; a launch that was the last to wait for stays so
cat > launch.csv <<D
$head
1,1,cat,Python,-20,-10,main,,
1,1,cat,CUDA,-10,0,cudaLaunchKernel,1,
1,1,cat,CUDA,0,20,cudaLaunchKernel,2,
1,1,cat,CUDA,20,100,cudaLaunchKernel,3,
1,1,cat,CUDA,100,1000,cudaDeviceSynchronize,,
1,d0.s1,gpu,GPU,50,60,k1,1,
1,d0.s2,gpu,GPU,30,500,k2,2,
1,d0.s2,gpu,GPU,500,990,k3,3,
D
after() { prof-whatif --quiet --speed="$1" "$2" | csv-cut -c before_ns,after_ns | sed 1d; }
is 'no kernel before its launch is through' 1020,600 after name=k2:470 launch.csv
sed 's/500,k2/70,k2/; s/500,990/80,990/' launch.csv > late.csv
is 'a slower one before it takes up what it waited for' 1020,1050 after name=k2:0.5 late.csv
# k3 waited for k2, 100 ns more than its launch takes: that is no launch, which k2's alone shows to take 30
cat > lag.csv <<D
$head
1,1,cat,Python,-10,0,main,,
1,1,cat,CUDA,0,20,cudaLaunchKernel,2,
1,1,cat,Python,20,150,more,,
1,1,cat,CUDA,150,160,cudaLaunchKernel,3,
1,1,cat,CUDA,160,2000,cudaDeviceSynchronize,,
1,d0.s2,gpu,GPU,30,500,k2,2,
1,d0.s2,gpu,GPU,600,1900,k3,3,
D
is 'what a launch takes is known from those that waited for nothing else' 2010,1590 after name=k2:470 lag.csv
sed 's/20,150,more/20,400,more/; s/150,160/400,410/; s/160,2000/410,2000/; s/600,1900,k3/450,500,k3/' lag.csv > behind.csv
is 'a kernel that ends with another and is all behind it is none' 2010,1541 after name=k2:470 behind.csv
# a thread begins when who begins it has come so far, whatever the GPU did last
printf '%s\n' "$head" 1,1,cat,Python,0,100,make,, 1,2,cat,C,100,500,work,, 1,s0,gpu,GPU,20,95,k,, > begin.csv
is 'a thread is begun by another' 500,450 after name=make:2 begin.csv
printf '%s\n' "$head" 1,1,cat,Python,0,50000000,make,, 1,1,cat,C,50000000,100000000,other,, 1,2,cat,C,0,100,work,, \
    1,2,cat,C,100000000,100000100,more,, > idle.csv
is 'a thread that mostly does nothing was woken some time in its gap' 100000100,75000100 after name=make:2 idle.csv
{ echo "$head"; for i in {0..9999}; do echo "1,1,cat,C,$((8 * i)),$((8 * i + 3)),short,,"; echo "1,1,cat,Python,$((8 * i + 3)),$((8 * i + 8)),,,"; done; } > short.csv
is 'ten thousand calls of 3 ns are faster by what they take together' '65000 79997 57500' eval \
    "prof-whatif --quiet --speed=short:{2,1.0001,4} short.csv | csv-cut -c after_ns | sed 1d | paste -sd' '"
fails 'no factor' 2 'expected PART:K' prof-whatif --speed=work e.csv
fails 'a factor of 0' 2 'not a factor' prof-whatif --speed=work:0 e.csv
# a thread begins no earlier because of what was done long before; two waits that end at once did not wake each other
cat > first.csv <<D
$head
1,s,gpu,GPU,0,1000,k,1,
1,1,cat,CUDA,5000000,5000100,cudaDeviceSynchronize,,
D
cat > both.csv <<D
$head
1,1,cat,Waiting,0,100,get,a,
1,1,cat,Python,100,200,put,b,
1,2,cat,Waiting,0,100,get,b,
1,2,cat,Python,100,300,put,a,
D
cat > late.csv <<D
$head
1,1,cat,C,0,9007199254740995,long,,
D
unchanged() { prof-whatif --quiet --unexplained=1 '--speed=*:1' "$1.csv" | csv-cut -c before_ns,after_ns | sed 1d; }
fails 'waits on the path that nothing explains' 1 "33.3 % of the run are waits .* most of them 'get'" prof-whatif '--speed=*:1' both.csv
printf '%s\n' "$head" 1,1,cat,C,0,100,work,, 1,1,cat,Waiting,100,200,first,, 1,1,cat,C,200,300,more,, 1,1,cat,Waiting,300,400,last,, > ends.csv
fails 'the last counts as the others do, and of two as long it is named' 1 "50.0 % of the run are waits .* most of them 'last'" prof-whatif '--speed=*:1' ends.csv
is 'and how many they are' 0.3333 bash -c "prof-whatif --unexplained=0.4 '--speed=*:1' both.csv | csv-cut -c unexplained_share | sed 1d"
is 'unchanged: a thread that begins late' 5000100,5000100 unchanged first
is 'unchanged: two threads that wait for each other' 300,300 unchanged both
is 'unchanged: more ns than a double counts' 9007199254740995,9007199254740995 unchanged late
fails 'longer than the clock' 1 'longer than 73 years' \
    bash -c "{ echo $head; echo 1,1,cat,C,-4611686018427387904,4611686018427387904,f,,; } | prof-whatif --speed='*:2'"
fails 'slower than the clock' 1 'more than 73 years' prof-whatif '--speed=*:0.001' late.csv
fails 'by little' 1 'more than 73 years' prof-whatif '--speed=*:0.0035' late.csv
sed s/9007199254740995/2305843009213693952/ late.csv > longest.csv
is 'as long as the clock' 2305843009213693952,2305843009213693952 after '*:1' longest.csv
# a data-parallel training, simulated: what a faster part of one rank brings is what the simulation says, to the ns
if command -v python3 > /dev/null; then
    ranks() { local seed part want got; for seed in {1..8}; do
        python3 "$root/t/data/prof-ranks.py" $seed 3 > r.csv
        for part in prepare$((seed % 3)) forward$((seed * 2 % 3)); do
            python3 "$root/t/data/prof-ranks.py" $seed 3 $part 2 > faster.csv
            want=$(prof-whatif --quiet '--speed=*:1' faster.csv | csv-cut -c before_ns | sed 1d)
            got=$(prof-whatif --quiet --speed=$part:2 r.csv | csv-cut -c after_ns | sed 1d)
            [ "$want" = "$got" ] || { echo "seed $seed, $part twice as fast: $got ns, simulated $want"; return 1; }
        done
    done; }
    ok 'three ranks that meet in collectives: as simulated' ranks
    fails 'and how many met is said' 0 '6 collectives join processes; 0 kernels' prof-path r.csv
    sed 's/^rank2.1,s7,gpu,Communication/rank2.1,s7,gpu,GPU/' r.csv > two.csv
    fails 'of two of the three too' 0 '6 collectives join processes; 0 kernels' prof-path two.csv
    awk -F, -v OFS=, '/^rank1.1,s7,gpu,Communication/ && !n++ { print; $5++; print; $5 = $6 = $6 + 1; } 1' r.csv > more.csv
    fails 'what is all behind another or takes no time is no collective' 0 '6 collectives join processes; 0 kernels' prof-path more.csv
    sed '/^rank[12].1,s7,gpu,Communication/d' r.csv > one.csv
    is 'a rank by itself waits for nobody' 0 bash -c "prof-path --quiet --pieces one.csv | grep -c collective || :"
fi
# a poll that timed out and was begun anew is one wait; who gets the interpreter's lock had to wait for its holder
m=000000
cat > poll.csv <<D
$head
1,1,cat,C,0,25$m,part,,
1,1,link,post,25$m,25$m,socket,k,1
1,2,cat,Python,0,1$m,loop,,
1,2,link,take,1$m,20$m,timeout,00000000,
1,2,cat,Python,20$m,20100000,loop,,
1,2,link,take,20100000,25$m,socket,k,1
1,2,cat,Python,25$m,30$m,answer,,
D
cat > gil.csv <<D
$head
1,1,cat,Python,0,20$m,part,,
1,1,link,post,20$m,20$m,lock,k,
1,1,cat,Waiting,20$m,30$m,sleep,,
1,2,cat,Waiting,0,24$m,GIL,,
1,2,cat,Python,24$m,30$m,answer,,
D
after() { prof-whatif --quiet --speed=part:"$2" "$1.csv" | csv-cut -c after_ns,unexplained_share | sed 1d; }
is 'what a poll with a timeout waits for' 10$m,0.0000 after poll 5
is 'unchanged' 30$m,0.0000 after poll 1
is 'who had the interpreter'"'"'s lock, though the CPU came late' 20$m,0.0000 after gil 2
# iterations of 100 and 140, of which half is the part: the interval is that of the sum of ten
{ echo "$head"; at=0; for i in {1..10}; do d=$((100 + i % 2 * 40)); echo "1,1,op,,$at,$((at + d)),step,,"; echo "1,1,cat,C,$at,$((at + d / 2)),half,,"; echo "1,1,cat,Python,$((at + d / 2)),$((at + d)),rest,,"; at=$((at + d)); done; } > it.csv
is 'the interval of ten iterations of 75 and 105: 900 +- t(9) * sd * sqrt 10' 900,787,1013,10 \
    bash -c 'prof-whatif --speed=half:2 it.csv | csv-cut -c after_ns,low_ns,high_ns,iterations | sed 1d'
sed -n '1,16p' it.csv > five.csv
is 'five are enough' 5 eval 'prof-whatif --quiet --speed=half:2 five.csv | csv-cut -c iterations | sed 1d'
{ cat it.csv; echo 1,1,op,,10,20,other,,; echo 1,2,op,,0,10,step,,; echo 1,2,cat,C,0,10,aside,,; } > others.csv
is 'other operations, and the same on other threads, are none of them' 10 eval 'prof-whatif --quiet --speed=half:2 others.csv | csv-cut -c iterations | sed 1d'
is 'of 90 %: t(9) is 1.833' 809,991 \
    bash -c 'prof-whatif --confidence=0.9 --speed=half:2 it.csv | csv-cut -c low_ns,high_ns | sed 1d'
# whoever began a thread did it, not who ended something by chance just before
{ echo "$head"; echo '1,1,cat,C,0,50000,p1,,
1,1,link,post,50000,50000,start,k1,
1,1,cat,C,50000,70000,p1b,,
1,2,link,take,60000,60000,start,k1,
1,2,cat,C,60000,160000,c1,,
1,3,cat,C,0,59500,noise,,'; } > start.csv
is 'a thread whose start is known has one cause' 1.1852,135000 \
    bash -c 'prof-whatif --quiet --speed=p1:2 start.csv | csv-cut -c speedup,after_ns | sed 1d'
{ echo "$head"; echo '1,1,cat,,0,100000,p1,,
1,1,link,post,50000,50000,go,f 1,
1,2,cat,,60000,160000,c1,,
1,2,link,take,60000,60000,go,f 1,
1,3,cat,,0,59500,noise,,'; } > flow.csv
is 'and so has one at whose first row a flow arrives' 1.1852,135000 \
    bash -c 'prof-whatif --quiet --speed=p1:2 flow.csv | csv-cut -c speedup,after_ns | sed 1d'
done_testing
