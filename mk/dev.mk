# dev.mk - looking after the house: help, lint, sanitizers, coverage, fuzzing, speed, releases

help:
	@sed 's/^  //' <<- 'END'
	  make [all]        build the filters into bin/
	  make deps         install missing Debian packages (apt-get, through sudo when not root);
	                    PEERS=1: also what we compare with
	  make test         all tests; T='t/csv-cut.t build/t/lib-num.t' runs some
	  make figure7      and 9, 11, inline, loop, prof, pca-data: the pipelines, see README.md;
	                    OUT= DATA= SEED= SCALE= JOBS=
	  make install      PREFIX=/usr/local DESTDIR=: programs, man pages, completion, plots, pipelines
	  make dist         a release as build/millrace-VERSION.tar.gz; make deb: a package for Debian; make sbom: what it
	                    is made with, as CycloneDX
	  make list         the filters, a line each; make readme puts them into docs/
	  make lint         warnings of gcc and clang as errors, gcc's and cppcheck's analysis, shellcheck
	  make sanitize     all tests under AddressSanitizer and UBSan
	  make format       the C lines changed since the last commit (SINCE=COMMIT) by clang-format-19
	  make debug        the filters without optimisation, in build/debug/bin
	  make valgrind     the first runs of each filter in its test, every access to memory watched;
	                    T='csv-cut prof-op': of these
	  make coverage     lines and branches that the tests reach, by module, in build/coverage.csv;
	                    ROOM=lib/inline: by the tests of that room, beside what was counted before
	  make mutants      one-token changes of the modules that judge, which their tests must notice
	  make fuzz         the readers against random input, FUZZ_SECONDS=60 each; see t/fuzz/README.md
	  make bench        speed against the floors we promise
	  make clean        remove what was built (out/ stays)
	Settings: CC CFLAGS CPPFLAGS LDFLAGS LDLIBS, B=build BIN=bin for another place; config.mk is read where there is one.
	END

# docs/filters.md and docs/results.md are made, and the sum of data/results.csv
readme: $(addprefix $(BIN)/,millrace csv-calc csv-sort csv-cut csv-show)
	mkdir -p $B
	$(BIN)/millrace list | sed -e 's/^[A-Z].*/\n## &\n/' -e 's/^  \([^ ]*\)  *\(.*\)/- `\1` \2/' > $B/readme.list
	pipelines/results-table data/results.csv | sed -e 's/  *|/ |/g' -e 's/---*\(:*|\)/--\1/g' > $B/readme.results
	sum=$$(sha256sum data/results.csv) && bytes=$$(stat -c %s data/results.csv)
	sed -i "s|^data/results.csv,[^,]*,[^,]*,|data/results.csv,$${sum%% *},$$bytes,|" data/MANIFEST.csv
	sed -i -e '/^<!-- list -->/,/^<!-- end of list -->/{//!d}' -e '/^<!-- list -->/r $B/readme.list' docs/filters.md
	sed -i -e '/^<!-- results -->/,/^<!-- end of results -->/{//!d}' -e '/^<!-- results -->/r $B/readme.results' \
	    docs/results.md

