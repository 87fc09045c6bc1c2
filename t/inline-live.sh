# inline-live.sh - for the tests of inline-module, -sites, -build, -run, -search: the demo program, compiled once
command -v clang-14 llvm-link-14 opt-14 > /dev/null || { echo "1..0 # skip clang-14 and llvm-14 are not here"; exit 0; }
cp -r "$root/data/demo" demo
inline-module --out=w demo || { echo "1..0 # skip the demo program does not compile"; exit 99; }
have_gcc_plugin() { command -v gcc-12 g++-12 > /dev/null && [ -e "$(gcc-12 -print-file-name=plugin)/include/gcc-plugin.h" ]; }
