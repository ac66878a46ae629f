// The on-chip memory of one core: of the modelled SoC's size, and known to the runtime, which checks what lies where.
#pragma once

#include <pto/cpu/NPUMemoryModel.hpp>

namespace ptocpu {

// The sizes of UB, L1, L0A, L0B, L0C in the model, in that order. Some header sets have registers before them, of which there
// are few bytes. The model hands them out as const, but the object is not.
inline std::size_t *memory_sizes()
{
    auto *sizes = const_cast<std::size_t *>(&pto::NPUMemoryModel::Instance().GetSizes()[0]);
    return sizes[0] < 1024 ? sizes + 1 : sizes;
}

inline void prepare_memory()
{
    auto &model = pto::NPUMemoryModel::Instance();
    model.Initialize(PTOCPU_A5 ? pto::NPUArch::A5 : pto::NPUArch::A2A3);
    void *bases[] = {model.GetUBBase(), model.GetL1Base(), model.GetL0ABase(), model.GetL0BBase(), model.GetL0CBase()};
    std::size_t *sizes = memory_sizes();
    // The model's own UB is larger than the device's and would hide an overflow.
    sizes[PTOCPU_UB] = std::min<std::size_t>(sizes[PTOCPU_UB], PTOCPU_UB_BYTES);
    sizes[PTOCPU_L0C] = std::min<std::size_t>(sizes[PTOCPU_L0C], PTOCPU_L0C_BYTES);
    ptocpu_publish(bases, sizes);
}

// The memory that a tile lies in; PTOCPU_MEMORIES for one that lies in none of them.
constexpr ptocpu_memory memory_of(pto::TileType where)
{
    switch (where) {
        case pto::TileType::Vec: return PTOCPU_UB;
        case pto::TileType::Mat: return PTOCPU_L1;
        case pto::TileType::Left: return PTOCPU_L0A;
        case pto::TileType::Right: return PTOCPU_L0B;
        case pto::TileType::Acc: return PTOCPU_L0C;
        default: return PTOCPU_MEMORIES;
    }
}

// See ptocpu_place.
inline void *place(ptocpu_memory memory, std::uintptr_t at, std::size_t bytes)
{
    void *found = ptocpu_place(memory, at, bytes);
    if (found == nullptr) {
        // Not in a launch: the kernel's function is called as a function.
        prepare_memory();
        found = ptocpu_place(memory, at, bytes);
    }
    return found;
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

namespace pto {

// The simulator's own says neither which memory a tile leaves nor by how much, and is compiled anew for each type of tile.
template <typename T, typename AddrType>
    requires is_tile_data_v<T> && std::is_integral_v<AddrType>
PTO_INTERNAL void TASSIGN_IMPL(T &tile, AddrType at)
{
    constexpr ptocpu_memory memory = ptocpu::memory_of(T::Loc);
    if constexpr (memory == PTOCPU_MEMORIES) {
        tile.data() = NPUMemoryModel::Instance().ResolveAssignedAddress<T>(static_cast<std::uintptr_t>(at));
    } else {
        void *place = ptocpu::place(memory, static_cast<std::uintptr_t>(at), T::Numel * sizeof(typename T::DType));
        tile.data() = static_cast<typename T::DType *>(place);
    }
}

}  // namespace pto
