#include "measure/pace.h"
#include "measure/clock.h"

bool pace_again(struct pace *p, double seconds)
{
    if (p->left <= 0 || !p->slow || !p->slow()) return false;
    const double until = now_seconds() + p->left - seconds;
    while (now_seconds() < until && p->slow()) {}
    p->left = until - now_seconds();
    return true;
}
