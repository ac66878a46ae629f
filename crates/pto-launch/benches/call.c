/* Launchers whose own work is next to nothing, so that what is measured is the way to them. */
#include <stdint.h>

/* As most launchers look. */
void call_four(uint32_t blocks, void *stream, void *y, uint32_t n)
{
    (void)blocks, (void)stream, (void)y, (void)n;
}

/* A kernel with many tensors. */
void call_twelve(uint32_t blocks, void *stream, void *a, void *b, void *c, void *d, void *e, void *f, uint32_t n, uint32_t m,
                 float alpha, int64_t stride)
{
    (void)blocks, (void)stream, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
    (void)n, (void)m, (void)alpha, (void)stride;
}
