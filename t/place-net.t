#!/bin/bash
source "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# the peaks that the authors of the study state for their large networks, and the numbers of parameters
row() { place-net "$1" --batch="$2" --study | place-stat | tail -n1 | cut -d, -f"$3"; }
close() { awk -v got="$(row "$2" "$3" "$4")" -v want="$5" 'BEGIN { d = got / want - 1; print (d < 0.005 && d > -0.005) ? "within 0.5 %" : got }'; }
peak() { is "peak memory of $1 at batch $2" "within 0.5 %" close "$1" "$1" "$2" 6 "$3"; }
parameters() { is "parameters of $1" "within 0.5 %" close "$1" "$1" 1 5 "$2"; }
peak vgg416 320 659303e6
peak inception4 6144 660175e6
peak resnet200 2560 652530e6
peak densenet264 3072 688914e6
parameters vgg19 143.7e6
parameters vgg416 580.2e6
parameters inception4 42.6e6
parameters vgg16 138.4e6
parameters resnet18 11.69e6
parameters resnet34 21.80e6
parameters resnet101 44.55e6
parameters resnet200 64.8e6
parameters densenet264 21.1e6
# torchvision's mobilenet_v2 and vit_b_16, and the usual U-Net of two classes, to the last one
count() { place-net "$1" --batch=1 | place-stat | csv-cut -c parameters | tail -n1; }
is "parameters of mobilenetv2" 3504872 count mobilenetv2
is "parameters of unet" 31037698 count unet
is "parameters of vit" 86567656 count vit
for net in mobilenetv2 unet vit; do
    ok "$net is sound" bash -c "place-net $net --batch=2 --image=64 | place-check"
done
fails "patches that do not fit" 1 "vit wants an image whose side is a multiple of 16, not 40" \
    place-net vit --batch=1 --image=40
for net in vgg16 resnet18 resnet101 vgg19 inception4 resnet50 resnet200 densenet264 mlp; do
    ok "$net is sound" bash -c "place-net $net --batch=2 | place-check"
    ok "$net with the kernels of the study is sound" bash -c "place-net $net --batch=2 --study | place-check"
done
is "the update of a parameter comes after its last reader" "212 updates" bash -c '
    place-net resnet50 --batch=2 --study | sed -n "s/.*(node \([0-9]*\) [^ ]* ConvolutionBackpropData (in \([0-9]*\) .*/data \1 \2/p;
        s/.*(node \([0-9]*\) [^ ]*\.update Add (in \([0-9]*\) .*/add \1 \2/p" |
    awk "\$1 == \"add\" { done[\$3] = \$2 } \$1 == \"data\" && (\$3 in done) { print } END { print length(done) \" updates\" }"'
fails "an unknown network" 2 "unknown network 'vgg20', one of vgg16 vgg19" place-net vgg20 --batch=1
fails "no batch" 2 "no batch given" place-net vgg19
fails "batch 0" 2 "batch" place-net vgg19 --batch=0
fails "an image too small" 1 "image is too small for inception4" place-net inception4 --batch=1 --image=50
place-net densenet264 --batch=3 --image=64 > a && place-net densenet264 --batch=3 --image=64 > b
ok "twice the same bytes" cmp a b
# a network in a line: the seed's MLP
is 'layers between semicolons' 'line,16,33603594' eval "place-net 'dense 4096 relu; dense 4096 relu; dense 10' --input=4096 --batch=16 | place-stat | csv-cut -c network,batch,parameters | tail -1"
ok 'a sound graph' eval "place-net 'conv 3 16; maxpool 2; conv 3 32 2; dense 10' --image=32 --batch=4 | place-check"
fails 'no such layer' 2 "layer 'dens 3' is none of dense N" place-net 'dens 3' --batch=2
fails 'no number' 2 "layer 'dense many': a number" place-net 'dense many' --batch=2
fails 'too much' 2 "layer 'dense 3 4': '4' is too much" place-net 'dense 3 4' --batch=2
fails 'no classes' 2 'is not dense' place-net 'conv 3 16' --image=32 --batch=2
fails 'an input of a named network' 2 'is for LAYERS' place-net vgg19 --input=4 --batch=2
done_testing
