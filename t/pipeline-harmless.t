#!/bin/bash
# programs of the system say, return and write the same, recorded or not: every library call of theirs, and Python's
# MORE='--ring=5000': under these options, too (make bench-prof-harmless: under each)
. "${0%/*}/tap.sh"
[ -e "$B/prof/libmillrace-calls.so" ] || { echo "1..0 # skip the preload library was not built (x86-64)"; exit 0; }
ldd "$B/prof/libmillrace-calls.so" | grep -q libasan && { echo "1..0 # skip built with a sanitizer"; exit 0; }
export LC_ALL=C TZ=UTC HOME=$PWD
seq 20000 > numbers
sed 's/$/,x,"a b"/' numbers | head -2000 > rows.csv
printf 'int f(int x)\n{\n    return x + 1;\n}\n' > f.c
printf 'a:\n\techo made > a\n' > Makefile
: > log
unharmed() { # NAME COMMAND...: in folders of its own, with and without
    local name=$1; shift
    command -v "$1" > /dev/null || { skip "$name" "no $1"; return; }
    rm -rf plain recorded; mkdir plain recorded
    for d in plain recorded; do cp numbers rows.csv f.c Makefile *.py $d/ 2> /dev/null; done
    (cd plain && timeout 60 "$@" > out 2> err < numbers; echo $? > status) 2> /dev/null
    (cd recorded && timeout 60 prof-record --quiet --calls='*' ${MORE-} -o ../logs.$$ "$@" > out 2> err < numbers; echo $? > status) 2> /dev/null
    prof-log --stat logs.$$ 2> /dev/null | sed "1d; s/^/$name,/" >> log
    rm -rf logs.$$
    if diff -r plain recorded > differs 2>&1; then pass "$name"; else fail "$name"; sed 's/^/# /' differs | head -20; fi
}
while read -r name command; do
    [ -z "$name" ] || eval "unharmed $name $command"
done <<'COMMANDS'
true    true
ls      ls -l /usr/bin
cat     cat numbers
sort    sort -n -r numbers
wc      wc numbers f.c
sha256  sha256sum numbers
date    date -d @86400 +%F
find    find /etc -maxdepth 1 -name "pass*"
grep    grep -c 77 numbers
sed     sed -n "s/7/x/gp" numbers
awk     awk "{ s += \$1 } END { print s, sin(s) }" numbers
tar     tar --sort=name --mtime=@0 -cf x.tar numbers f.c
gzip    gzip -k -n numbers
xz      xz -k -T2 numbers
bzip2   bzip2 -k numbers
zstd    zstd -q -T2 -k numbers
bash    bash -c "for i in 1 2 3; do echo \$i | (read x; echo \$((x * 2))); done; trap 'echo bye' EXIT; kill -USR1 \$\$"
dash    dash -c "ls | wc -l; exit 7"
make    make -s a
perl    perl -e 'my %h; $h{$_ % 97}++ for 1..20000; print join(",", map { $h{$_} } sort keys %h), "\n"; fork() || exit 3; wait; print $? >> 8'
python3 /usr/bin/python3 -c "import json, zlib, subprocess; print(json.dumps({'a': zlib.crc32(b'x')})); print(subprocess.run(['echo', 'child'], capture_output=True).stdout)"
threads /usr/bin/python3 -c "import threading; r = []; t = [threading.Thread(target=lambda k=k: r.append(sum(range(k)))) for k in range(0, 40000, 5000)]; [x.start() for x in t]; [x.join() for x in t]; print(sorted(r))"
pool    /usr/bin/python3 -c "import multiprocessing as m; print(m.Pool(2).map(abs, range(-5, 5)))"
numpy   /usr/bin/python3 -c "import numpy as n; a = n.arange(10000.).reshape(100, 100); print((a @ a).sum(), n.linalg.norm(a))"
sqlite3 sqlite3 :memory: "create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c where x < 5000) insert into t select x, x * x from c; select sum(b), avg(a) from t"
git     git -c init.defaultBranch=m -c user.name=a -c user.email=a@b init -q repo
gcc     gcc -O2 -c f.c
clang   clang -O2 -c f.c
ld      bash -c "echo 'int main(void) { return 5; }' > m.c; gcc -o m m.c && ./m"
gdb     gdb -q -batch -ex "print 6 * 7"
strace  strace -c -o /dev/null true
gnuplot gnuplot -e "set terminal svg; set output \"x.svg\"; plot sin(x)"
xmllint xmllint --version
openssl openssl dgst -sha256 numbers
curl    curl -s file:///etc/hostname
jq      jq -n "[range(1000)] | add"
bc      bc -l -q -s
dc      dc -e "2 100 ^ p"
vim     vim -u NONE -es -c "normal ix" -c "wq! out.txt"
diff    diff f.c Makefile
file    file f.c numbers
cmake   cmake --version
objdump objdump -d /usr/bin/true
readelf readelf -a /usr/bin/true
xargs   xargs -P 2 -n 5000 sh -c "exit 0"
env     env -i PATH=/usr/bin sh -c "echo \$PATH"
timeout timeout 1 sleep 5
millrace millrace list
help    millrace help csv-sort
command millrace csv-sort -k line --header=line numbers
nested  sh -c "prof-record --quiet -o own echo in a recorder; rm -r own"
nice    nice -n 5 sh -c "nice"
node    node -e "console.log([...Array(1000).keys()].map(Math.sqrt).reduce((a, b) => a + b))"
php     php -r "echo array_sum(range(1, 1000));"
ruby    ruby -e "puts (1..1000).sum"
lua     lua5.4 -e "print(string.rep(\"x\", 10), #arg)"
tclsh   tclsh numbers
m4      m4 f.c
ps      ps -o comm= -p 1
miller  mlr --icsv --ojson --implicit-csv-header head -n 2 rows.csv
curses  tput -T xterm cols
COMMANDS

