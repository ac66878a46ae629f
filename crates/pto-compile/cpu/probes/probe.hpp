// What a probe may use: PTO-ISA's simulator headers as they are. A probe that compiles says that the feature is there.
#pragma once
#include <cassert>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>
#include <pto/pto-inst.hpp>

template <typename T, int Rows, int Cols>
using ProbeVec = pto::Tile<pto::TileType::Vec, T, Rows, Cols, pto::BLayout::RowMajor, Rows, Cols>;
template <typename T>
using ProbeGlobal = pto::GlobalTensor<T, pto::Shape<1, 1, 1, 16, 16>, pto::Stride<256, 256, 256, 16, 1>>;
