#!/bin/bash
# csv-plot: what is drawn lies where the numbers say, names are names, ranges are found, nothing in a table is a command
. "$(dirname "$0")/tap.sh"
needs gnuplot
cat > t.csv <<'E2'
x,y,z,lower_y,upper_y,g,kind
1,10,5,8,12,a_b,real
2,20,5,18,22,a_b,real
4,40,5,39,41,it's,simulated
E2
plot() { csv-plot "$@" > p.svg; }
well_formed() { perl -e 'my $s = do { local $/; <> }; $s =~ /^<\?xml/ && $s =~ m|</svg>\s*$| or exit 1; my @s;
    while ($s =~ m|<(/?)([a-z]+)([^>]*?)(/?)>|gi) { if ($1) { (pop @s // "") eq $2 or exit 2 } elsif (!$4) { push @s, $2 } } exit @s ? 3 : 0' p.svg; }
text() { sed -n 's/.*<tspan[^>]*>\(<!\[CDATA\[\)\{0,1\}\([^]<]*\).*/\2/p; s/^\t*<text><tspan[^>]*>\([^<]*\)<.*/\1/p' p.svg | sort -u; }
ok 'a line' plot -x x -y y t.csv
ok 'is an SVG' well_formed
# gnuplot marks points by <use .. x y>: the middle one of 1, 2, 4 lies a third of the way along
ok 'points lie where their numbers say' eval "plot --kind=point -x x -y z --width=900 t.csv && perl -ne '
    push @x, \$1 if /<use .*transform=.translate\((-?[\d.]+),/; END { exit !(@x == 3 && abs((\$x[1] - \$x[0]) / (\$x[2] - \$x[0]) - 1 / 3) < .01) }' p.svg"
ok 'on a logarithmic axis half of it' eval "plot --kind=point --log=x -x x -y z --width=900 t.csv && perl -ne '
    push @x, \$1 if /<use .*transform=.translate\((-?[\d.]+),/; END { exit !(@x == 3 && abs((\$x[1] - \$x[0]) / (\$x[2] - \$x[0]) - 1 / 2) < .01) }' p.svg"
ok 'series by a column, names as they are' eval "plot -x x -y y --by=g t.csv && grep -q 'a_b' p.svg && grep -q 'it’s' p.svg"
ok 'two columns are two series' eval "plot -x x -y y,z t.csv && grep -q '>y<' p.svg && grep -q '>z<' p.svg"
ok 'the kinds of the rows are in the title' grep -q 'real+simulated' p.svg
ok 'texts make bars' eval 'plot -x g -y z t.csv && well_formed'
ok 'a range is found by its names' eval 'csv-plot --kind=interval -x y -y g t.csv > p.svg; csv-cut -c x,y,z,g,kind t.csv | csv-plot --kind=interval -x y -y g - > q.svg; ! cmp -s p.svg q.svg'
ok 'and can be named' eval 'csv-calc --set=l=lower_y --set=u=upper_y t.csv | csv-cut -c y,g,kind,l,u | csv-plot --kind=interval -x y -y g --low=l --high=u - > q.svg; cmp p.svg q.svg'
# a histogram counts every value once; its bars by their heights
bars() { csv-plot --term=text --kind=hist -x v --bins=2 --height=20 h.csv; }
(echo v; for i in 1 1 1 2 9; do echo $i; done) > h.csv
ok 'a histogram' eval 'bars | grep -q 4'
ok 'one value alone' eval '(echo v; echo 3; echo 3) | csv-plot --kind=hist -x v > p.svg && well_formed'
ok 'a box a text' eval 'csv-plot --kind=box -x g -y y t.csv > p.svg && well_formed'
is 'PNG' PNG eval 'csv-plot --term=png -x x -y y t.csv | head -c 4 | tail -c 3; echo'
ok 'the same bytes again' eval 'csv-plot -x x -y y t.csv > a; csv-plot -x x -y y t.csv > b; cmp a b'
# names and texts that gnuplot, a shell or a block of data could take for commands
cat > bad.csv <<'E2'
x,"`touch pwned`",g
1,2,"END
system 'touch pwned'"
2,3,"'; system('touch pwned'); '"
3,4,"""`touch pwned`$(touch pwned)"
E2
ok 'a table of commands' eval 'csv-plot -x x -y "\`touch pwned\`" --by=g --title="\`touch pwned\`'"'"'; system(1)" bad.csv > p.svg && well_formed'
ok 'and as bars' eval 'csv-plot -x g -y x bad.csv > p.svg && well_formed'
ok 'none of them ran' eval '[ ! -e pwned ]'
fails 'a text where a number is wanted' 1 "t.csv:2: column 'g': 'a_b' is not a number" csv-plot --kind=line -x x -y g t.csv
fails 'no such column' 1 "no column 'nix'" csv-plot -x nix -y y t.csv
fails 'no rows' 1 'no rows to draw' eval 'head -1 t.csv | csv-plot -x x -y y'
fails 'without -y' 2 'no column given, see -y' csv-plot -x x t.csv
fails 'boxes of two columns' 2 'one column for this kind' csv-plot --kind=box -x g -y y,z t.csv
ok 'empty fields and infinities are left out' eval 'printf "x,y\n1,2\n2,\n3,inf\n4,5\n" | csv-plot -x x -y y > p.svg && well_formed'
fails 'a full disk' 1 . eval 'csv-plot -x x -y y t.csv > /dev/full'
fails 'without gnuplot' 1 'gnuplot: No such file' env PATH="$BIN" csv-plot -x x -y y t.csv
ok 'no file is left half-written' eval '! PATH="$BIN" csv-plot -x x -y y -o o.svg t.csv 2> /dev/null; [ ! -e o.svg ]'
fails 'half a range is none' 2 'go together' csv-plot -x x -y y --low=lower_y <(csv-cut -c x,y,lower_y t.csv)
# bars: where each begins and how high it is, of the first; the axis is 0 to --width
boxes() { csv-plot "$@" > p.svg && perl -ne 'if (/<polygon .*points = .([\d.-]+),([\d.-]+) ([\d.-]+),\S+ \S+,([\d.-]+) /) { push @x, $1; push @h, abs $2 - $4 }
    END { printf "%s: %s\n", join(" ", map { $_ < 0 || $_ > 900 ? "out" : "in" } @x), join " ", map { sprintf "%.2f", $_ / $h[0] } @h }' p.svg; }
is 'a histogram on a logarithmic axis' 'in in in in: 1.00 1.00 1.00 2.00' boxes --kind=hist --log=x -x v --bins=4 <(printf 'v\n1\n10\n100\n1000\n1000\n')
ok 'on two of them' eval "boxes --kind=hist --log=xy -x v <(printf 'v\n1\n10\n1000\n') | grep -q '^in'"
fails 'nought has no logarithm' 1 ":3: 0 has no place on a logarithmic axis" csv-plot --kind=hist --log=x -x v <(printf 'v\n1\n0\n')
fails 'nor have names' 2 'an axis of names has no logarithm' csv-plot --log=x -x g -y y t.csv
is 'a value on the edge of two bins is in the upper one' 'in in in in in in in in in in: 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 2.00' \
    boxes --kind=hist --bins=10 -x v <(echo v; seq 0 .1 1)
is 'bars below nought stand on it' 'in in: 1.00 0.80' boxes --kind=bar -x n -y v <(printf 'n,v\na,-5\nb,-4\n')
fails 'boxes have no series' 2 '--by is not for boxes' csv-plot --kind=box -x g -y y --by=x t.csv
printf 'n,v,lower,upper\na,1,.9,1.1\nb,1,.5,inf\n' > endless.csv
ok 'a range without an end goes to the edge, one that is not known is none' eval "csv-plot --kind=interval -x v -y n endless.csv > p.svg 2> err && [ ! -s err ] &&
    csv-plot --kind=interval -x v -y n <(sed 's/,inf/,/' endless.csv) > q.svg && [ \$(grep -o 'M[0-9.]*,[0-9.]* L[0-9.]*,' p.svg | wc -l) -gt \$(grep -o 'M[0-9.]*,[0-9.]* L[0-9.]*,' q.svg | wc -l) ]"
ok 'a duration is no ratio' eval "csv-plot --kind=interval -x duration_seconds -y n <(printf 'n,duration_seconds\na,100\nb,105\n') > p.svg && ! text | grep -qx '0'"
if have python3; then
    ok 'a name that no SVG can hold is drawn as one that it can' eval "printf 'n,v\na\xff]]>,5\nb,3\n' | csv-plot --kind=bar -x n -y v > p.svg &&
        python3 -c 'import xml.dom.minidom as m; m.parse(\"p.svg\")'"
fi
is 'a % in a category is itself' '90% sure 50%' eval "printf 'x,y\n90%% sure,1\n50%%,2\n' | csv-plot -x x -y y | sed -n 's/.*<text>\\([59]0%[^<]*\\).*/\\1/p' | paste -sd ' '"
done_testing
