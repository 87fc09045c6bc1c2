#!/bin/bash
# logread.sh - first inputs of the fuzz target logread: t/fuzz/logread.sh DIR; records of 16 bytes behind four of choice
set -euo pipefail
record() { printf "\\x$1\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x$2\\x00\\x00\\x00\\x$3\\x00\\x01\\x00"; }
thread() { record 10 00 04; record 11 03 06; record 12 01 01; record 13 02 01; record 14 02 02; record 15 04 04; record 18 04 05; record 19 01 03; record 1a 07 0a; record 20 03 07; record 21 00 05; }
{ printf '\x00\xff\x00\x00'; thread; } > "$1/seed-exclusive"
{ printf '\x01\xff\x00\x00'; thread; } > "$1/seed-nested"
{ printf '\x04\x40\x00\x00'; thread; } > "$1/seed-ring"
{ printf '\x08\x80\xff\x00'; printf 'id,kind,cat,module,name\n1,c,C,,f\n'; thread; } > "$1/seed-names"
# calls that were only counted, and records dropped where their time is placed
{ printf '\x00\xff\x00\x00'; record 10 00 04; record 20 03 0f; record 20 03 01; record 28 03 02; record 30 4d 08; record 40 00 05; } > "$1/seed-counted"
