#include "probe.hpp"
using Pipe = pto::TPipe<0, pto::Direction::DIR_C2V, 1024, 2>;
void probe(Pipe &pipe, ProbeGlobal<float> &slot) { pto::TPOP<Pipe, ProbeGlobal<float>, pto::TileSplitAxis::TILE_UP_DOWN>(pipe, slot); }
