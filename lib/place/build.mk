# the vector kernels live from unrolled loops
$B/lib/place/kernels_vector.o: ISA = -O3
# sanitizers take minutes of compiling on them; kernels_plain, which the tests compare them with, is checked instead
$(addprefix $B/lib/place/kernels_,avx2.o avx512.o vector.o): override CFLAGS := $(filter-out -fsanitize=% -fno-sanitize-recover=%,$(CFLAGS))

# our convolutions against oneDNN's over the layer shapes of the study's networks; only where libdnnl-dev is (make deps PEERS=1)
bench-place-kernels: $(addprefix $B/bench/place-,vgg19.sexp inception4.sexp resnet200.sexp densenet264.sexp)
	@[ -f /usr/include/dnnl.h ] || { echo 'bench-place-kernels: not run, libdnnl-dev is not here (make deps PEERS=1)'; exit 0; }
	$(MAKE) $B/t/bench/place-kernels
	OMP_NUM_THREADS=1 $B/t/bench/place-kernels $^ > $B/bench/place-kernels.csv
$B/bench/place-%.sexp: | $(BIN)/place-net
	@mkdir -p $(@D)
	place-net $* --batch=2 > $@
$B/t/bench/place-kernels: $B/t/bench/place-kernels.o $B/libmillrace.a
	$(LINK) -ldnnl
bench: bench-place-kernels
.PHONY: bench-place-kernels
