// What the test kernels share. A test calls `test(which, results)`, which launches kernels on plain host memory (without a host
// ACL library a launch is a call), writes what came out into `results` and returns how many numbers that are.
#pragma once
#include <pto/pto-inst.hpp>

using namespace pto;

#if defined(__DAV_VEC__) || defined(__DAV_C220_VEC__)
#define VECTOR_SIDE
#endif
#if defined(__DAV_CUBE__) || defined(__DAV_C220_CUBE__)
#define CUBE_SIDE
#endif

// A vector tile of 8 floats, the smallest, and its place in GM.
using Eight = Tile<TileType::Vec, float, 1, 8, BLayout::RowMajor, 1, 8>;
using EightInGm = GlobalTensor<float, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>>;
using Square = Tile<TileType::Vec, float, 16, 16, BLayout::RowMajor, 16, 16>;
using SquareInGm = GlobalTensor<float, pto::Shape<1, 1, 1, 16, 16>, pto::Stride<256, 256, 256, 16, 1>>;

AICORE inline uint64_t message(uint32_t mode, uint32_t flag) { return 1 | (mode << 4) | (flag << 8); }
