# element by element, nothing reordered: vectors of the compiler give the same bits, learning CartPole takes half the
# time
$B/lib/net/net.o: ISA = -O3 -fno-math-errno
