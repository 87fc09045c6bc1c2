# what bench-count loads into the programs that it counts: found beside the build, or as installed
$B/measure/%.so: lib/measure/guest/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(filter-out -Wundef,$(WARN)) -D_GNU_SOURCE $(HERE) -O2 -g -fPIC -shared -o $(new) $< && $(swap)
all: $(if $(call wanted,bench),$B/measure/insn.so $B/measure/alloc.so)
