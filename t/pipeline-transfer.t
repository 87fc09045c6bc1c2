#!/bin/bash
# make loop-transfer at its smallest: small convolutions stand for the layers; what is learned on holds none of them
. "${0%/*}/tap.sh"
run() { make -s -C "$root" loop-transfer SCALE=ci OUT="$PWD/out" B="$B" BIN="$BIN" LOOP_LEARN_STEPS=1000 LOOP_TRANSFER_STEPS=2000 \
    LOOP_TRANSFER_SETS=resnet50-nhwc LOOP_TRANSFER_SEARCHES=anneal LOOP_SHORT=0.01; }
mkdir -p out/loop/transfer
layer=$(loop-gen --test=0 --sample=1000 --kind=conv_nhwc --c='16:2048:16|64:2048:64|128:1024:128' --m='16:2048:16|64:2048:64|128:1024:128' \
    --h=7:60 --kh=1 --s='1|1|2' | sed -n 7p)
for s in resnet50-nhwc resnet50-nchw vgg19-nhwc vgg19-nchw; do
    printf 'problem,split\n(conv_nhwc 1 16 9 9 32 3 3 1),train\n(conv_nhwc 1 24 12 12 16 1 1 1),train\n' > out/loop/transfer/$s.problems
done
echo "$layer" >> out/loop/transfer/vgg19-nchw.problems
ok 'it runs to its end' eval 'run > log 2>&1 || { tail -5 log; false; }'
is 'a row for each' 'products shapes untrained heuristic anneal' \
    eval "sed 1d out/loop/transfer.csv | cut -d, -f2 | paste -sd' '"
ok 'some problem is the best of each set' awk -F, 'NR > 1 && ($(NF - 2) > 1 || $(NF - 2) < 0.1) { exit 1 }' out/loop/transfer.csv
ok 'no layer is learned on' eval '! grep -qF "${layer%,*}" out/loop/transfer/problems.csv'
ok 'thousands of others are' test "$(wc -l < out/loop/transfer/problems.csv)" -gt 5000
find out/loop/transfer -type f -exec sha256sum {} + | LC_ALL=C sort > before
ok 'and once more' eval 'run > log 2>&1'
find out/loop/transfer -type f -exec sha256sum {} + | LC_ALL=C sort > after
ok 'nothing was measured twice' cmp before after
done_testing
