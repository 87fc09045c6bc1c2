/* limit.c - see limit.h */
#include "place/limit.h"
#include "base/message.h"
#include "base/num.h"
#include <string.h>

double fast_share(const char *ratio)
{
    const char *colon = strchr(ratio, ':');
    double slow, fast;
    if (!colon || !num_parse(ratio, (size_t)(colon - ratio), &slow) || !num_parse(colon + 1, strlen(colon + 1), &fast))
        usage("ratio '%s' is not of the form R:1", ratio);
    if (!(slow >= 0 && fast >= 0 && slow < 1e9 && fast < 1e9 && slow + fast > 0))
        usage("ratio '%s' has no meaning", ratio);
    return fast / (slow + fast);
}
