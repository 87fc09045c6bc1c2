#!/bin/bash
# categories by patterns
. "${0%/*}/tap.sh"
cat > map.sexp <<'D'
(map (match "torch.*" Backend) (match "time.*" Python) (cpu Backend Python) (gpu GPU))
D
printf '%s\n' kind,cat,start_ns,end_ns,name,extra cat,C,0,1,torch.mm,1 cat,C,1,2,time.sleep,2 op,,0,2,torch.op,3 cat,C,2,3,,4 cat,C,3,4,zlib.crc32,5 > ev.csv
is 'the first match counts; no name and no match keep the category' 'kind,cat,start_ns,end_ns,name,extra
cat,Backend,0,1,torch.mm,1
cat,Python,1,2,time.sleep,2
op,,0,2,torch.op,3
cat,C,2,3,,4
cat,C,3,4,zlib.crc32,5' prof-map --quiet --map=map.sexp ev.csv
fails 'what no pattern matches is counted' 0 '1 rows matched no pattern' prof-map --map=map.sexp ev.csv
fails 'a map that is none' 1 'expected' prof-map --map=<(echo '(config)') ev.csv
fails 'no map' 2 'no --map' prof-map ev.csv
done_testing
