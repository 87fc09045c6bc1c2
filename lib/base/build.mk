# the table of powers of ten is computed, not kept
$B/pow10.h: lib/base/pow10.py
	@mkdir -p $(@D)
	python3 $< $(aside)
$B/lib/base/num.o: $B/pow10.h
