# our convolutions against oneDNN's over the layer shapes of the study's networks; only where libdnnl-dev is (make deps
# PEERS=1)
bench-place-kernels: $(addprefix $B/bench/place-,vgg19.sexp inception4.sexp resnet200.sexp densenet264.sexp)
	@[ -f /usr/include/dnnl.h ] || { echo 'bench-place-kernels: not run, libdnnl-dev is not here (make deps PEERS=1)'
	exit 0; }
	$(MAKE) $B/t/bench/place-kernels
	OMP_NUM_THREADS=1 $B/t/bench/place-kernels $^ > $B/bench/place-kernels.csv
$B/bench/place-%.sexp: | $(BIN)/place-net
	@mkdir -p $(@D)
	place-net $* --batch=2 $(aside)
$B/t/bench/place-kernels: $B/t/bench/place-kernels.o $B/libmillrace.a
	$(LINK) -ldnnl && $(swap)
benchmarks: bench-place-kernels
.PHONY: bench-place-kernels
# what millrace_place loads, and python3 -m millrace_place preloads
$B/place/mover.so: $(addprefix lib/place/guest/,heap.c mover.c adopt.c heap.h mover.h adopt.h)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -D_GNU_SOURCE $(HERE) -O2 -g -fPIC -shared -o $(new) $(filter %.c,$^) -ldl -lpthread
	$(swap)
all: $(if $(call wanted,place),$B/place/mover.so)
# the kernels of GPUs as PTX text; where clang is missing the text is empty, and place-gpu says so
PTX = clang -x cuda --cuda-device-only --cuda-gpu-arch=sm_60 -nocudainc -nocudalib -O3 -Wno-unknown-cuda-version -S
$B/place/kernels.ptx: lib/place/guest/kernels.cu lib/place/guest/kernels.h
	@mkdir -p $(@D)
	{ $(PTX) -o - $< || echo 'make: place-gpu is built without kernels' >&2; } $(aside)
$B/place/ptx.h: $B/place/kernels.ptx
	{ echo 'static const char ptx_text[] ='; sed -e 's/[\\"]/\\&/g' -e 's/.*/    "&\\n"/' $<; echo '    "";'; } $(aside)
$B/lib/place/cuda.o: $B/place/ptx.h
