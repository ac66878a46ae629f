// The on-chip memory of one core: of the modelled SoC's size, and poisoned, so that reading what was never written shows.
#pragma once

#include <pto/cpu/NPUMemoryModel.hpp>

namespace ptocpu {

// 0xFF in every byte is a NaN in every float type, and -1 or the largest value in the integer types.
inline constexpr int kPoison = 0xFF;

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
    char *bases[] = {model.GetUBBase(), model.GetL1Base(), model.GetL0ABase(), model.GetL0BBase(), model.GetL0CBase()};
    std::size_t *sizes = memory_sizes();
    for (std::size_t i = 0; i < 5; i++) std::memset(bases[i], kPoison, sizes[i]);
    // The model's own UB is larger than the device's and would hide an overflow.
    sizes[0] = std::min<std::size_t>(sizes[0], PTOCPU_UB_BYTES);
    sizes[4] = std::min<std::size_t>(sizes[4], PTOCPU_L0C_BYTES);
    ptocpu_publish(bases[0], bases[1]);
}

// Faults unless a tile at this byte offset (or this address of the model's own memory) ends within its memory.
template <typename Tile>
void check_place(std::uintptr_t at)
{
    auto &model = pto::NPUMemoryModel::Instance();
    constexpr auto where = Tile::Loc;
    constexpr bool ub = where == pto::TileType::Vec, l1 = where == pto::TileType::Mat, l0a = where == pto::TileType::Left,
                   l0b = where == pto::TileType::Right, l0c = where == pto::TileType::Acc;
    if constexpr (ub || l1 || l0a || l0b || l0c) {
        constexpr const char *name = ub ? "UB" : l1 ? "L1" : l0a ? "L0A" : l0b ? "L0B" : "L0C";
        constexpr std::size_t index = ub ? 0 : l1 ? 1 : l0a ? 2 : l0b ? 3 : 4, bytes = Tile::Numel * sizeof(typename Tile::DType);
        const char *bases[] = {model.GetUBBase(), model.GetL1Base(), model.GetL0ABase(), model.GetL0BBase(), model.GetL0CBase()};
        const std::size_t size = memory_sizes()[index];
        const auto base = reinterpret_cast<std::uintptr_t>(bases[index]);
        const std::size_t offset = at >= base && at < base + size ? at - base : at;
        if (offset <= size && bytes <= size - offset) return;
        if (at > 0xffffffff && offset == at) return;  // an address elsewhere: the model decides
        const std::string text = "TASSIGN: a tile of " + std::to_string(bytes) + " bytes at byte " + std::to_string(offset) +
                                 " of " + name + " ends past its " + std::to_string(size) + " bytes";
        ptocpu_fault(0, text.c_str());
    }
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

// The simulator's own check says neither which memory nor how much.
template <typename T, typename AddrType>
    requires is_tile_data_v<T> && std::is_integral_v<AddrType>
PTO_INTERNAL void TASSIGN_IMPL(T &tile, AddrType at)
{
    ptocpu::check_place<T>(static_cast<std::uintptr_t>(at));
    tile.data() = NPUMemoryModel::Instance().ResolveAssignedAddress<T>(static_cast<std::uintptr_t>(at));
}

}  // namespace pto
