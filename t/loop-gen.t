#!/bin/bash
. "$(dirname "$0")/tap.sh"

is 'a grid, the last size fastest' 'problem,split
(mm 8 5 1),train
(mm 8 5 3),train
(mm 16 5 1),train
(mm 16 5 3),train' loop-gen --kind=mm --m=8:16:8 --n=5 --k=1,3 --test=0
loop-gen --kind=mm --m=64:256:16 --n=64:256:16 --k=64:256:16 > all
is 'the set of the study: 2197 of which 220 to test' '220 1977' awk -F, '{ n[$2]++ } END { print n["test"], n["train"] }' all
loop-gen --kind=mm --m=64:256:16 --n=64:256:16 --k=64:256:16 --seed=2 > other
ok 'the split is drawn by seed' bash -c '! cmp -s all other'
loop-gen --kind=mm --m=64:256:16 --n=64:256:16 --k=64:256:16 > again
ok 'and the same seed gives the same' cmp all again
is 'every order of the loops' 6 bash -c 'loop-gen --kind=mm --m=4 --n=5 --k=6 --permute | tail -n +2 | sort -u | wc -l'
is 'a convolution fills in w, kw, n and s' 'problem,split
(conv 1 3 9 9 8 3 3 1),train' loop-gen --kind=conv --c=3 --h=9 --m=8 --kh=3 --test=0
is 'zeros around it' 'problem,split
(conv 1 3 9 9 8 3 3 1 (pad 1 2) (then bias)),train' loop-gen --kind=conv --c=3 --h=9 --m=8 --kh=3 --pad=1,2 --then=bias --test=0
is 'layers of networks have them where a window is larger than one pixel' '(conv 1 3 224 224 64 7 7 2 (pad 3)) (conv 1 64 56 56 64 3 3 1 (pad 1))' \
    bash -c 'loop-gen --set=resnet50 --test=0 | csv-cut -c problem | grep pad | head -n 2 | paste -sd " "'
bias() { grep -e ^problem -e '(sizes (c 32)' -e '(p 1)' | loop-emit --header=p.h > rows && sed -n 's/^.. bias: \([0-9]*\) .*/\1/p' p.h; }
for l in nchw nhwc; do loop-gen --set=mobilenet2 --layout=$l --then=bias --test=0 | bias; done > biases
is 'the bias of a depthwise convolution is along its channels, in both layouts' '32 32' paste -sd ' ' biases
printf 'problem\n(nest (sizes (n 8) (p 1) (m 3) (k 2)) (A m k) (B k n p) (C m n p) (then bias))\n' | bias > biases
is 'that of a result whose last size is 1 is one number' 1 cat biases
fails 'a norm of rows of one element' 1 'layernorm needs rows of C, more than 1 element' \
    loop-gen --kind=mm --m=1 --n=1 --k=8 --then=layernorm
fails 'a word misspelt behind the sizes' 1 'tpye .* behind the sizes of mm is twice, or none of' \
    bash -c "printf 'problem\n(mm 4 4 4 (tpye f64))\n' | loop-act"
fails 'zeros of a product' 1 'pad ..) is for convolutions' loop-gen --kind=mm --m=3 --n=9 --k=8 --pad=1
is 'layers of ResNet-50' 23 bash -c 'loop-gen --set=resnet50 --test=0 | grep -c "(conv 1"'
draw=(loop-gen --kind=conv_nhwc --sample=50 --c='16:64:16|3' --m=8:32 --h=9:20 --kh='1|3' --s='1|2' --test=0)
"${draw[@]}" > drawn
is 'a sample: so many different problems' 50 bash -c 'tail -n +2 drawn | cut -d, -f1 | sort -u | wc -l'
ok 'within the lists, square' awk -F'[ )]' 'NR > 1 && !(($3 == 3 || $3 % 16 == 0 && $3 >= 16 && $3 <= 64) && $4 >= 9 && $4 <= 20 &&
    $5 == $4 && $6 >= 8 && $6 <= 32 && ($7 == 1 || $7 == 3) && $8 == $7 && ($9 == 1 || $9 == 2)) { print; exit 1 }' drawn
ok 'each octave is as likely' eval "loop-gen --kind=mm --sample=2000 --m=1:1023 --n=1:1000 --k=1:1000 --test=0 | awk -F'[ )]' 'NR > 1 { n += \$2 < 32 } END { exit !(n > 900 && n < 1100) }'"
ok 'drawn by seed' eval '"${draw[@]}" | cmp -s - drawn && ! "${draw[@]}" --seed=2 | cmp -s - drawn'
is 'a sample in every order' '3 18' eval 'loop-gen --kind=mm --m=8:64 --n=8 --k=8 --sample=3 --permute | sed "1d;s/,.*//" | sort -u > o
    echo $(sed "s/ (order.*//" o | sort -u | wc -l) $(wc -l < o)'
