#!/bin/bash
# overhead taken out; placed intervals are in prof-oracle.t
. "${0%/*}/tap.sh"
cat > cal.sexp <<'D'
(calibration (host h) (cost (hook c_wrap) (mean_ns 10) (std_ns 3) (inside_ns 4) (n 10)))
D
cat > cells.csv <<'D'
proc,phase,op,cats,total_ns,lo_ns,hi_ns,runs
p,,a,C,1000,0,9,1
p,,a,Python,5000,0,9,1
p,,a,GPU+Python,700,0,9,1
p,,b,Python,50,0,9,1
D
cat > hooks.csv <<'D'
proc,phase,op,cats,hook,before,begun
p,,a,Python,c_wrap,100,0
p,,a,C,c_wrap,0,300
p,,a,GPU+Python,c_wrap,90,90
p,,b,Python,c_wrap,20,0
D
is 'counts: inside the call and around it, carried on within the operation, clipped without room, nothing beside the GPU' \
'proc,phase,op,cats,total_ns,lo_ns,hi_ns,runs,raw_ns,removed_ns,clipped_ns,error_ns
p,,a,C,0,0,9,1,1000,1000,0,120
p,,a,Python,4200,0,9,1,5000,800,0,60
p,,a,GPU+Python,700,0,9,1,700,0,0,0
p,,b,Python,0,0,9,1,50,50,70,12' prof-correct --calibration=cal.sexp --hooks=hooks.csv cells.csv
sed -i 's/c_wrap/other/' hooks.csv
fails 'a hook that is not calibrated is told' 0 'hook other is not calibrated' prof-correct -c cal.sexp --hooks=hooks.csv cells.csv
fails 'one way or the other' 2 'give --calibration' prof-correct cells.csv
done_testing
