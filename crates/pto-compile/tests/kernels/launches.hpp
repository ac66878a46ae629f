// A launch in a header.
#pragma once
template <typename T, int N>
AICORE void fill(__gm__ T *out, T value)
{
    for (int i = 0; i < N; i++) out[get_block_idx() * N + i] = value;
}

template <typename T>
__global__ AICORE void from_header(__gm__ T *out, T value)
{
    fill<T, 1>(out, value);
}

inline void launch_from_header(float *out) { from_header<<<3, nullptr, nullptr>>>(out, 7.0f); }
