# tap.sh - the few words that test files use; source it first.  Each test file runs in its own empty directory.
#   is NAME WANT CMD...            stdout is WANT plus a newline, stderr empty, exit 0
#   fails NAME STATUS REGEX CMD... exits with STATUS and says REGEX on stderr
#   ok NAME CMD...                 exits 0
#   skip NAME WHY                  not run here
#   sanitized                      are the programs built with the address sanitizer?
#   have PROGRAM...                are all of these here?  (one of several is enough for command -v)
#   needs PROGRAM...               all of them, or end the file here with a skip that says which is not
#   need_llvm PROGRAM...           the LLVM that inline-* find here, and these too; sets $llvm, its version
#   need_python MODULE...          the system's Python with these modules, or end the file here with a skip; sets $python
#   need_data PATH                 the original studies' data, or end the file here with a skip; sets $DATA
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BIN=${BIN:-$root/bin} B=${B:-$root/build}
PATH=$BIN:/usr/bin:$PATH
# a make that a test starts is a user's own, not a part of the one that runs the tests
unset MAKEFLAGS MFLAGS MAKELEVEL CFLAGS CPPFLAGS LDFLAGS
# what a user set for his shell and his tools
unset CDPATH PARALLEL GREP_OPTIONS POSIXLY_CORRECT BASH_ENV MILLRACE_LOOP_MACHINE
export LC_ALL=C TZ=UTC BIN B OPENBLAS_NUM_THREADS=1
T=$(mktemp -d) && cd "$T" || exit 99
trap 'cd / && rm -rf "$T" "$T.lock"' EXIT
# what is measured here is no figure: it waits for nothing but what this file measures
export MILLRACE_MEASURE_LOCK=$T.lock
# the recorder as built for a Python
recorder() { echo "$B/prof/_millrace.$("${1:-/usr/bin/python3}" -c 'import sysconfig; print(sysconfig.get_config_var("SOABI"))' 2> /dev/null).so"; }
tap_count=0 tap_failed=0
pass() { echo "ok $((++tap_count)) - $1"; }
fail() { echo "not ok $((++tap_count)) - $1"; tap_failed=1; [ -z "${TAP_FIRST-}" ] || exit 1; [ ! -s "$T/why" ] || { echo "# $1"; sed 's/^/# /' "$T/why" | head -40; } >&2; }
is() {
    local name=$1 rc=0
    printf '%s\n' "$2" > "$T/want"
    shift 2
    "$@" > "$T/got" 2> "$T/err" || rc=$?
    { [ $rc = 0 ] || echo "exit $rc"; cat "$T/err"
      diff -u "$T/want" "$T/got"; } > "$T/why" 2>&1
    if [ -s "$T/why" ]; then fail "$name"; else pass "$name"; fi
}
fails() {
    local name=$1 status=$2 re=$3 rc=0
    shift 3
    "$@" > "$T/got" 2> "$T/err" || rc=$?
    { [ $rc = "$status" ] || echo "exit $rc, want $status"
      grep -Eq -- "$re" "$T/err" || { echo "stderr does not match /$re/:"; cat "$T/err"; }; } > "$T/why"
    if [ -s "$T/why" ]; then fail "$name"; else pass "$name"; fi
}
ok() {
    local name=$1
    shift
    if "$@" > "$T/why" 2>&1; then pass "$name"; else fail "$name"; fi
}
# the address sanitizer has its own malloc and maps terabytes: no limits of memory, nothing loaded before it
sanitized() { nm "$(command -v csv-cat)" 2> /dev/null | grep -q __asan_init; }
skip() { echo "ok $((++tap_count)) # skip $1: $2"; }
have() {
    for missing; do command -v -- "$missing" > /dev/null || return; done
}
needs() {
    have "$@" && return
    if [ $tap_count = 0 ]; then
        echo "1..0 # skip $missing is not here"
        exit 0
    fi
    skip 'the rest' "$missing is not here"
    done_testing
}
# some tests want no compiler in their other parts: those ask have_llvm
have_llvm() {
    for llvm in $(clang --version 2> /dev/null | sed -n 's/.* version \([0-9]*\)\..*/\1/p') {14..19}; do
        have clang-$llvm opt-$llvm llvm-link-$llvm && return
    done
    missing=clang
    return 1
}
# the gcc that inline-* find here: the first, and with what its plugin is made of?  Sets $gcc, its version
have_gcc_plugin() {
    for gcc in {12..15}; do have gcc-$gcc && break; done
    have gcc-$gcc g++-$gcc && [ -e "$(gcc-$gcc -print-file-name=plugin)/include/gcc-plugin.h" ]
}
need_llvm() { have_llvm; needs clang-$llvm opt-$llvm llvm-link-$llvm "$@"; }
need_python() {
    python=/usr/bin/python3
    export PYTHONDONTWRITEBYTECODE=1
    "$python" -c "import $(IFS=,; echo "$*")" 2> /dev/null && return
    echo "1..0 # skip $python lacks one of $*"
    exit 0
}
need_data() {
    DATA=${MILLRACE_DATA:-$root/../shared/data}
    [ -e "$DATA/$1" ] && return
    if [ $tap_count = 0 ]; then
        echo "1..0 # skip $1 of the original data is not here"
        exit 0
    fi
    skip 'the rest' "$1 of the original data is not here"
    done_testing
}
done_testing() { echo "1..$tap_count"; exit $tap_failed; }