# everything that is compiled, but nothing linked
objects: $(LIBOBJ) $(FILTERS:%=$B/bin/%.o) $(patsubst t/%.c,$B/t/%.o,$(wildcard t/lib-*.c))
lint:
	$(MAKE) B=$B/lint/gcc CC=gcc CFLAGS='-O2 -Werror' objects
	! command -v clang > /dev/null || $(MAKE) B=$B/lint/clang CC=clang CFLAGS='-O1 -Werror -Wno-unknown-warning-option' \
	    objects
	$(MAKE) B=$B/lint/analyzer CC=gcc CFLAGS='-O1 -Werror -fanalyzer' \
	    $(patsubst %.c,$B/lint/analyzer/%.o,$(wildcard lib/base/*.c))
	! command -v clang > /dev/null || for f in $(filter-out t/fuzz/fuzz.c,$(wildcard t/fuzz/*.c)); do
	    clang -std=gnu11 $(WARN) $(CPPFLAGS) -It/fuzz -Werror -Wno-unknown-warning-option -fsyntax-only $$f
	done
	! command -v cppcheck > /dev/null || cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,portability \
	    --inline-suppr --suppress=unknownMacro --suppress=readdirCalled --library=posix,t/lint.cfg \
	    -Ilib lib/base lib/table lib/tree/sexp.c lib/tree/sexpw.c
	! command -v shellcheck > /dev/null ||
	    shellcheck -s bash -S warning -e SC1010,SC1087,SC2034,SC2046,SC2053,SC2120,SC2154,SC2164,SC2192,SC2210,SC2238 \
	    t/*.t t/*.sh t/bench/*.sh $(filter-out %.mk %/explore-steps,$(wildcard pipelines/*))

SANITIZE = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined
# memory that lives till the end is not given back at the end, so leaks are not looked for
sanitize:
	export ASAN_OPTIONS=detect_leaks=0
	$(MAKE) B=$B/san BIN=$B/san/bin CFLAGS='$(SANITIZE)' test T='$(T)'

# as they are debugged: no optimisation, all symbols, in build/debug/bin
debug:
	$(MAKE) B=$B/debug BIN=$B/debug/bin CFLAGS='-O0 -g3' all
# each filter's first runs in its own test under valgrind; ten minutes for all of them, twelve seconds for each at most
valgrind: all $B/t/shim.so
	BIN=$(abspath $(BIN)) LOGS=$(abspath $B)/valgrind t/valgrind.sh $(T)
# C lines that were changed since the last commit, or since SINCE=; the others stay as they are, since no formatter
# keeps tables, and structs and loops on one line
CLANG_FORMAT ?= clang-format-19
format:
	git clang-format --force --binary=$(CLANG_FORMAT) --extensions=c,h $(or $(SINCE),HEAD)
# Lines and branches that the tests reach, a row a module; those below 85 % of their lines are named.  ROOM=lib/inline
# runs the tests of that room alone: its family's, and those of its modules; what was counted before is kept, so that
# room after room makes the whole table.
ROOM ?=
family-base      = all filter
family-table     = csv
family-tree      = sexp
family-measure   = bench jobs
family-net       = fit
family-rl        = loop-train loop-policy loop-search
family-tensor    = place
family-decisions = inline flambda
of_room = $(foreach f,$(or $(family-$1),$(firstword $(subst /, ,$1))),$(wildcard t/$f.t t/$f-*.t)) \
    $(patsubst t/%.c,$B/coverage/t/%.t,$(shell grep -l '^.include "$1/' t/lib-*.c))
coverage:
	mkdir -p $B/coverage
	$(CC) -O1 -fPIC -c -o $B/coverage/counted.o t/shim/counted.c
	-$(MAKE) B=$B/coverage BIN=$B/coverage/bin CFLAGS='-O0 -g --coverage' \
	    LDFLAGS='--coverage $(abspath $B/coverage/counted.o) -Wl$(comma)--wrap=_exit' test \
	    T='$(or $(T),$(sort $(foreach r,$(ROOM:lib/%=%),$(call of_room,$r))))'
	$(TOP)/t/coverage $B/coverage $(aside)
	csv-where -c lines_ratio --max=0.85 $B/coverage.csv | csv-show
coverage: new = $(call beside,$B/coverage.csv)
coverage: aside = > $(new); $(call keep,$B/coverage.csv)
.PHONY: debug valgrind format coverage

FUZZ_SECONDS ?= 60
FUZZ ?= $(filter-out fuzz mutate,$(basename $(notdir $(wildcard t/fuzz/*.c))))
# FUZZ_QUICK=1 for numbers: comparisons are not traced, and what UBSan finds traps without a word; half as long an input
FZ = $B/fuzz$(if $(FUZZ_QUICK),-quick)
FUZZ_HOW = $(if $(FUZZ_QUICK),-O2 -fsanitize=address$(comma)undefined -fsanitize-trap=undefined \
    -fsanitize-coverage=inline-8bit-counters$(comma)pc-table,-O1 \
    -fsanitize=fuzzer-no-link$(comma)address$(comma)undefined -fno-sanitize-recover=undefined)
FUZZ_RUN = -detect_leaks=0 -timeout=20 -rss_limit_mb=8192 -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 \
    -verbosity=0 $(if $(FUZZ_QUICK),-entropic=0 -max_len=500)
FUZZ_FLAGS = -g -fdata-sections $(FUZZ_HOW) \
    $(foreach f,exit malloc calloc realloc free fopen fdopen fclose gzdopen gzclose_r vasprintf,-D$f=fuzz_$f)
# the large kernels take minutes to compile so and read nothing
FUZZ_SRC = $(filter-out lib/tensor/kernels%,$(LIBSRC))
# what reads text is also given changes that keep to its grammar
FUZZ_BYTES = num onnx logread recorded elf
FUZZ_OWN = $(if $(filter $(FUZZ_BYTES),$*),,$(FZ)/mutate.o)
# the harness itself is not instrumented: it would take most of the time
$(FZ)/harness.o: t/fuzz/fuzz.c t/fuzz/fuzz.h
	clang -std=gnu11 $(WARN) -g -O2 -c -o $(new) $<
	$(swap)
$(FZ)/mutate.o: t/fuzz/mutate.c t/fuzz/fuzz.h
	clang -std=gnu11 $(WARN) -g -O2 -c -o $(new) $<
	$(swap)
# the library's variables come into one section, which the harness puts back after each input
$(FZ)/%: t/fuzz/%.c t/fuzz/state.ld $(FZ)/harness.o $(FZ)/mutate.o $(FZ)/libmillrace.a
	clang -std=gnu11 $(CPPFLAGS) -It/fuzz $(FUZZ_FLAGS) -c -o $@.target.o $<
	ld -r -T t/fuzz/state.ld -o $@.o $@.target.o $(FZ)/libmillrace.a
	clang -g -fsanitize=fuzzer,address,undefined -o $(new) $@.o $(FZ)/harness.o $(FUZZ_OWN) \
	    -Wl,--as-needed $(LDLIBS)
	$(swap)
# what libc allocated is lost when an input is refused: a minute may cost some GB
fuzz:
	$(MAKE) B=$(FZ) CC=clang CFLAGS='$(FUZZ_FLAGS)' LIBSRC='$(FUZZ_SRC)' $(FZ)/libmillrace.a
	$(MAKE) $(FUZZ:%=$(FZ)/%)
	export ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=8:malloc_context_size=4
	for f in $(FUZZ); do
	    mkdir -p $B/fuzz/corpus/$$f
	    [ ! -x t/fuzz/$$f.sh ] || t/fuzz/$$f.sh $B/fuzz/corpus/$$f
	    echo "fuzz: $$f, $(FUZZ_SECONDS) s"
	    case $$f in
	    csv|jobs|tables|runs|calc|store|events|page|machine) dict=csv ;;
	    sexp|policy|nest|decisions|trees|place-*) dict=sexp ;;
	    *) dict= ;;
	    esac
	    $(FZ)/$$f $${dict:+-dict=t/fuzz/$$dict.dict} \
	        $(FUZZ_RUN) \
	        -artifact_prefix=$(FZ)/$$f- -close_fd_mask=2 $B/fuzz/corpus/$$f 2>&1 | grep -a 'executed_units\|^fuzz:' ||
	        { echo "fuzz: $$f failed; see $(FZ)/$$f-*"; exit 1; }
	done

# families add their own: benchmarks: bench-NAME
benchmarks: bench-csv bench-sexp
bench-csv bench-sexp: bench-%: $B/t/bench/house
	$< $*
$B/t/bench/house: $B/t/bench/house.o $B/libmillrace.a
	$(link)


# what a release is: the files of the last commit
dist:
	mkdir -p $B
	git -C $(TOP) archive --prefix=millrace-$$(cat $(TOP)/VERSION)/ HEAD |
	    gzip -9n > $B/millrace-$$(cat $(TOP)/VERSION).tar.gz
	echo $B/millrace-$$(cat $(TOP)/VERSION).tar.gz
# what it is made with, by the versions that are here: CycloneDX
sbom:
	mkdir -p $B
	{ echo '{ "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,'
	  printf '  "metadata": { "component": { "type": "application", "name": "millrace", "version": "%s" } },\n' \
	      '$(VERSION)'
	  echo '  "components": ['
	  comma=
	  while IFS=, read -r package class _; do
	      [ "$$class" = need ] || continue
	      version=$$(dpkg-query -W -f '$${Version}' "$$package" 2> /dev/null) || continue
	      printf '%s    { "type": "library", "name": "%s", "version": "%s", "purl": "pkg:deb/debian/%s@%s" }' \
	          "$$comma" "$$package" "$$version" "$$package" "$$version"
	      comma=$$',\n'
	  done < packages.csv
	  printf '\n  ]\n}\n'; } > $B/millrace.cdx.json
	echo $B/millrace.cdx.json
deb:
	@command -v dh > /dev/null || { echo 'make deb: debhelper is not here: apt-get install debhelper' >&2; exit 1; }
	mkdir -p $B
	dpkg-buildpackage --build=binary --no-sign --jobs=$(JOBS)
.PHONY: help readme objects lint sanitize fuzz benchmarks bench-csv bench-sexp dist deb sbom