# what programs do to a recorder
cat > odd.c <<'D'
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
static volatile double s;
static volatile long hits;
static jmp_buf out;
static ucontext_t home, other;
static void on_alarm(int x) { (void)x; hits++; for (int i = 0; i < 50; i++) s += cbrt(i); }
static int jump(const void *a, const void *b) { (void)a; (void)b; longjmp(out, 1); }
static int leave(const void *a, const void *b) { (void)a; (void)b; pthread_exit(NULL); }
static int yield(const void *a, const void *b) { swapcontext(&other, &home); return *(const int *)a - *(const int *)b; }
static void *thread(void *a) { int v[4] = { 4, 3, 2, 1 }; qsort(v, 4, 4, leave); return a; }
static void coroutine(void) { int v[3] = { 3, 1, 2 }; qsort(v, 3, sizeof *v, yield); printf("%d %d %d\n", v[0], v[1], v[2]); }
static void *busy(void *a) { for (int i = 0; i < 100000; i++) s += cbrt(i); return a; }
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    for (int i = 0; i < 1000; i++) s += cbrt(i);
    if (!strcmp(what, "descriptors") || !strcmp(what, "daemon")) {
        pthread_t t;
        pthread_create(&t, NULL, busy, NULL);
        if (what[1] == 'a' && fork()) { pthread_join(t, NULL); return wait(NULL) < 0; }
        if (what[1] == 'a') { setsid(); close(0); close(1); close(2); }
        close_range(3, ~0u, 0);
        int f[4];
        char name[20];
        for (int i = 0; i < 4; i++) {
            snprintf(name, sizeof name, "user%d.dat", i);
            f[i] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
            if (write(f[i], "precious\n", 9) != 9) return 1;
        }
        for (int i = 0; i < 100000; i++) s += cbrt(i);
        if (what[1] != 'a') { pthread_join(t, NULL); printf("%d %d\n", f[0], f[3]); }
    } else if (!strcmp(what, "signals")) {
        struct itimerval t = { { 0, 1000 }, { 0, 1000 } };
        signal(SIGALRM, on_alarm);
        setitimer(ITIMER_REAL, &t, NULL);
        while (hits < 500) for (int i = 0; i < 100; i++) { s += cbrt(i); free(malloc(100)); }
        puts("500 signals");
    } else if (!strcmp(what, "coroutines")) {
        char *top = mmap(NULL, 5 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mprotect(top + (1 << 16), 1 << 16, PROT_READ | PROT_WRITE);   /* nothing to read above it */
        getcontext(&other);
        other.uc_stack.ss_sp = top + (1 << 16);
        other.uc_stack.ss_size = 1 << 16;
        other.uc_link = &home;
        makecontext(&other, coroutine, 0);
        for (int i = 0; i < 4; i++) { swapcontext(&home, &other); s += cbrt(i); }
    } else if (!strcmp(what, "jumps")) {
        volatile int n = 0;
        for (volatile int i = 0; i < 1000; i++) {
            int v[4] = { 4, 3, 2, 1 };
            if (!setjmp(out)) qsort(v, 4, 4, jump);
            else n++;
        }
        printf("%d jumps\n", n);
    } else if (!strcmp(what, "exits")) {
        for (int i = 0; i < 50; i++) {
            pthread_t t;
            pthread_create(&t, NULL, thread, NULL);
            pthread_join(t, NULL);
        }
        puts("50 threads");
    } else if (!strcmp(what, "vfork")) {
        for (int i = 0; i < 50; i++) {
            s += cbrt(i);
            pid_t p = vfork();
            if (!p) { execl("/bin/true", "true", (char *)NULL); _exit(127); }
            waitpid(p, NULL, 0);
        }
        puts("50 children");
    } else if (!strcmp(what, "exec")) {
        char n[8] = "0";
        int k = argc > 2 ? atoi(argv[2]) : 0;
        snprintf(n, sizeof n, "%d", k + 1);
        if (k < 5) execl(argv[0], argv[0], "exec", n, (char *)NULL);
        puts("five times");
    } else if (!strcmp(what, "arguments")) {
        char b[400];
        snprintf(b, sizeof b, "%d %d %d %d %d %d %d %d %d %d %g %g %g %g %g %g %g %g %g %g %d %d %d %d %d %d %d %d %d %d %Lg", 1, 2, 3, 4, 5,
                 6, 7, 8, 9, 10, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1., 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, sqrtl(2.0L));
        puts(b);
    } else if (!strcmp(what, "rights")) {                /* what was read-only is, and nothing is both writable and executable */
        char line[512];
        FILE *f = fopen("/proc/self/maps", "r");
        int both = 0, rows = 0;
        while (fgets(line, sizeof line, f)) {
            both += strstr(line, "rwx") != NULL;
            rows += strstr(line, "bin/odd") && strstr(line, " r--p");
        }
        printf("%d %d\n", both, rows);
    }
    return s < 0;
}
D
cat > throws.cpp <<'D'
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>
static int cmp(const void *, const void *) { throw std::runtime_error("from a comparison"); }
int main()
{
    std::vector<int> v(3);
    for (int i = 0; i < 3; i++)
        try { if (i == 0) v.at(7) = 1; else if (i == 1) throw 5; else qsort(v.data(), 3, 4, cmp); }
        catch (const std::exception &e) { std::puts(e.what()); }
        catch (int x) { std::printf("%d\n", x); }
}
D
mkdir bin
if ${CC:-cc} -O1 -w -fno-builtin -o bin/odd odd.c -lm -lpthread; then
    for what in descriptors daemon signals coroutines jumps exits vfork exec arguments rights; do
        unharmed "$what" "$T/bin/odd" $what
    done
    ${CC:-cc} -O1 -w -fno-builtin -Wl,-z,lazy -o bin/odd-lazy odd.c -lm -lpthread && unharmed 'lazily bound' "$T/bin/odd-lazy" jumps
    ${CC:-cc} -O1 -w -fno-builtin -no-pie -o bin/odd-fixed odd.c -lm -lpthread && unharmed 'at a fixed address' "$T/bin/odd-fixed" jumps
    # the first call after the delay is a child's as of vfork, whose number the program that it becomes has, too
    cat > late.c <<'D'
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    volatile double s = 0;
    for (long i = 0; i < 300000000; i++) s += 1;
    if (argc > 1) return cbrt(s) < 0;
    pid_t p = vfork();
    if (!p) { execl(argv[0], argv[0], "again", (char *)0); _exit(127); }
    return waitpid(p, NULL, 0) != p;
}
D
    ${CC:-cc} -O1 -w -fno-builtin -o bin/late late.c -lm
    ok 'a delay that ends in a child as of vfork' prof-record --quiet --calls='*' --delay=0.01 -o late bin/late 2> late.err
    ok 'loses nothing' eval '[ ! -s late.err ]'
    is 'and both programs are recorded, each by its number' '2 2' \
        eval 'prof-log --quiet late | csv-cut -c proc | sed 1d | sort -u | paste -sd" " | wc -w | sed "s/$/ $(ls late/names.*.0.csv | wc -l)/"'
    logs() { prof-record --quiet --calls=cbrt -o rights bin/odd; stat -c %a rights/* | sort -u; }
    is 'logs are for their owner alone' 600 logs
fi
if ${CXX:-g++} -O1 -w -o bin/throws throws.cpp 2> /dev/null; then unharmed 'exceptions of C++' "$T/bin/throws"; fi

if [ -e "$(recorder)" ]; then
cat > closes.py <<'D'
import os, zlib, _json, math
zlib.crc32(b'x')
os.closerange(3, 256)
files = [open('py%d.dat' % i, 'w') for i in range(3)]
for f in files:
    f.write('precious\n')
    f.flush()
for i in range(40000):
    zlib.crc32(b'abc')
D
unharmed 'descriptors of Python' /usr/bin/python3 closes.py
fi
# the GPU's rows, by a stand-in for CUPTI that hands over a buffer when it is asked to flush
cupti=$(ls -d /usr/local/cuda*/include/cupti.h 2> /dev/null | head -n 1)
if [ -n "$cupti" ] && [ -e "$B/prof/libmillrace-gpu.so" ]; then
    cat > gpu.c <<'D'
