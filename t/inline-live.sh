# inline-live.sh - for the tests of inline-module, -sites, -build, -run, -search: the demo program, compiled once
need_llvm
cp -r "$root/data/demo" demo
inline-module --out=w demo || { echo "1..0 # skip the demo program does not compile"; exit 99; }
