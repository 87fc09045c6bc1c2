# gallery.mk - make gallery: the pictures of docs/gallery.md, in share/gallery, from the tables that are kept beside
# them.  gallery.csv says which table is drawn how: picture, plot, table, kind, machine, arguments (between semicolons);
# machine here: that of the file beside, where all tables were measured that name no other.
gallery := $(TOP)/share/gallery
GALLERY_MACHINE ?= $(shell cat $(gallery)/machine 2> /dev/null)
gallery: $(gallery)/gallery.csv $(BIN)/csv-calc
	csv-calc --print=picture --print=plot --print=table --print=kind --print=machine --print=arguments $< |
	while IFS=$$'\t' read -r picture plot table kind machine arguments; do
	    [ "$$machine" != here ] || machine='$(GALLERY_MACHINE)'
	    IFS=';' read -ra words <<< "$$arguments"
	    gnuplot -e "machine='$$machine'; kind='$$kind'" -c "$(TOP)/plots/$$plot.gp" "$(gallery)/$$table.csv" \
	        "$(call beside,$(gallery)/$$picture.svg)" "$${words[@]}"
	    $(TOP)/pipelines/keep "$(call beside,$(gallery)/$$picture.svg)" "$(gallery)/$$picture.svg"
	done
.PHONY: gallery
