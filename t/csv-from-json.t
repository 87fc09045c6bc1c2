#!/bin/bash
# csv-from-json beside Python's json module, and what it refuses
. "$(dirname "$0")/tap.sh"
is 'keys are columns, in order of first appearance' $'a,b,c\n1,,\n2,x,\n,,true' csv-from-json \
    <(printf '{"a":1}\n{"a":2,"b":"x"}\n{"c":true,"a":null}\n')
is 'objects within objects, arrays as JSON' $'a.b,a.c.d,e\n1,2,"[1,{""k"":null},[],{}]"' csv-from-json \
    <(echo '{"a":{"b":1,"c":{"d":2}},"e":[1, {"k": null} ,[],{}]}')
is 'one array of objects, and -c' $'z,x\n,1\n,3' csv-from-json -c z,x <(echo '[{"x":1,"y":2},{"x":3}]')
is 'numbers to the last digit' $'x\n12345678901234567890\n0.1000000000000000055511151231257827\n1E5' csv-from-json \
    <(echo '{"x":12345678901234567890} {"x":0.1000000000000000055511151231257827} {"x":1E5}')
python3 - > rows.json 2> want.csv <<'END'
import csv, json, random, sys
random.seed(7)
def flat(o, prefix=''):
    for k, v in o.items():
        if isinstance(v, dict): yield from flat(v, prefix + k + '.')
        else: yield prefix + k, v
def value():
    return random.choice([None, True, False, random.randrange(-10**20, 10**20), random.uniform(-1, 1), 'a,"b"\nc', 'é\t€',
                          '', [1, 'x"\\', None], [], {random.choice('pq'): random.choice([1, 'y', {'r': 2}])}])
rows = []
for _ in range(500):
    row = {k: value() for k in random.sample('abcdef', 4)}
    rows.append(row)
    print(json.dumps(row, ensure_ascii=random.random() < .5))
names = list(dict.fromkeys(k for r in rows for k, _ in flat(r)))
out = csv.writer(sys.stderr, lineterminator='\n')
out.writerow(names)
def text(v):
    if isinstance(v, bool): return str(v).lower()
    if isinstance(v, list): return json.dumps(v, separators=(',', ':'), ensure_ascii=False)
    return '' if v is None else v if isinstance(v, str) else json.dumps(v)
for r in rows:
    f = dict(flat(r))
    out.writerow([text(f.get(n)) for n in names])
END
same() { python3 -c 'import csv, sys; a, b = (list(csv.reader(open(f))) for f in sys.argv[1:]); sys.exit(a != b)' "$@"; }
ok '500 random objects as in Python' eval 'csv-from-json rows.json > got.csv && same want.csv got.csv'
ok 'from a pipe, and packed' eval 'csv-from-json < rows.json | cmp - got.csv && cat rows.json | csv-from-json | cmp - got.csv &&
    gzip -k rows.json && csv-from-json rows.json.gz | cmp - got.csv && csv-from-json <(cat rows.json) | cmp - got.csv'
is 'what a log of training becomes' $'lr,loss\n0.1,2.5' eval \
    'echo "{\"config\":{\"lr\":0.1},\"loss\":2.5}" | csv-from-json | csv-cut --rename=config.lr=lr'
echo a,b > a.csv
fails 'no JSON' 1 'a.csv:1:' csv-from-json a.csv
fails 'no object' 1 "1:2: an object is wanted" csv-from-json <(echo 3)
fails 'a key twice' 1 "the object has 'a' twice" csv-from-json <(echo '{"a":1,"a":2}')
fails 'a name that two keys make' 1 "the object has 'a.b' twice" csv-from-json <(echo '{"a":{"b":1},"a.b":2}')
fails 'a NUL' 1 "'a' holds a NUL" csv-from-json <(echo '{"a":"\u0000"}')
fails 'objects without end' 1 'more than 64 objects' csv-from-json <(python3 -c 'print("{\"a\":" * 70)')
fails 'lists without end' 1 'nested deeper than a million' eval "{ printf '{\"a\":'; head -c 1000001 /dev/zero | tr '\\0' '['; } | csv-from-json"
fails 'cut off' 1 '1:' csv-from-json <(printf '{"a":1')
fails 'no keys' 1 'no key in any object' csv-from-json <(echo '{}')
fails 'a NUL in a key' 1 'holds a NUL' csv-from-json <(echo '{"a\u0000b":1}')
fails 'two objects of one name' 1 "the object has 'a' twice" csv-from-json <(echo '{"a":{"b":1},"a":{"c":2}}')
fails 'an empty one, too' 1 "the object has 'a' twice" csv-from-json <(echo '{"x":1,"a":{},"a":1}')
fails 'a key twice within a list' 1 "the object has 'k' twice" csv-from-json <(echo '{"x":[{"k":1,"k":2}]}')
fails 'and one that is not asked for' 1 "the object has 'a' twice" csv-from-json -c x <(echo '{"x":1,"a":1,"a":2}')
is 'keys of several objects are as they were' 'x' bash -c "csv-from-json <(echo '{\"x\":[{\"k\":1},{\"k\":[{\"k\":2}]}],\"k\":{\"k\":1}}') | head -1 | cut -d, -f1"
is 'a row like the header, whose first name needs quotes' '"a,b",c
"a,b","c"
1,2' bash -c "printf '{\"a,b\":\"a,b\",\"c\":\"c\"}\n{\"a,b\":\"1\",\"c\":\"2\"}\n' | csv-from-json | csv-cat"
fails 'where all do that cannot be told' 1 'a row says the same as the header, whose names all are quoted' csv-from-json <(echo '{"a,b":"a,b"}')
done_testing
