/* net.h - the networks of the AutoTM study as training steps: forward, loss, backward, SGD.
 *
 * Kernels are fused the way nGraph's CPU back end fuses them (convolution with bias and relu, batch norm with relu);
 * gradients come from a tape played backwards; a gradient that arrives on several ways is summed as it arrives.
 * Topologies: Simonyan and Zisserman 2014 (VGG; vgg416 is the study's deep variant), He et al. 2015 (ResNet),
 * Szegedy et al. 2016 (Inception v4), Huang et al. 2016 (DenseNet), with the study's deviations: stride on the last
 * convolution of a ResNet block, bias everywhere, DenseNet transitions back to 64 channels, no dropout. */
#ifndef MILLRACE_PLACE_NET_H
#define MILLRACE_PLACE_NET_H
#include "tensor/graph.h"

/* image: side of the square input, 0 for the network's own.  NULL when there is no such network; dies when the image
 * is too small for it or tensors get too large.  study: the kernels of the study; else
 * sums and rectifiers of gradients are done by the kernels that make the gradients, the sum and rectifier of a residual
 * block are one, and gradients of dense weights are added to the weights as they arise. */
struct graph *net_build(const char *name, long batch, long image, bool study);
/* A network in a line, layers between semicolons: "dense N [relu]", "conv SIDE CHANNELS [STRIDE]" (padded, with its
 * relu), "maxpool SIDE".  features: numbers of an input that is no image, 0: three channels of image x image.  Wrong
 * usage, with the layer, where it is none. */
struct graph *net_of_line(const char *line, long batch, long image, long features, bool study);
/* The same for networks of operators on plain arrays (tensor/nd.h), whose way back is grad.h's, by SGD; there are no
 * kernels of the study for them.  mobilenetv2: Sandler et al. 2018; unet: Ronneberger et al. 2015, padded, with
 * batch norms, two classes a pixel; vit: Dosovitskiy et al. 2020, ViT-B/16.  No dropout.  Parameters come in the order
 * of torchvision's. */
struct graph *net_of_arrays(const char *name, long batch, long image);
const char *net_names(void);                             /* "vgg19 vgg416 .." */
#endif
