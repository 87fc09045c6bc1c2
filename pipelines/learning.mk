# make learning: what learning is worth, family by family, beside its controls: docs/learning.md and OUT/learning.svg
# from data/learning.csv, whose rows each name the line that makes them
learning: $(OUT)/learning.svg $(OUT)/learning.png $(OUT)/learning.md
	sed -i -e '/^<!-- learning -->/,/^<!-- end of learning -->/{//!d}' -e '/^<!-- learning -->/r $(OUT)/learning.md' \
	    $(TOP)/docs/learning.md
.PHONY: learning
$(OUT)/learning.md: $(TOP)/data/learning.csv
	@mkdir -p $(@D)
	csv-calc --set='ours=known(low) ? concat(ours, " [", low, " ", high, "]") : ours' $< > $(new).rows
	csv-group -g question,cases,command $(new).rows | csv-calc --print='concat(question, "|", cases, "|", command)' |
	while IFS='|' read -r question cases command; do
	    case $$command in make*|place-*) by="\`$$command\`" ;; *) by="[$${command##*/}]($${command$(hash)docs/})" ;; esac
	    printf '\n**%s.**\n%s, %s.\n\n| way | ours |\n|--|--|\n' "$${question^}" "$$cases" "$$by"
	    csv-calc --let=q="$$question" --where='question == q' --print='concat("| ", way, " | ", ours, " |")' $(new).rows
	done > $(new)
	rm $(new).rows
	$(call keep,$@)
$(OUT)/learning.svg $(OUT)/learning.png: $(TOP)/data/learning.csv
	@mkdir -p $(@D)
	csv-calc --where='known(low)' --set="way=concat(subject, ': ', way)" --set="less=question ~ 'less is better'" \
	    --set='from=less ? 1 / high : low' --set='to=less ? 1 / low : high' --set='gain=less ? 1 / ours : ours' $< |
	    csv-plot --kind=interval -x gain --low=from --high=to -y way --term=$(subst .,,$(suffix $@)) --width=1200 \
	        --height=1000 --title='what learning is worth, 95 %' \
	        --xlabel='gain over the base of the question: right of 1 is better' -o $(new)
	$(call keep,$@)
