# the plugin for gcc is C++ and compiled when a user asks for gcc; it travels in the program as a string
$B/inline/gcc-plugin.h: lib/inline/guest/gcc.cc
	@mkdir -p $(@D)
	sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $< | sed -e '1i static const char gcc_plugin_source[] =' -e '$$a ;' $(aside)
$B/lib/inline/gcc.o: $B/inline/gcc-plugin.h
