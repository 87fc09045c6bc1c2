# the vector kernels live from unrolled loops
$B/lib/tensor/kernels_vector.o: ISA = -O3
# sanitizers take minutes of compiling on them; kernels_plain, which the tests compare them with, is checked instead
$(addprefix $B/lib/tensor/kernels_,avx2.o avx512.o vector.o): override CFLAGS := $(filter-out -fsanitize=% \
    -fno-sanitize-recover=%,$(CFLAGS))
