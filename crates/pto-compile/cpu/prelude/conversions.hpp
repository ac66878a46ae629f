// TCVT to an integer type. The simulator casts what does not fit, which C++ leaves open; the device saturates or wraps, and
// which of them it does when the kernel does not say depends on the two types.
#pragma once

namespace ptocpu {

template <typename To, typename From>
concept ToInteger = std::is_integral_v<To> && is_plain_type<From> && !std::is_same_v<To, From>;

// Conversions that wrap unless told otherwise, in PTO-ISA's headers for A2/A3 and for A5 alike (npu/*/TCvt.hpp).
template <typename To, typename From>
inline constexpr bool wraps_by_default =
    (sizeof(To) == 1 && std::is_same_v<From, half>) ||
    (std::is_same_v<To, int16_t> && (std::is_same_v<From, half> || std::is_same_v<From, float> || std::is_same_v<From, int32_t>)) ||
    (std::is_same_v<To, int32_t> && std::is_same_v<From, int64_t>);

// The nearest value of the type; 0 for NaN.
template <typename To>
To saturated(double value)
{
    // The largest value of a 64-bit type is none of double's; the next one above is.
    if (value >= static_cast<double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    if (value <= static_cast<double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    return value == value ? static_cast<To>(value) : To{0};
}

template <typename To, typename From>
To to_integer(From value, pto::RoundMode mode, bool saturate)
{
    if constexpr (std::is_integral_v<From>) {
        if (saturate && std::in_range<To>(value)) return static_cast<To>(value);
        if (saturate) return value < From{0} ? std::numeric_limits<To>::min() : std::numeric_limits<To>::max();
        return static_cast<To>(value);
    } else {
        const double rounded = pto::applyRoundingToIntegral(static_cast<double>(static_cast<float>(value)), mode);
        return saturate ? saturated<To>(rounded) : static_cast<To>(saturated<int64_t>(rounded));
    }
}

template <typename Dst, typename Src>
void convert_tile(Dst &dst, Src &src, pto::RoundMode mode, bool saturate)
{
    const size_t rows = src.GetValidRow(), columns = src.GetValidCol();
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            dst.data()[pto::GetTileElementOffset<Dst>(r, c)] =
                to_integer<typename Dst::DType>(src.data()[pto::GetTileElementOffset<Src>(r, c)], mode, saturate);
}

}  // namespace ptocpu

namespace pto {

// Newer header sets pass one argument more, which says whether the device's control register is to be set.
template <typename TileDataD, typename TileDataS>
    requires ptocpu::ToInteger<typename TileDataD::DType, typename TileDataS::DType>
PTO_INTERNAL void TCVT_IMPL(TileDataD &dst, TileDataS &src, RoundMode mode, SaturationMode saturation)
{
    ptocpu::convert_tile(dst, src, mode, saturation == SaturationMode::ON);
}
template <typename TileDataD, typename TileDataS>
    requires ptocpu::ToInteger<typename TileDataD::DType, typename TileDataS::DType>
PTO_INTERNAL void TCVT_IMPL(TileDataD &dst, TileDataS &src, RoundMode mode, SaturationMode saturation, bool)
{
    ptocpu::convert_tile(dst, src, mode, saturation == SaturationMode::ON);
}
template <typename TileDataD, typename TileDataS>
    requires ptocpu::ToInteger<typename TileDataD::DType, typename TileDataS::DType>
PTO_INTERNAL void TCVT_IMPL(TileDataD &dst, TileDataS &src, RoundMode mode)
{
    ptocpu::convert_tile(dst, src, mode, !ptocpu::wraps_by_default<typename TileDataD::DType, typename TileDataS::DType>);
}
template <typename TileDataD, typename TileDataS>
    requires ptocpu::ToInteger<typename TileDataD::DType, typename TileDataS::DType>
PTO_INTERNAL void TCVT_IMPL(TileDataD &dst, TileDataS &src, RoundMode mode, bool)
{
    ptocpu::convert_tile(dst, src, mode, !ptocpu::wraps_by_default<typename TileDataD::DType, typename TileDataS::DType>);
}

// With a tile for what the device keeps in between; the simulator has none of these.
template <typename TileDataD, typename TileDataS, typename TmpTileData, typename... How>
    requires is_tile_data_v<TmpTileData>
PTO_INTERNAL void TCVT_IMPL(TileDataD &dst, TileDataS &src, TmpTileData &, RoundMode mode, How... how)
{
    TCVT_IMPL(dst, src, mode, how...);
}

}  // namespace pto
