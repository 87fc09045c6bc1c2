# sources of the peers, compiled when a user asks for them, travel in the program as strings
PEER_SOURCES := gemm.h openblas.c libxsmm.c eigen.cc onednn.c halide.cc plain.c peer_numpy.py
$B/peer/sources.h: $(PEER_SOURCES:%=lib/loop/code/peer/%) lib/loop/build.mk
	@mkdir -p $(@D)
	{ echo 'static const struct { const char *name, *text; } sources[] = {'
	for f in $(PEER_SOURCES); do
	    echo "{ \"$$f\","
	    sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' lib/loop/code/peer/$$f
	    echo '},'
	done
	echo '};'; } > $@
$B/lib/loop/code/peer.o: $B/peer/sources.h
