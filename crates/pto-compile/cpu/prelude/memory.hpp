// The on-chip memory of one core: of the modelled SoC's size, and poisoned, so that reading what was never written shows.
#pragma once

#include <pto/cpu/NPUMemoryModel.hpp>

namespace ptocpu {

// 0xFF in every byte is a NaN in every float type, and -1 or the largest value in the integer types.
inline constexpr int kPoison = 0xFF;

inline void prepare_memory()
{
    auto &model = pto::NPUMemoryModel::Instance();
    model.Initialize(PTOCPU_A5 ? pto::NPUArch::A5 : pto::NPUArch::A2A3);
    // The sizes in the order of the model's regions, of which UB is the first larger than a register file; the model hands
    // them out as const, but the object is not. Its own UB is larger than the device's and would hide an overflow.
    auto &fixed = model.GetSizes();
    auto *sizes = const_cast<std::size_t *>(&fixed[0]);
    const std::size_t ub = sizes[0] < 1024 ? 1 : 0;
    const std::size_t count = std::extent_v<std::remove_reference_t<decltype(fixed)>>;
    char *bases[] = {model.GetUBBase(), model.GetL1Base(), model.GetL0ABase(), model.GetL0BBase(), model.GetL0CBase()};
    for (std::size_t i = 0; i < 5 && ub + i < count; i++) std::memset(bases[i], kPoison, sizes[ub + i]);
    if (sizes[ub] > PTOCPU_UB_BYTES) sizes[ub] = PTOCPU_UB_BYTES;
    if (sizes[ub + 4] > PTOCPU_L0C_BYTES) sizes[ub + 4] = PTOCPU_L0C_BYTES;
    ptocpu_publish(bases[0], bases[1]);
}

template <typename T>
std::size_t offset_in_ub(T *pointer)
{
    return reinterpret_cast<char *>(pointer) - pto::NPUMemoryModel::Instance().GetUBBase();
}
template <typename T>
std::size_t offset_in_l1(T *pointer)
{
    return reinterpret_cast<char *>(pointer) - pto::NPUMemoryModel::Instance().GetL1Base();
}

}  // namespace ptocpu
