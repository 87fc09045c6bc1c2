# install.mk - make install, make uninstall: what a person types is on PATH, the steps of pipelines (share/internal)
# are in libexec, where pipelines find links to the others; pages from --help, completion from the tables of options
bindir  = $(DESTDIR)$(PREFIX)/bin
execdir = $(DESTDIR)$(PREFIX)/libexec/millrace
datadir = $(DESTDIR)$(PREFIX)/share
libdir  = $(DESTDIR)$(PREFIX)/lib/millrace
# where Debian's python3 looks: dist-packages of its version under /usr/local, of all versions under /usr
pyversion = $(shell /usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || echo 3)
pydir   = $(DESTDIR)$(PREFIX)/lib/python$(if $(filter /usr,$(PREFIX)),3,$(pyversion))/dist-packages
INTERNAL := $(filter $(FILTERS),$(shell cat share/internal))
TYPED    := $(filter-out $(INTERNAL),$(FILTERS))
$B/man/%.1: $(BIN)/% share/see-also.h2m
	@mkdir -p $(@D)
	help2man --no-info --no-discard-stderr --include=share/see-also.h2m \
	    --name="$$(sed -n '1s|^/\* [^ ]* - ||p' bin/$*.c)" -o $(new) $< && $(swap)
man: $(FILTERS:%=$B/man/%.1)
# What is installed beside the filters, one folder a line: README and man 7 millrace name them.
install: all man
	install -d $(bindir) $(execdir) $(datadir)/man/man1 $(datadir)/man/man7 $(datadir)/bash-completion/completions \
	    $(datadir)/millrace/share $(datadir)/doc/millrace $(libdir) $(pydir)/millrace_place
	install $(TYPED:%=$(BIN)/%) $(bindir)
	[ -z '$(INTERNAL)' ] || install $(INTERNAL:%=$(BIN)/%) $(execdir)
	for f in $(TYPED); do ln -sf ../../bin/$$f $(execdir)/$$f; done
	install -m 644 $(FILTERS:%=$B/man/%.1) $(datadir)/man/man1
	install -m 644 share/millrace.7 $(datadir)/man/man7
	{ cat share/completion.bash
	  echo complete -o default -F _millrace $(FILTERS); } > $(datadir)/bash-completion/completions/millrace
	for f in $(filter-out millrace,$(FILTERS)); do ln -sf millrace $(datadir)/bash-completion/completions/$$f; done
	cp -r plots pipelines data mk Makefile VERSION packages.csv $(datadir)/millrace
	cp -r share/policies $(datadir)/millrace/share
	cp -r README.md CHANGELOG.md docs examples $(datadir)/doc/millrace
	printf 'BIN := %s\nB := %s\n' $(PREFIX)/libexec/millrace $(PREFIX)/lib/millrace > $(datadir)/millrace/installed.mk
	! ls $B/measure/*.so > /dev/null 2>&1 || install $B/measure/*.so $(libdir)
	! [ -d $B/prof ] || { cp -r $B/prof/. $(libdir); ln -sfn . $(libdir)/prof; }
	rm -f $(libdir)/*.d
	install -m 644 lib/place/torch/millrace_place/*.py $(pydir)/millrace_place
	install $B/place/mover.so $(pydir)/millrace_place
# what install put there, and nothing else
uninstall:
	rm -f $(FILTERS:%=$(bindir)/%) $(FILTERS:%=$(datadir)/man/man1/%.1) $(datadir)/man/man7/millrace.7 \
	    $(FILTERS:%=$(datadir)/bash-completion/completions/%) $(DESTDIR)$(PREFIX)/include/millrace_loop.h \
	    $(DESTDIR)$(PREFIX)/lib/libmillrace-loop.a $(DESTDIR)$(PREFIX)/lib/pkgconfig/millrace-loop.pc
	rm -rf $(execdir) $(datadir)/millrace $(datadir)/doc/millrace $(libdir) $(pydir)/millrace_place
.PHONY: man install uninstall
