#!/bin/bash
# a file that is written anew keeps its mode and owner, a link its place; a sweep leaves what somebody writes
. "$(dirname "$0")/tap.sh"
printf 'x,y\n1,2\n2,4\n3,6.1\n' > t.csv
umask 022
fit() { fit-ridge --quiet -y y -o "$1" t.csv; }
fit new
is 'a new file: the usual mode' 644 stat -c %a new
for mode in 600 640 664 400 755; do
    echo old > m && chmod $mode m && fit m
    is "mode $mode is kept" "$mode" stat -c %a m
    ok 'and the file is the new one' cmp m new
    rm -f m
done
mkdir real; echo old > real/m; chmod 600 real/m; ln -s real/m link; ln -s link again
ok 'through a link' fit again
is 'links stay' 'link real/m' eval 'echo $(readlink again) $(readlink link)'
ok 'what they name is written' cmp real/m new
is 'with its mode' 600 stat -c %a real/m
ln -s real/none dangling
ok 'a link to nothing yet' fit dangling
ok 'makes it' eval 'cmp real/none new && [ -L dangling ]'
ln -s loop1 loop2; ln -s loop2 loop1
fails 'links in a circle' 1 'links' fit loop1
is 'nothing is left' '' eval 'find . -name ".millrace-*"; echo'
if [ "$(id -u)" = 0 ]; then
    echo old > theirs && chown 65534:65533 theirs && chmod 640 theirs && fit theirs
    is 'the owner is kept' '65534 65533 640' stat -c '%u %g %a' theirs
else skip 'the owner is kept' 'not root'; fi

mkdir swept
mkfifo hold                                              # two writers end when it is written to
printf 'proc,tid,kind,cat,start_ns,end_ns,name,link,flag\n1,1,cat,Python,1,5,f,,\n' > ev.csv
(cat ev.csv; read -r < hold) | prof-emit --to=chrome -o swept/m &
until ls swept/.millrace-* > /dev/null 2>&1 || [ -e swept/m ]; do sleep 0.02; done
here=$("$root/pipelines/here")
ours=.millrace-4194301-$here-out theirs=.millrace-4194303-0badf00d
(cat t.csv; read -r < hold) | csv-cat > swept/$ours &
until [ -e swept/$ours ]; do sleep 0.02; done
for i in {1..500}; do grep -q ":$(stat -c %i swept/$ours) " /proc/locks && break; sleep 0.02; done
ok 'a filter and a script call this host the same' eval 'ls -A swept | grep -q -- "-$here-m$"'
touch swept/.millrace-4194302-$here-old swept/$theirs-new swept/.millrace-4194302-older
mkdir swept/$theirs-folder
touch swept/$theirs-folder/new
for f in swept/.millrace-*-m; do [ ! -e "$f" ] || ln "$f" swept/$theirs-m; done
touch -d '2 days ago' swept/$theirs-folder swept/.millrace-4194302-older swept/$theirs-m
"$root/pipelines/sweep" swept
is 'a sweep leaves what is written, whatever number its writer has here, and what is of another host and of today' \
    "$ours ${theirs}-folder ${theirs}-m ${theirs}-new" eval 'ls -A swept | grep 419430 | paste -sd" "'
for i in {1..30}; do [ "$(jobs -r)" ] || break; timeout 1 bash -c 'echo > hold'; done
touch -d '2 days ago' swept/$theirs* swept/$theirs-folder/new
"$root/pipelines/sweep" swept
is 'and takes it when that is done, or a day old' m ls -A swept
done_testing
