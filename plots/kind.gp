# kind.gp - how the numbers of a table were obtained: call "kind.gp" TABLE sets `kind`, for a title, from its column
# kind (lib/table/kind.h says what may be in it); plots say @kinds.  A table that does not say so is what `gnuplot -e
# "kind='..'"` says, by whoever made it, or "of unknown kind", never real.
set datafile separator comma
set datafile columnheaders
kind_given = exists("kind") ? kind : ""
kind = ""
kind_column = 0
kind_is_new(s, w) = strstrt("+" . s . "+", "+" . w . "+") && !strstrt(kind, w)
kind_add(s, w) = kind_is_new(s, w) ? (kind = kind eq "" ? w : kind . " and " . w, 1) : 1
kind_all(s) = kind_add(s, "real") + kind_add(s, "emulated") + kind_add(s, "simulated") + kind_add(s, "published")
kind_said(s) = strlen(s) && strstrt("+real+emulated+simulated+published+", "+" . (s . "+")[1:strstrt(s . "+", "+")])
kind_row(s) = kind_said(s) ? kind_all(s) : kind_add("of unknown kind", "of unknown kind")
stats ARG1 using (1) nooutput name "rows_of_kind"
if (exists("rows_of_kind_columns")) {
    do for [kind_i = 1:rows_of_kind_columns] {
        stats ARG1 using (kind_column = columnhead(kind_i) eq "kind" ? kind_i : kind_column, 1) nooutput \
            name "rows_of_kind"
    }
    if (kind_column > 0) { stats ARG1 using (kind_row(stringcolumn(kind_column))) nooutput name "rows_of_kind" }
}
if (kind eq "") { kind = kind_column == 0 && kind_given ne "" ? kind_given : "of unknown kind" }
