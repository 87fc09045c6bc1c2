# sources of the peers, compiled when a user asks for them, travel in the program as strings
PEER_SOURCES := gemm.h openblas.c libxsmm.c onednn.c plain.c peer_numpy.py
$B/peer/sources.h: $(PEER_SOURCES:%=lib/loop/guest/%) lib/loop/build.mk
	@mkdir -p $(@D)
	{ echo 'static const struct { const char *name, *text; } sources[] = {'
	for f in $(PEER_SOURCES); do
	    echo "{ \"$$f\","
	    sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' lib/loop/guest/$$f
	    echo '},'
	done
	echo '};'; } $(aside)
$B/lib/loop/code/peer.o: $B/peer/sources.h

# what travels with emitted kernels: as bytes without relocations, and as text
CARRY_FLAGS := -std=gnu11 -O2 -fPIE -fvisibility=hidden -ffreestanding -fno-stack-protector -fcf-protection=none \
    -fno-asynchronous-unwind-tables
CARRY_PARTS := neon half relayout surround weights plain maths softmax finish cpu run part many judge selftest
CARRY_TEXT := lib/loop/nest/words.h lib/loop/code/carry.h $(CARRY_PARTS:%=lib/loop/code/guest/%.c)
$B/carry/carry.o: lib/loop/code/guest/blob.c lib/loop/code/carry.c $(CARRY_TEXT) lib/loop/build.mk
	@mkdir -p $(@D)
	$(CC) $(CARRY_FLAGS) -Ilib -c -o $(new) $< && $(swap)
$B/carry/carry.elf: $B/carry/carry.o lib/loop/code/guest/blob.ld
	ld -nostdlib -static -T lib/loop/code/guest/blob.ld -o $(new) $< && $(swap)
$B/carry/carry.bytes: $B/carry/carry.elf
	objcopy -O binary -j .text $< $(new) && $(swap)
# names that only its file knows get a prefix in the text, or a kernel could not be called so
$B/carry/names.sed: $(CARRY_TEXT) lib/loop/build.mk
	@mkdir -p $(@D)
	sed -n -E -e 's/^(NARROW |WIDE )?static .*[ *]([a-z][a-zA-Z0-9_]*)\(.*/\2/p' \
	    -e 's/^(NARROW |WIDE )?static const [a-z]+ ([a-zA-Z_0-9]+)\[.*/\2/p' \
	    -e 's/^typedef void ([a-z_]+)\(.*/\1/p' -e 's/^typedef [a-z0-9_]+ ([a-z0-9_]+) __attr.*/\1/p' $(filter %.c,$^) |
	sort -u | sed 's/.*/s:\\b&\\b:in_carry_&:g/' $(aside)
$B/carry/carry.inc: $B/carry/names.sed $B/carry/carry.bytes $B/carry/carry.elf $(CARRY_TEXT)
	{ echo 'static const unsigned char carry_bytes[] = {'
	od -An -v -tx1 $B/carry/carry.bytes | sed -e 's/ \(..\)/0x\1,/g'
	echo '};'
	nm $B/carry/carry.elf | sed -n 's/^0*\([0-9a-f]*\) T carry_\(.*\)/enum { CARRY_AT_\2 = 0x0\1 };/p'
	echo 'static const char *const carry_text[] = {'
	for f in $(CARRY_TEXT); do
	    case $$f in *.c | *words.h) names=yes ;; *) names= ;; esac
	    sed -e '/^WIDE /,/^}/{' -e '/^WIDE /i#ifdef __x86_64__' -e '/^}/a#endif' -e '}' \
	        -e '/^CARRY_[A-Z]*(WIDE/{' -e 'i#ifdef __x86_64__' -e 'a#endif' -e '}' $$f |
	    sed $${names:+-f $(@D)/names.sed} -e '/#include "loop/d' \
	        -e 's/^\(void\|int\|int64_t\|uint16_t\) carry_/__attribute__((unused)) static &/' -e 's/[\\"]/\\&/g' \
	        -e 's/.*/"&\\n"/'
	    echo ','
	done
	echo '};'; } > $(new); $(TOP)/pipelines/keep $(new) $@
$B/lib/loop/code/image.o $B/lib/loop/code/native.o: $B/carry/carry.inc

# make libmillrace-loop: the loop family for programs that are not filters; one object whose only names are its own
LOOP_NAMES := millrace_loop $(addprefix millrace_loop,_any _error _get _pack _packed _prepare _tune _wait)
$B/libmillrace-loop.a: $B/lib/loop/code/library/library.o $B/libmillrace.a lib/loop/build.mk
	mkdir $(new).d
	ld -r -o $(new).d/loop.o $B/lib/loop/code/library/library.o $B/libmillrace.a
	objcopy $(LOOP_NAMES:%=--keep-global-symbol=%) $(new).d/loop.o
	$(AR) rcs $(new) $(new).d/loop.o && rm -r $(new).d && $(swap)
$B/millrace-loop.pc: lib/loop/build.mk
	@mkdir -p $(@D)
	printf '%s\n' 'prefix=$(PREFIX)' 'Name: millrace-loop' 'Description: kernels for small tensor contractions' \
	    'Version: $(VERSION)' 'Cflags: -I$${prefix}/include' 'Libs: -L$${prefix}/lib -lmillrace-loop' \
	    'Libs.private: -lcsv -lm -lpthread -ldl' > $(new); $(TOP)/pipelines/keep $(new) $@
libmillrace-loop: $B/libmillrace-loop.a
install: install-loop
install-loop: $B/libmillrace-loop.a $B/millrace-loop.pc
	install -d $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/lib/pkgconfig
	install -m 644 lib/loop/millrace_loop.h $(DESTDIR)$(PREFIX)/include
	install -m 644 $B/libmillrace-loop.a $(DESTDIR)$(PREFIX)/lib
	install -m 644 $B/millrace-loop.pc $(DESTDIR)$(PREFIX)/lib/pkgconfig
# look-ups beside libxsmm's, first kernels, 8 threads under ThreadSanitizer
bench-loop-library: all
	$(MAKE) B=$B/tsan BIN=$B/tsan/bin CFLAGS='-O1 -g -fsanitize=thread' $B/tsan/libmillrace-loop.a
	t/bench/loop-library.sh $B/bench/loop-library $B $B/tsan
benchmarks: bench-loop-library
.PHONY: libmillrace-loop install-loop bench-loop-library
all: $(if $(call wanted,loop),$B/libmillrace-loop.a)
