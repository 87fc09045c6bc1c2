# the vector kernels live from unrolled loops
$B/lib/tensor/kernels_vector.o: ISA = -O3
# sanitizers take minutes of compiling on them; t/kernels_plain.h, which they are compared with, is checked instead.
# Nobody steps through lines of macros, and their debug info is ten times the code: -g is -g0 (make debug has -g3)
$(addprefix $B/lib/tensor/kernels_,avx2.o avx512.o vector.o): override CFLAGS := $(patsubst -g,-g0,$(filter-out \
    -fsanitize=% -fno-sanitize-recover=%,$(CFLAGS)))
