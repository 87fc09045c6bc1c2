#!/bin/bash
# calc.sh DIR - expressions of each kind as inputs to begin with
d=$1
table=$'a,b,name\n1,2.5,x\n,nan,/a/b.c\n-3,1e9,x'
i=0
while IFS= read -r line; do printf '%s\n%s\n' "$line" "$table" > "$d/$((++i))"; done <<'END'
a + b * 2 ^ -a % 3
-a / (b - 1) >= 0.5e1
name == 'x' && b != nan || !(a < 1)
a ? concat(name, "-", b) : missing
lag(a, 2) + run_sum(b) - run_min(a) * run_max(b) / run_count()
part(name, '/', -1) == slice(name, 2, 3)
round(b, 2) + digits(a, 3) + min(a, b, 1) + max(a, b)
contains(name, 'a') + starts(name, '/') + ends(name, 'c') + length(upper(trim(lower(name))))
or(number(name), first(a), row(), 1) + known(text(b)) + isnan(inf)
[a] + abs(sqrt(exp(log(floor(ceil(trunc(sign(log2(log10(b))))))))))
fixed(b, 9)
END
