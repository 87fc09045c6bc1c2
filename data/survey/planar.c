/* planar.c - a chain of six links that crawls in the plane: one step of physics, 40 substeps of position-based dynamics
 * (Mueller et al., "Position based dynamics", 2007): gravity, distance and bending constraints, ground with friction.
 * cc -O2 -shared -fPIC -o planar.so planar.c -lm; called by survey.py. */
#include <math.h>

enum { POINTS = 7, SUBSTEPS = 40, SWEEPS = 10 };
static const double LINK = 0.2, DT = 0.02 / SUBSTEPS, GRIP = 0.6;

struct planar { double x[POINTS][2], before[POINTS][2]; };

static void keep_apart(double *a, double *b, double length, double stiff)
{
    const double dx = b[0] - a[0], dy = b[1] - a[1], d = sqrt(dx * dx + dy * dy) + 1e-12;
    const double push = stiff * (d - length) / d / 2;
    a[0] += push * dx, a[1] += push * dy, b[0] -= push * dx, b[1] -= push * dy;
}

void planar_reset(struct planar *p, double lift)
{
    for (int i = 0; i < POINTS; i++)
        for (int k = 0; k < 2; k++) p->x[i][k] = p->before[i][k] = k ? 0.05 + lift * (i % 2) : LINK * i;
}

/* bend: -1 .. 1 of each of the POINTS - 2 joints; returns how far the middle went */
double planar_step(struct planar *p, const double *bend)
{
    const double from = p->x[POINTS / 2][0];
    for (int s = 0; s < SUBSTEPS; s++) {
        for (int i = 0; i < POINTS; i++)
            for (int k = 0; k < 2; k++) {
                const double v = p->x[i][k] - p->before[i][k];
                p->before[i][k] = p->x[i][k];
                p->x[i][k] += v * 0.9995 - (k ? 9.81 * DT * DT : 0);
            }
        for (int w = 0; w < SWEEPS; w++) {
            for (int i = 0; i + 1 < POINTS; i++) keep_apart(p->x[i], p->x[i + 1], LINK, 1);
            for (int i = 0; i + 2 < POINTS; i++)
                keep_apart(p->x[i], p->x[i + 2], 2 * LINK * cos(0.5 * (1 + bend[i])), 0.1);
            for (int i = 0; i < POINTS; i++)
                if (p->x[i][1] < 0) {
                    p->x[i][1] = 0;
                    p->x[i][0] -= GRIP * (p->x[i][0] - p->before[i][0]);
                }
        }
    }
    return p->x[POINTS / 2][0] - from;
}
