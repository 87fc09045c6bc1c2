/* place-net - write the training step of a network as a graph
 *
 * Usage: place-net NAME --batch=N [--image=N]
 *        place-net LAYERS --batch=N [--input=N | --image=N]
 *
 * NAME is one of vgg16 vgg19 vgg416 inception4 resnet18 resnet34 resnet50
 * resnet101 resnet200 densenet264 mlp mobilenetv2 unet vit.  LAYERS is a network
 * in a line, layers between semicolons: dense N [relu], conv SIDE CHANNELS
 * [STRIDE] (padded, with its relu), maxpool SIDE.
 * The graph holds every kernel of one training step in execution order:
 * forward, loss, backward, and the update of each parameter (SGD).  Sums and
 * rectifiers of gradients are done by the kernels that make the gradients, and
 * gradients of dense weights are added to the weights as they arise; --study
 * keeps all these apart, as the AutoTM study did.  The results are the same to
 * the last bit.  mobilenetv2, unet and vit consist of operators on plain
 * arrays, as place-import's graphs do; --study changes nothing there.  The form
 * is (graph (name) (batch) (tensor ID NAME ROLE BYTES DTYPE (SHAPE)) ..
 * (node IDX NAME OP (in ID..) (out ID..) (attr ..) (flops F) (bytes B)) ..).
 * Memory: the graph.
 *
 * Examples:
 *   $ place-net vgg19 --batch=2048 | place-stat
 *   $ place-net resnet50 --batch=4 --image=64 > graph.sexp
 *   $ place-net 'dense 4096 relu; dense 4096 relu; dense 10' --input=4096 \
 *         --batch=64 | place-run
 */
#include "base/filter.h"
#include "place/net.h"
#include HELP
#include <string.h>

static long batch, image, features;
static bool study;
static const struct opt options[] = {
    { 0, "batch", INT, &batch, "N", "images in a step", 1, 1e6 },
    { 0, "image", INT, &image, "N", "side of the square image; 0: the network's own", 0, 1e5 },
    { 0, "input", INT, &features, "N", "of LAYERS: numbers of an input that is no image", 0, 1e6 },
    { 0, "study", FLAG, &study, NULL, "the kernels of the AutoTM study, nothing fused beyond them" },
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (i == argc) usage("no network given, one of %s", net_names());
    if (argc - i > 1) usage("one network at a time, not '%s' too", argv[i + 1]);
    if (batch == 0) usage("no batch given, see --batch");
    bool line = strchr(argv[i], ' ') != NULL;
    if (features && (!line || image)) usage("--input is for LAYERS, without --image");
    struct graph *g = line ? net_of_line(argv[i], batch, image, features, study)
                           : net_build(argv[i], batch, image, study);
    if (!g) usage("unknown network '%s', one of %s", argv[i], net_names());
    graph_write(g, "-");
    graph_free(g);
    return EXIT_OK;
}