#define _GNU_SOURCE
#include <cupti.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static CUpti_BuffersCallbackRequestFunc want;
static CUpti_BuffersCallbackCompleteFunc have;
static CUpti_ActivityMemset4 set = { .kind = CUPTI_ACTIVITY_KIND_MEMSET, .start = 1, .end = 2 };
static int left;
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc f) { return f() ? CUPTI_SUCCESS : CUPTI_ERROR_UNKNOWN; }
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc w, CUpti_BuffersCallbackCompleteFunc h) { want = w; have = h; return CUPTI_SUCCESS; }
CUptiResult cuptiActivityEnable(CUpti_ActivityKind k) { (void)k; return CUPTI_SUCCESS; }
CUptiResult cuptiActivityFlushPeriod(uint32_t ms) { (void)ms; return CUPTI_SUCCESS; }
CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType t) { (void)t; return CUPTI_SUCCESS; }
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain d, uint32_t c, const char **n) { (void)d; (void)c; *n = ""; return CUPTI_SUCCESS; }
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext c, uint32_t s, size_t *n) { (void)c; (void)s; *n = 0; return CUPTI_SUCCESS; }
CUptiResult cuptiActivityGetNextRecord(uint8_t *b, size_t n, CUpti_Activity **r) { (void)b; (void)n; *r = (void *)&set; return left-- > 0 ? CUPTI_SUCCESS : CUPTI_ERROR_MAX_LIMIT_REACHED; }
CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    uint8_t *b;
    size_t n, k;
    (void)flag;
    want(&b, &n, &k);
    left = 1000;
    have(NULL, 0, b, n, n);
    return CUPTI_SUCCESS;
}
int main(int argc, char **argv)
{
    void *lib = dlopen(argv[argc - 1], RTLD_NOW);
    int (*begin)(void) = lib ? (int (*)(void))dlsym(lib, "InitializeInjection") : NULL;
    if (!begin || begin() != 1) return 1;
    close_range(3, ~0u, 0);
    for (int i = 0; i < 3; i++) {
        char name[20];
        snprintf(name, sizeof name, "gpu%d.dat", i);
        if (write(open(name, O_RDWR | O_CREAT | O_TRUNC, 0644), "precious\n", 9) != 9) return 1;
    }
    for (int i = 0; i < 20; i++) cuptiActivityFlushAll(1);
    return 0;
}
D
    mkdir gpulog
    ok 'a stand-in for CUPTI' cc -w -rdynamic -I "${cupti%/*}" -o gpu gpu.c -ldl
    ok 'a program that closes all descriptors under it' env MILLRACE_PROF_DIR="$PWD/gpulog" ./gpu "$B/prof/libmillrace-gpu.so"
    is 'keeps its files' 'precious precious precious' eval 'cat gpu?.dat | paste -sd" "'
    is 'and its rows are all there: 20 blocks, and one at the end' 21000 eval 'cat gpulog/gpu.*.csv | grep -c memset'
    is 'readable for its owner alone' 600 eval 'stat -c %a gpulog/gpu.*.csv'
