#include "probe.hpp"
int main()
{
    ProbeVec<float, 16, 16> a, b, c;
    pto::TASSIGN(a, 0);
    pto::TASSIGN(b, 1024);
    pto::TASSIGN(c, 2048);
    a.data()[255] = 1.0f;
    b.data()[255] = 2.0f;
    pto::TADD(c, a, b);
    return c.data()[255] == 3.0f ? 0 : 1;
}
extern "C" void ptocpu_violation(const char *, const char *, int) {}