is 'w that is not given is h, and kw is kh' '(conv 1 3 8 8 4 1 1 1) (conv 1 3 8 8 4 3 3 1) (conv 1 3 9 9 4 1 1 1) (conv 1 3 9 9 4 3 3 1)' \
    bash -c "loop-gen --kind=conv --c=3 --h=8:9 --m=4 --kh='1|3' --test=0 | sed '1d;s/,train//' | paste -sd ' '"
fails 'more than there are' 2 'not 9 different' loop-gen --kind=point --sample=9 --i='1|2' --j=1:2
fails 'size 0' 2 'size 0 is not 1' loop-gen --kind=mm --m=0 --n=1 --k=1
fails 'size 2^31' 2 'size 2147483648 is not' loop-gen --kind=mm --m=2147483648 --n=1 --k=1
fails 'a tensor too large' 1 'more than 268435456 elements' loop-gen --kind=mm --m=16777216 --n=1000 --k=1
fails 'a window larger than the image' 1 'window kh of 3 is larger' loop-gen --kind=conv --c=1 --h=2 --m=1 --kh=3
fails 'an empty range' 2 'is empty' loop-gen --kind=mm --m=9:8 --n=1 --k=1
fails 'a missing size' 2 'needs --k' loop-gen --kind=mm --m=9 --n=1
fails 'an unknown kind' 2 'kind' loop-gen --kind=foo
fails 'k of bf16 comes in pairs' 1 'k is 7, not a multiple of 2' bash -c 'loop-gen --kind=mm_bf16 --m=2 --n=2 --k=7 | loop-act'
is 'an einsum is a nest' '(nest (sizes (b 2) (q 3) (d 4) (k 5)) (A b q d) (B b k d) (C b q k)),train' \
    bash -c "loop-gen --test=0 --einsum='bqd,bkd->bqk' --size=b=2 --size=q=3 --size=k=5 --size=d=4 | tail -1"
is 'which may be emitted' 1 bash -c "loop-gen --test=0 --einsum='ijk,jkl->il' --size=i=4 --size=j=5 --size=k=6 --size=l=7 | loop-emit | tail -n +2 | wc -l"
fails 'an index without a size' 2 'needs --size=k=N' loop-gen --einsum='mk,kn->mn' --size=m=2
fails 'four tensors' 2 'expected two or three tensors' loop-gen --einsum='a,b,c,d->abc'
is 'three are two contractions' '(nest (sizes (q 3) (d 4) (k 5) (e 6)) (A q d) (B k d) (V k e) (C q e) (mid (over 2) softmax)),train' \
    bash -c "loop-gen --test=0 --einsum='qd,kd,ke->qe' --mid='(over 2),softmax' --size=q=3 --size=k=5 --size=d=4 --size=e=6 | tail -1"
fails 'not any three' 1 'C is summed over k' loop-gen --einsum='qk,kd,ke->qe' --size=q=3 --size=k=5 --size=d=4 --size=e=6
is 'the front of attention' '(nest (sizes (b 1) (h 2) (q 3) (d 4) (k 5)) (A b h q d) (B b h k d) (C b h q k)),train' \
    bash -c "loop-gen --test=0 --einsum='bhqd,bhkd->bhqk' --size=b=1 --size=h=2 --size=q=3 --size=k=5 --size=d=4 | tail -1"
is 'BERT-base in bf16' '(mm_bf16 128 768 768) (mm_bf16 128 3072 768) (mm_bf16 128 768 3072)' \
    bash -c "loop-gen --set=bert --type=bf16 --test=0 | csv-cut -c problem | tail -n +2 | paste -sd ' '"
is 'MobileNetV2: layers that differ' 30 bash -c 'loop-gen --set=mobilenet2 --layout=nhwc --test=0 | tail -n +2 | wc -l'
is 'ViT-B/16, Whisper tiny, few rows, the grouped layers of ResNeXt-50: all with code' '6 6 8 4' bash -c 'for s in vit whisper rows grouped; do
    loop-gen --set=$s --test=0 > $s.csv; loop-emit $s.csv | csv-calc --where="bytes > 0" --print=bytes | wc -l; done | paste -sd" "'
is 'EfficientNet-B0: six depthwise layers with windows of 5 x 5, six of 3 x 3' '6 6' bash -c 'loop-gen --set=efficientnet --test=0 > e; echo $(grep -c "(p 5)" e) $(grep -c "(p 3)" e)'
ok 'all of them are problems' bash -c 'loop-gen --set=mobilenet2 --test=0 | loop-act && loop-gen --set=llama --type=u8s8 --tokens=1 | loop-act'
done_testing