else
    skip 'the rows of the GPU' 'no CUPTI'
fi
# --calls, --out and --quiet are given above; --calibrate runs a program ten times
options() {
    prof-record --help | sed -n '/^Options:/,$s/^  \(-[a-z],\|   \) \(--[a-z-]*\).*/\2/p' | grep -vxE -e '--(calls|out|quiet|calibrate|pid|help|version)'
}
left_out() { for o in $(options); do grep -q -e " $o[= ;]" <(sed -n '/^bench-prof-harmless/,/done/p' "$root/lib/prof/build.mk") || echo "$o"; done; }
[ -n "${MORE-}" ] || ok "make bench-prof-harmless tries all options $(left_out)" eval '[ -z "$(left_out)" ] && [ "$(options | wc -l)" -gt 10 ]'
recorded() { awk -F, '$5 > 100 { n++ } END { print (n > 20) ? "most" : n }' log; }
[ -n "${MORE-}" ] || is 'the programs were really recorded' most recorded
# how deep Python may go, by every way through C
cat > deep.py <<'P'
import pickle, re, sys
class Lazy:
    def __init__(self, inner): self.inner = inner
    def __getattr__(self, name): return getattr(self.inner, name)
class End: value = 42
class Nest:
    def __init__(self, n): self.n = n
    def __reduce__(self): return (Nest, (Nest(self.n - 1) if self.n else 0,))
class Same:
    def __init__(self, n): self.n = n
    def __eq__(self, other): return self.n == 0 or Same(self.n - 1) == Same(self.n - 1)
ways = {
    "getattr": lambda n: [o := End()] and [o := Lazy(o) for i in range(n)] and o.value,
    "map": lambda n: n == 0 or list(map(ways["map"], [n - 1])),
    "sorted": lambda n: n == 0 or sorted([n - 1], key=lambda k: ways["sorted"](k) and 1),
    "sub": lambda n: n == 0 or re.sub("x", lambda m: ways["sub"](n - 1) and "", "x"),
    "pickle": lambda n: pickle.dumps(Nest(n)),
    "equal": lambda n: Same(n) == Same(n),
}
for name, way in ways.items():
    low, high = 0, 2000
    while low + 1 < high:
        n = (low + high) // 2
        try: way(n); low = n
        except RecursionError: high = n
    print(name, low)
P
for options in '' --tree; do
    is "as deep as without us${options:+, $options}" "$(/usr/bin/python3 deep.py 2>&1)" bash -c "prof-record --quiet --force $options -o deep deep.py 2>&1"
done
done_testing
