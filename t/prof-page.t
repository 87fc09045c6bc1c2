#!/bin/bash
# one page about a run: whole, safe, and shown by a browser where there is one
. "${0%/*}/tap.sh"
cat > e.csv <<'D'
proc,tid,kind,cat,start_ns,end_ns,name,link,flag
1,1,op,,0,100,train,,
1,1,cat,Python,0,100,main,,
1,1,cat,C,10,60,"</script><script>document.title='broken'</script><img src=x onerror=alert(1)>",,
1,1,cat,C,20,30,"quote "" back \ & amp",,
1,d0.s0,gpu,GPU,30,80,gemm,7,
D
printf '1,2,cat,C,5,6,"bad \xff\xc0 utf8",,\n' >> e.csv
prof-sweep e.csv > cells.csv
prof-top e.csv > top.csv
prof-path --quiet e.csv > path.csv
prof-path --quiet --pieces e.csv > pieces.csv
prof-whatif --speed=cat=C:2 e.csv > whatif.csv
prof-page --title='<b>my run</b>' --kind=real --cells=cells.csv --top=top.csv --path=path.csv --pieces=pieces.csv --whatif=whatif.csv -o page.html e.csv
is 'two script elements, whatever the data hold' 2 grep -c '</script>' page.html
ok 'nothing is loaded' bash -c "! grep -Eiq '(src|href)=|@import|url\\(|https?:' <(sed 's/\"[^\"]*\"//g' page.html)"
if command -v python3 > /dev/null; then
    cat > data.py <<'D'
import json, re
page = open("page.html", encoding="utf-8").read()
d = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))
lane = d["lanes"][0]
print([d["names"][i] for i in lane["name_id"]][2], "|", [d["names"][i] for i in lane["name_id"]][3], "|", lane["depth"], lane["start"], lane["len"])
print(d["title"], d["rows"], d["span"], len(d["top"]), [p["end"] for p in d["pieces"]][-1], d["lanes"][1]["name"], d["lanes"][-1]["gpu"])
print("\ufffd" in d["names"][d["lanes"][1]["name_id"][0]])
D
    is 'the data come back as they were' "</script><script>document.title='broken'</script><img src=x onerror=alert(1)> | quote \" back \\ & amp | [0, 1, 2, 3] [0, 0, 10, 10] [100, 100, 50, 10]
<b>my run</b> 6 100 5 100 1 / 2 True
True" python3 data.py
    prof-page --intervals=3 -o page.html e.csv
    is 'the shortest are left out and counted' '4 intervals, all shorter than 51 ns, are not drawn in lanes and flame; the tables count them.' \
        python3 -c 'import json, re; print(json.loads(re.search(r"id=\"data\">(.*?)</script>", open("page.html").read(), re.S).group(1))["left"])'
    printf '%s\n' proc,tid,kind,cat,start_ns,end_ns,name 1,1,cat,C++,1700000000123456789,1700000000123456796,f 1,1,cat,C,1700000000123456796,1700000000123456799,g > epoch.csv
    prof-page --pieces=<(prof-path --quiet --pieces epoch.csv) -o page.html epoch.csv
    is 'times since 1970 are exact, though a number of JavaScript has 53 bits' '10 [(0, 7), (7, 10)]' python3 -c 'import json, re
d = json.loads(re.search(r"id=\"data\">(.*?)</script>", open("page.html").read(), re.S).group(1), parse_int=float)
print(int(d["span"]), [(int(p["start"]), int(p["end"])) for p in d["pieces"]])'
fi
if command -v node > /dev/null; then
    prof-sweep <(sed 1q epoch.csv; sed 1d epoch.csv | sed 's/,C,17[0-9]*,/,a\\b,1700000000123456789,/') > plus.csv
    is 'a + in a category is no two' '[["C++","a\\b"]] C\+\+' node -e 'const fs = require("fs"), page = fs.readFileSync("page.html", "utf8")
const members = eval(page.match(/const members = (.*?)   \/\//)[1]), cell = fs.readFileSync("plus.csv", "utf8").split("\n").slice(1, -1).map(l => members(l.split(",")[3]))
console.log(JSON.stringify(cell.filter(c => c.includes("C++"))), "C++".replace(eval(page.match(/v\[0\].replace\((.*?), /)[1]), "\\$&"))'
fi
is 'C, its backend and what is off the CPU have colours of their own' 3 eval \
    'grep -oE "(C|Backend|.Off CPU.): .#[0-9a-f]{6}" "$root/lib/prof/page.html" | grep -o "#.*" | sort -u | wc -l'
is 'no rows are a page too' 2 bash -c "prof-page <(head -1 e.csv) | grep -c '</script>'"
fails 'a table that is none' 1 'no column' prof-page --pieces=cells.csv -o x.html e.csv
ok 'and no page then' test ! -e x.html
if command -v chromium > /dev/null && command -v python3 > /dev/null && [ -z "${ASAN_OPTIONS:-}" ]; then
    prof-page --title='<b>my run</b>' --cells=cells.csv --top=top.csv --path=path.csv --pieces=pieces.csv --whatif=whatif.csv -o page.html e.csv
    ok 'a browser draws it, a mouse moves it, without network' timeout 100 python3 "$root/t/data/prof-mouse.py" page.html dom
    ok 'names are text' bash -c "grep -q '&lt;b&gt;my run&lt;/b&gt;</h1>' dom && ! grep -q '<img' <(sed 's/<script.*//' dom | grep -v '\\\\u003c')"
    ok 'tables are filled' bash -c "grep -q '<td class=\"t\" title=\"gemm\">gemm</td>' dom && grep -q 'times as fast\\|as it was' dom"
fi
done_testing
