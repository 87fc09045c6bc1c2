#!/bin/bash
. "$(dirname "$0")/tap.sh"
printf 'net,form,s,other\nv,slow,9,x\nv,fast,1,y\nr,fast,2,z\n"a,b",slow,5,\n' > t
is "wide: order of first appearance, holes empty" $'net,slow,fast\nv,9,1\nr,,2\n"a,b",5,' csv-pivot -k net --names=form --values=s t
is "a prefix" $'net,t_slow,t_fast\nv,9,1\nr,,2\n"a,b",5,' csv-pivot -k net --names=form --values=s --prefix=t_ t
is "no key: one row" $'slow,fast\n9,1' eval 'printf "f,s\nslow,9\nfast,1\n" | csv-pivot --names=f --values=s'
csv-pivot -k net --names=form --values=s t > w
is "long again" $'net,form,s\nv,slow,9\nv,fast,1\nr,fast,2\n"a,b",slow,5' csv-pivot --long -k net --names=form --values=s w
is "header only" 'net' eval 'head -1 t | csv-pivot -k net --names=form --values=s'
fails "a name twice with one key" 1 "'slow' appears twice with the same key: '9' and '8'" eval '(cat t; echo v,slow,8,) | csv-pivot -k net --names=form --values=s'
fails "a name that is the key's" 1 "would be called 'net'" eval '(cat t; echo v,net,8,) | csv-pivot -k net --names=form --values=s'
fails "no such column" 1 "no column 'q'" csv-pivot -k net --names=q --values=s t
fails "names and values are needed" 2 'are needed' csv-pivot -k net t
fails "made long, a name that is the key's" 1 "two columns would be called 'k'" csv-pivot --long -k k --names=k --values=v <(printf 'k,a\n1,2\n')
fails 'made long there are no new columns' 2 'of which --long makes none' csv-pivot --long --prefix=p -k k --names=n --values=v <(printf 'k,a\n1,2\n')
done_testing
