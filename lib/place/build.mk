# the vector kernels live from unrolled loops
$B/lib/place/kernels_vector.o: ISA = -O3
