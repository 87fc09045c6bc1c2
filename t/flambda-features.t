#!/bin/bash
. "$(dirname "$0")/tap.sh"
row() { echo "(((int_features())(numeric_features((size $1)(dead 7)))(bool_features((y $2)(z false))))())"; }
echo "($(row 1 true) $(row 3 false))" > fft.sexp
is 'features as they are' 'program,site,size,dead,y,z
fft,,1,7,1,0
fft,,3,7,0,0' flambda-features fft.sexp
is 'prepared: dead columns dropped, numeric ones standardised' 'program,site,size,y
fft,,-1,1
fft,,1,0' flambda-features --standardise --scale=s.csv fft.sexp
is 'what was kept' 'column,type,kept,mean,deviation
size,numeric,1,2,1
dead,numeric,0,7,0
y,flag,1,0.5,0.5
z,flag,0,0,0' cat s.csv
fails 'a flag that is none' 1 "'maybe' is not true or false" bash -c "sed s/true/maybe/ fft.sexp | flambda-features"
if [ -n "${MILLRACE_DATA:-}" ] || [ -d "$root/../shared/data" ]; then
    need_data inline/features-v3
    flambda-features --standardise --scale=s.csv "$DATA"/inline/features-v3/*.sexp > f.csv
    is 'the published preparation: 64 and 115 columns, 27 and 47 kept' '64 27 115 47' awk -F, 'NR > 1 { n[$2]++; k[$2] += $3 } END { print n["numeric"], k["numeric"], n["flag"], k["flag"] }' s.csv
fi
done_testing
