#!/bin/bash
source "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

cat > small.csv <<'C'
id,lower,upper,size
b1,0,3,4
b2,3,9,4
b3,0,9,4
b4,9,21,4
b5,0,21,4
C
is "offsets are added, the rest is kept" "id,lower,upper,size,offset
b1,0,3,4,0
b2,3,9,4,0
b3,0,9,4,4
b4,9,21,4,0
b5,0,21,4,8" place-pack --capacity=12 small.csv
fails "below the load" 1 "small.csv: cannot be packed: 12 bytes are alive at once, the capacity is 11" place-pack --capacity=11 small.csv
is "and nothing is written" "0" bash -c "place-pack --capacity=11 small.csv 2> /dev/null | wc -c"
# sound OUT CAPACITY: no two buffers overlap in time and address, none ends above the capacity
sound() {
    awk -F, -v cap="$2" 'NR > 1 { n++; l[n] = $2; u[n] = $3; s[n] = $4; o[n] = $NF; if (o[n] + s[n] > cap) print "above the capacity: " $0
        for (i = 1; i < n; i++) if (l[i] < u[n] && l[n] < u[i] && o[i] < o[n] + s[n] && o[n] < o[i] + s[i]) print "overlap: " $0 }
        END { print n " buffers" }' "$1"
}
random() { awk -v seed="$1" 'BEGIN { srand(seed); print "id,lower,upper,size"; for (i = 0; i < 60; i++) { l = int(100 * rand()); print i "," l "," l + 1 + int(30 * rand()) "," 1 + int(50 * rand()) } }'; }
for seed in 1 2 3; do
    random $seed > r.csv
    place-pack r.csv > o.csv
    is "random buffers $seed do not overlap" "60 buffers" sound o.csv 100000
    load=$(awk -F, 'NR > 1 { for (t = $2; t < $3; t++) c[t] += $4 } END { for (t in c) if (c[t] > m) m = c[t]; print m }' r.csv)
    fails "random buffers $seed cannot go below their load of $load" 1 "cannot be packed" place-pack --capacity=$((load - 1)) r.csv
done
# three buffers that together with their neighbours need more than the load: proved by search
cat > tight.csv <<'C'
id,lower,upper,size
a,0,2,1
b,1,4,2
c,3,6,1
d,5,8,2
e,7,9,1
f,0,1,2
g,8,9,2
h,2,3,1
i,6,7,1
j,4,5,1
C
is "packed into the load" "10 buffers" bash -c "$(declare -f sound); place-pack --capacity=3 tight.csv > o.csv; sound o.csv 3"
is "twice the same bytes" "same" bash -c "place-pack r.csv > a; place-pack r.csv > b; cmp a b && echo same"
printf 'id,lower,upper,size\na,3,3,5\n' > bad.csv
fails "an empty life" 1 "bad.csv:2: column 'upper': '3' is not above 'lower'" place-pack bad.csv
printf 'id,lower,upper,size\na,3,4,-5\n' > bad.csv
fails "a negative size" 1 "bad.csv:2: column 'size': '-5'" place-pack bad.csv
printf 'id,lower,size\na,3,5\n' > bad.csv
fails "a missing column" 1 "upper" place-pack bad.csv
is "no buffers at all" "id,lower,upper,size,offset" place-pack <(echo id,lower,upper,size)
dir=${MILLRACE_DATA:-$root/../shared/data}/place/minimalloc
for name in A C E; do
    file=$dir/$name.1048576.csv
    [ -e "$file" ] || { skip "hard instance $name" "the original data is not here"; continue; }
    place-pack --capacity=1048576 "$file" > o.csv
    is "hard instance $name fits" "$(($(wc -l < "$file") - 1)) buffers" sound o.csv 1048576
done
{ echo id,lower,upper,size; for i in {1..300}; do echo $i,0,1,72057594037927936; done; } > huge.csv
fails 'sizes whose offsets would not fit 63 bits' 1 'huge.csv:6[0-9]: the sizes add up to more than' place-pack huge.csv
done_testing
