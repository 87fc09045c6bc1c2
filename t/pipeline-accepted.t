#!/bin/bash
# make inline from timings that are given: what is accepted is a row, told by the rounds that did not decide
. "$(dirname "$0")/tap.sh"
home=$T/out/inline
# c's learned executes and holds what its base does, whatever the clock says; a's learned is sure to gain, its small takes as long as the base in even rounds and .99 in odd ones, its lean 1.05; all of
# b's are slower
say() { echo "$1,$2,measure,1.5,$3,ok,$4,real"; }
for name in a b c; do
    mkdir -p "$home/$name"
    for label in O2 lto-pgo learned small lean; do : > "$home/$name/$label"; done
    chmod +x "$home/$name"/*
    { echo label,round,phase,wall_seconds,cpu_seconds,status,benchmark,kind
      for ((k = 0; k < 24; k++)); do
          for input in 1 2; do
              say O2 $k 1.3 $name.$input
              say lto-pgo $k 1.000$((k % 7)) $name.$input
              case $name in [ac]) learned=0.980$((k % 5)) ;; *) learned=1.010$((k % 5)) ;; esac
              say learned $k $learned $name.$input
              case $name$((k % 2)) in a0) small=1.000$((k % 5)) ;; a1) small=0.990$((k % 5)) ;; *) small=1.040 ;; esac
              say small $k $small $name.$input
              say lean $k 1.050$((k % 5)) $name.$input
          done
      done; } > "$home/$name/runs.csv"
    { echo run,label,metric,value,source,kind
      for input in 1 2; do
          [ $name = c ] && own=100 || own=99
          for pair in O2:110 lto-pgo:100 learned:$own small:90 lean:80; do
              echo "$name.$input,${pair%:*},instructions,${pair#*:}0,qemu,real"
              echo "$name.$input,${pair%:*},text_bytes,${pair#*:},elf,real"
              echo "$name.$input,${pair%:*},code_bytes,${pair#*:},elf,real"
          done
      done; } > "$home/$name/exact.csv"
    touch "$home/$name/built"
    touch -d 2001-01-01 "$home/$name/built"
done
table() {
    make -s -C "$root" OUT="$T/out" BIN="$BIN" B="$B" INLINE_NAMES='a b c' $(printf -- '-o %s ' "$home"/{a,b,c}/{runs,exact}.csv) \
        "$home/guard.csv" "$home/table.csv" "$home/means.csv" "$home/accepted.csv" > log 2>&1 || { cat log; return 1; }
}
ok 'guard, table and means' table
is 'learned and small may go out where they are not slower; nothing of b does' 'a,learned,learned,gain
a,small,small,gain
a,lean,lto-pgo,no sure gain
b,learned,lto-pgo,no sure gain
b,small,lto-pgo,no sure gain
b,lean,lto-pgo,no sure gain
c,small,lto-pgo,no sure gain
c,lean,lto-pgo,no sure gain' bash -c "csv-where -c base --is=lto-pgo '$home/guard.csv' | csv-cut -c program,label,decision,reason | sed 1d"
is 'and what a user has is beaten by what is accepted' 'a small gain
b lto-pgo gain
c lto-pgo gain' bash -c "csv-calc --print=\"concat(program, ' ', label, ' ', reason)\" '$home/accepted.csv'"
is 'the smaller of two does; its time is that of the odd rounds, its text that of what goes out' 'a .99 .9
b 1 1
c 1 1' bash -c "csv-where -c base --is=lto-pgo '$home/table.csv' | csv-where -c label --is=accepted |
    csv-calc --print=\"concat(program, ' ', round(cpu, 2), ' ', round(text_bytes, 2))\" | sed 's/ 0/ /g' | sort"
is 'what a user is told: a next command that works, and no loss as a gain' "a: small is accepted over -O2: 0.762 [0.762 0.762] of its CPU time, 0.818 of its text
b: lto-pgo is accepted over -O2: 0.769 [0.769 0.77] of its CPU time, 0.909 of its text; lto-pgo is enough, no decisions of ours
c: lto-pgo is accepted over -O2: 0.769 [0.769 0.77] of its CPU time, 0.909 of its text; lto-pgo is enough, no decisions of ours
next: $home/a/small is that program
next: $home/b/lto-pgo is that program
next: $home/c/lto-pgo is that program" bash -c "'$root/pipelines/answer' '$home' '$home/accepted.csv'"
mkdir -p "$home/b/lto-pgo.stock" src made
echo "'CC=cc @flags'" > "$home/b/lto-pgo.stock/make.args"
csv-where -c program --is=b "$home/accepted.csv" > b.csv
touch src/{q,main,b,z,mix,a,k,test}.c made/Makefile
echo 'build *.c -lm !test.c' > src/program
is 'flags to paste: for a folder of sources' "next: cd src && cc @flags a.c b.c k.c main.c mix.c q.c z.c -lm -o b" bash -c \
    "'$root/pipelines/answer' '$home' b.csv src | tail -1"
echo 'build !m*.c *.c !test*.c -DNDEBUG -lm' > src/program
is 'patterns leave files out, wherever they stand' "next: cd src && cc @flags a.c b.c k.c q.c z.c -DNDEBUG -lm -o b" bash -c \
    "'$root/pipelines/answer' '$home' b.csv src | tail -1"
is 'and for one with a Makefile' "next: make -B -C made 'CC=cc @flags'" bash -c "'$root/pipelines/answer' '$home' b.csv made | tail -1"
{ cat "$home/b/rounds.csv"; csv-where -c label --is=lto-pgo "$home/b/rounds.csv" | csv-calc --set="label='gcc-lto'" \
    --set='cpu_seconds=cpu_seconds * .97' --set='wall_seconds=cpu_seconds' | sed 1d; } |
    csv-calc --set='cpu_seconds=cpu_seconds * (1 + round % 7 / 10)' > rounds.csv
cp "$home/b/rounds.csv" rounds.was && cp rounds.csv "$home/b/rounds.csv"
is "gcc's build is faster in each round, of which one takes as long as another" 'b: gcc-lto is faster still: 0.97 [0.97 0.97] of the CPU time of lto-pgo' \
    eval "'$root/pipelines/answer' '$home' b.csv src | grep gcc"
cp rounds.was "$home/b/rounds.csv"
is 'nothing accepted: keep your flags' 'x: nothing surely beats -O2 here: keep your flags' bash -c "printf 'program,label,base,reason,ratio,lower_ratio,upper_ratio,text_ratio
x,O2,O2,no sure gain,,,,1
' > none.csv; '$root/pipelines/answer' out none.csv"
is 'where only the rounds that do not decide are faster that is said' 'x,O2,no sure gain/gain/seems
x: nothing surely beats -O2 here: keep your flags; some builds seem to, more rounds would tell (INLINE_ROUNDS=)' bash -c "
    csv-calc --set=\"cpu_seconds=label != 'O2' && round % 2 == 0 ? 1.3 + (round % 4 - 1) / 10 : cpu_seconds\" --set=\"benchmark=replace(benchmark, 'b', 'x')\" \
        '$home/b/runs.csv' > x.csv
    csv-calc --set=\"run=replace(run, 'b', 'x')\" '$home/b/exact.csv' > xe.csv
    PLAIN=O2 FASTER=learned SMALLER='small lean' '$root/pipelines/accepted' x lto-pgo x.csv xe.csv xg.csv > xa.csv
    csv-calc --print=\"concat(program, ',', label, ',', reason)\" xa.csv; '$root/pipelines/answer' out xa.csv"
is 'an expert s build that both halves of the rounds find faster goes out; one that only the even ones do seems to' "x: O3 is accepted over -O2: 0.9 [0.9 0.9] of its CPU time, 1 of its text; O3 is enough, no decisions of ours
x: nothing surely beats -O2 here: keep your flags; some builds seem to, more rounds would tell (INLINE_ROUNDS=)" bash -c "
    stock() { csv-where -c label --is=O2 b.x.csv | csv-calc --set=\"label='O3'\" --set=\"cpu_seconds=\$1\" | csv-cat b.x.csv - > s.csv; }
    csv-calc --set=\"cpu_seconds=label == 'O2' ? 1 + (round * 7 % 5) / 1000 : 1.2\" --set=\"benchmark=replace(benchmark, 'b', 'x')\" '$home/b/runs.csv' > b.x.csv
    csv-where -c label --is=O2 xe.csv | csv-calc --set=\"label='O3'\" | csv-cat xe.csv - > se.csv
    for how in 'cpu_seconds * .9' 'cpu_seconds * (round % 2 == 0 ? .8 : 1)'; do
        stock \"\$how\"
        PLAIN=O2 FASTER=learned SMALLER='small lean' STOCK='O3 Os' '$root/pipelines/accepted' x lto-pgo s.csv se.csv sg.csv > sa.csv
        '$root/pipelines/answer' out sa.csv | sed '/^next/d'
    done"
is 'a row of the means, over both bases' 'O2 3
lto-pgo 3' bash -c "csv-where -c label --is=accepted '$home/means.csv' | csv-calc --print=\"concat(base, ' ', programs)\""
is 'intervals are over rounds, of which half decided' 'small 24
accepted 12' bash -c "csv-where -c base --is=lto-pgo '$home/table.csv' | csv-where -c program --is=a |
    csv-where -c label --is=accepted --is=small | csv-calc --print=\"concat(label, ' ', rounds)\" | sort -r"
is 'a round is the mean of its inputs' 1 bash -c "csv-calc --where=\"label == 'small' && round == 3 && abs(cpu_seconds - .9903) < 1e-9\" \
    --print=1 '$home/a/rounds.csv'"
done_testing
