# gallery.mk - make gallery: the pictures of docs/gallery.md, in share/gallery, from the tables that are kept beside
# them.  gallery.csv says which table is drawn how: picture, plot, table, arguments, kind; the machine is that of the
# tables.
gallery := $(TOP)/share/gallery
GALLERY_MACHINE ?= $(shell cat $(gallery)/machine 2> /dev/null)
gallery: $(gallery)/gallery.csv $(BIN)/csv-calc
	csv-calc --print=picture --print=plot --print=table --print=kind --print=arguments $< |
	while IFS=$$'\t' read -r picture plot table kind arguments; do
	    gnuplot -e "machine='$(GALLERY_MACHINE)'; kind='$$kind'" -c "$(TOP)/plots/$$plot.gp" "$(gallery)/$$table.csv" \
	        "$(gallery)/.millrace-$$$$-$$picture.svg" $$arguments
	    $(TOP)/pipelines/keep "$(gallery)/.millrace-$$$$-$$picture.svg" "$(gallery)/$$picture.svg"
	done
.PHONY: gallery
