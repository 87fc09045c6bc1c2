# house.gp - what all plots share: size and form of the picture, fonts, colours, what a table says of itself.
#
# A plot is called by `gnuplot -e "machine='..'" -c x.gp TABLE PICTURE ..`; PICTURE ends in .svg or .png.  It begins
# with
#   call ARG0[:strlen(ARG0) - strlen("x.gp")] . "house.gp" ARG2
# before which it may set wide and high, in points of the SVG (a PNG has 1.5 times as many, of everything).  Colours are
# Tol's, which colour-blind readers can tell apart: colour(1), colour(2) ..; ours, theirs, base, warning by what they
# mean.  `@kinds` collects column kind of the table in kind ("real", "real and simulated" ..; "of unknown kind" where
# it does not say so, see kind.gp), `@batches` column batch in batch.
# `@footer` writes machine, where it was given, below the picture; house_title(text) puts the kind before a title.
# Intervals may be open: cut_high(column, limit) is the column's number, or the limit where it lies beyond or is inf.
if (!exists("wide")) wide = 900
if (!exists("high")) high = 520
if (!exists("machine")) machine = ""
if (ARG1[strlen(ARG1) - 2:] eq "png") {
    set terminal pngcairo size int(1.5 * wide), int(1.5 * high) font "sans,12" fontscale 1.5 linewidth 1.5 \
        pointscale 1.5
} else {
    set terminal svg size wide, high dynamic font "sans,12" background "white"
}
set output ARG1
set datafile separator comma
set datafile columnheaders                               # the first row is the header, always
set datafile missing NaN
set border 3 lc rgb "#666666"
set tics nomirror textcolor rgb "#333333"
set grid ytics lc rgb "#d4d4d4" lw 0.7 dt 1
set style fill solid 0.9 noborder
set key noenhanced samplen 2 spacing 1.1
set title font ",14"
set bmargin 5

array house_colours[10] = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb", "#ee7733", \
    "#222222", "#009988"]
colour(i) = house_colours[1 + (int(i) - 1) % 10]
ours = "#4477aa"
theirs = "#bbbbbb"
base = "#444444"
warning = "#cc3311"

# the different texts of a column, in order of appearance
among(list, t) = strstrt(", " . list . ", ", ", " . t . ", ") > 0
if (!exists("kind")) kind = ""
house_folder = ARG0[:strlen(ARG0) - strlen("house.gp")]
kinds = 'call house_folder . "kind.gp" ARG1'
batch = ""
batch_seen(t) = (t eq "" || among(batch, t) ? 0 : (batch = batch . (batch eq "" ? "" : ", ") . t, 0), 0)
batches = 'stats ARG1 using (batch_seen(strcol("batch"))) nooutput name "HOUSE"'
house_title(t) = (kind eq "" ? "" : kind . ": ") . t
house_foot = 'at screen 0.99, 0.018 right noenhanced font ",9" textcolor rgb "#777777"'
# `@intervals`: the text intervals says what columns lower_ratio, upper_ratio and ratio_off of place-figure hold
house_held = house_lacking = house_off = 0
house_count(lower, off) = (lower eq "" ? (house_lacking = house_lacking + 1) : (house_held = house_held + 1), \
    house_off = house_off + (off eq "1"), 0)
intervals = 'stats ARG1 using (house_count(strcol("lower_ratio"), strcol("ratio_off"))) nooutput name "HOUSE"; ' . \
    'intervals = (house_held ? "lines: 95 % intervals over rounds" : "") . ' . \
    '(house_held && house_lacking ? ", " : "") . (house_lacking ? "no line: fewer than six rounds" : "") . ' . \
    '(house_off ? "; pale: at the ratio written" : "")'
footer = 'if (machine ne "") { set label 9999 machine ' . house_foot . ' }'

# distinct texts of a column: `list_n = 0`, then stats over list_add(text) fills list[1 .. list_n]; list_index(text)
# finds one
array list[400]
list_n = 0
list_index(t) = sum [house_i = 1:list_n] (list[house_i] eq t ? house_i : 0)
list_add(t) = (list_index(t) ? 0 : (list_n = list_n + 1, list[list_n] = t, 0))
# `@ratios`: list has the texts of column ratio but for 1:0 and 0:1, each is a tic at place(r), from 0, most slow memory
# first
house_part(r) = real(r[:strstrt(r, ":") - 1]) / real(r[strstrt(r, ":") + 1:])
house_inner(r) = strstrt(r, ":") == 0 || r eq "1:0" || r eq "0:1" ? 0 : list_add(r)
place(r) = list_index(r) ? sum [house_i = 1:list_n] (house_part(list[house_i]) > house_part(r)) : NaN
house_tic(r) = r[:strstrt(r, ":") - 1] . " : " . r[strstrt(r, ":") + 1:]
ratios = 'list_n = 0; stats ARG1 using (house_inner(strcol("ratio"))) nooutput name "HOUSE"; set xtics () scale 0; ' . \
    'set for [i = 1:list_n] xtics add (house_tic(list[i]) place(list[i]))'

# a column as a number, where it may be inf (1e300), nan or empty; bounds of intervals, cut at a limit
number(t) = t eq "" || t eq "nan" ? NaN : t eq "inf" ? 1e300 : t eq "-inf" ? -1e300 : real(t)
cut_high(name, limit) = (house_x = number(strcol(name)), house_x > limit ? limit : house_x)
cut_low(name, limit) = (house_x = number(strcol(name)), house_x < limit ? limit : house_x)
