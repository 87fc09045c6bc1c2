# inline-live.sh - for the tests of inline-module, -sites, -build, -run, -search: the demo program, compiled once
need_llvm
cp -r "$root/data/demo" demo
inline-module --out=w demo || { echo "1..0 # skip the demo program does not compile"; exit 99; }
have_gcc_plugin() { have gcc-12 g++-12 && [ -e "$(gcc-12 -print-file-name=plugin)/include/gcc-plugin.h" ]; }
