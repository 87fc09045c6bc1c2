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

void budget_parse(struct budget *b)
{
    size_t n = b->limit ? strlen(b->limit) : 0;
    double percent;
    b->given = b->limit || b->ratio;
    b->share = -1;
    if (b->limit && b->ratio) usage("--ratio and --limit exclude each other");
    if (b->ratio) {
        b->share = fast_share(b->ratio);
    } else if (n && b->limit[n - 1] == '%') {
        if (!num_parse(b->limit, n - 1, &percent) || !(percent > 0 && percent <= 100))
            usage("--limit: '%s' is no share between 0%% and 100%%", b->limit);
        b->share = percent / 100;
    } else if (b->limit && (!size_parse(b->limit, n, &b->bytes) || b->bytes == 0)) {
        usage("--limit: '%s' is neither a number of bytes (2G, 512Mi) nor a share (25%%)", b->limit);
    }
}

uint64_t budget_bytes(const struct budget *b, double whole)
{
    return b->share < 0 ? b->bytes : (uint64_t)(whole * b->share);
}
