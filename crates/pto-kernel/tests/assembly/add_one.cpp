#include "pto/pto-inst.hpp"
using namespace pto;
__global__ AICORE void add_one(__gm__ float* v1, __gm__ float* v2) {
  float v3 = 1.0f;
  int64_t v4 = 0;
  int64_t v5 = 4096;
  using T = float;
  using GTShape_1 = pto::Shape<1, 1, 1, 32, 32>;
  using GTStride_1 = pto::Stride<1024, 1024, 1024, 32, 1>;
  constexpr pto::Layout GT_1_layout = pto::Layout::ND;
  GTShape_1 v6 = GTShape_1();
  GTStride_1 v7 = GTStride_1();
  using GT_1 = GlobalTensor<float, GTShape_1, GTStride_1, GT_1_layout>;
  GT_1 v8 = GT_1(v1, v6, v7);
  GT_1 v9 = GT_1(v2, v6, v7);
  Tile<TileType::Vec, float, 32, 32, BLayout::RowMajor, 32, 32, SLayout::NoneBox, 512, PadValue::Null> v10;
  TASSIGN(v10, v4);
  Tile<TileType::Vec, float, 32, 32, BLayout::RowMajor, 32, 32, SLayout::NoneBox, 512, PadValue::Null> v11;
  TASSIGN(v11, v5);
  TLOAD(v10, v8);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TADDS(v11, v10, v3);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(v9, v11);
  pipe_barrier(PIPE_ALL);
  return;
}
