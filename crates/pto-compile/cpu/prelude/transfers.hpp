// GM transfers over exactly the tile's valid region. Some header sets walk the GlobalTensor's static shape, which reads and
// writes past a tail, or fill a whole tile where the device leaves it alone; with these both give the same numbers.
#pragma once

namespace ptocpu {

template <typename T>
inline constexpr bool is_plain_type = std::is_arithmetic_v<T> || std::is_same_v<T, half>
#if PTOCPU_HAS_BF16
                                      || std::is_same_v<T, bfloat16_t>
#endif
    ;

template <typename Tile, typename Global>
concept PlainTransfer = pto::is_tile_data_v<Tile> && is_plain_type<typename Tile::DType> &&
                        is_plain_type<typename Global::DType> &&
                        (Global::layout == pto::Layout::ND || Global::layout == pto::Layout::DN || Global::layout == pto::Layout::NZ);

// The shape and strides of a GlobalTensor, and where element (row, column) of a tile lies in it, in elements.
struct GlobalMap {
    int64_t shape[5], stride[5];
    pto::Layout layout;

    template <typename Global>
    explicit GlobalMap(Global &global) : layout(Global::layout)
    {
        namespace Dim = pto::GlobalTensorDim;
        constexpr decltype(Dim::DIM_0) dims[] = {Dim::DIM_0, Dim::DIM_1, Dim::DIM_2, Dim::DIM_3, Dim::DIM_4};
        for (int i = 0; i < 5; i++) {
            shape[i] = global.GetShape(dims[i]);
            stride[i] = global.GetStride(dims[i]);
        }
    }

    int64_t rows() const
    {
        switch (layout) {
            case pto::Layout::NZ: return shape[2] * shape[3];
            case pto::Layout::DN: return shape[3];
            default: return shape[0] * shape[1] * shape[2] * shape[3];
        }
    }
    int64_t columns() const
    {
        switch (layout) {
            case pto::Layout::NZ: return shape[0] * shape[1] * shape[4];
            case pto::Layout::DN: return shape[0] * shape[1] * shape[2] * shape[4];
            default: return shape[4];
        }
    }

    int64_t offset(int64_t row, int64_t column) const
    {
        int64_t i[5];
        if (layout == pto::Layout::ND) {
            i[4] = column;
            i[3] = row % shape[3];
            i[2] = row / shape[3] % shape[2];
            i[1] = row / (shape[3] * shape[2]) % shape[1];
            i[0] = row / (shape[3] * shape[2] * shape[1]);
        } else if (layout == pto::Layout::DN) {
            i[3] = row;
            i[4] = column % shape[4];
            i[2] = column / shape[4] % shape[2];
            i[1] = column / (shape[4] * shape[2]) % shape[1];
            i[0] = column / (shape[4] * shape[2] * shape[1]);
        } else {
            const int64_t outer = column / shape[4];
            i[0] = outer / shape[1];
            i[1] = outer % shape[1];
            i[2] = row / shape[3];
            i[3] = row % shape[3];
            i[4] = column % shape[4];
        }
        int64_t at = 0;
        for (int d = 0; d < 5; d++) at += i[d] * stride[d];
        return at;
    }
};

// Calls each(tile_offset, global_offset) for every valid element.
template <typename Tile, typename Global, typename Each>
void for_each_valid(const char *instruction, Tile &tile, Global &global, Each each)
{
    const int64_t rows = tile.GetValidRow(), columns = tile.GetValidCol();
    if (rows == 0 || columns == 0) return;
    const GlobalMap map(global);
    const int64_t global_rows = map.rows(), global_columns = map.columns();
    if (global_rows != rows || global_columns != columns)
        ptocpu_warn_of_shapes(instruction, rows, columns, global_rows, global_columns);
    if (global_rows == 0 || global_columns == 0) return;  // no element has a place
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++) each(pto::GetTileElementOffset<Tile>(r, c), map.offset(r, c));
}

template <typename To, typename From>
To convert(From value)
{
    if constexpr (std::is_same_v<To, From>) return value;
    else if constexpr (std::is_integral_v<To> || std::is_integral_v<From>) return static_cast<To>(value);
    else return static_cast<To>(static_cast<float>(value));
}

template <bool Relu, typename Tile, typename Global>
void store(Global &dst, Tile &src, bool accumulate)
{
    using To = typename Global::DType;
    for_each_valid("TSTORE", src, dst, [&](size_t from, int64_t to) {
        auto value = src.data()[from];
        if constexpr (Relu)
            if (value < static_cast<decltype(value)>(0)) value = static_cast<decltype(value)>(0);
        auto &target = dst.data()[to];
        target = accumulate ? static_cast<To>(target + convert<To>(value)) : convert<To>(value);
    });
}

}  // namespace ptocpu

namespace pto {

template <typename TileData, typename GlobalData>
    requires ptocpu::PlainTransfer<TileData, GlobalData> && (sizeof(typename TileData::DType) == sizeof(typename GlobalData::DType))
PTO_INTERNAL void TLOAD_IMPL(TileData &dst, GlobalData &src)
{
    // Without a pad value a vector tile keeps what it held outside the valid region, as on the device.
    if constexpr (TileData::Loc != TileType::Vec || TileData::PadVal != PadValue::Null)
        std::fill(dst.data(), dst.data() + TileData::Numel, getPadValue<TileData>());
    ptocpu::for_each_valid("TLOAD", dst, src, [&](size_t to, int64_t from) { dst.data()[to] = src.data()[from]; });
}

#if !PTOCPU_HAS_TSTORE_CONVERTS
// Header sets whose TSTORE neither converts nor stops at the valid region.
template <typename TileData, typename GlobalData, AtomicType atomicType>
    requires ptocpu::PlainTransfer<TileData, GlobalData>
PTO_INTERNAL void TSTORE_IMPL(GlobalData &dst, TileData &src)
{
    ptocpu::store<false>(dst, src, atomicType == AtomicType::AtomicAdd);
}
template <typename TileData, typename GlobalData, AtomicType atomicType, STPhase Phase>
    requires ptocpu::PlainTransfer<TileData, GlobalData>
__aicore__ void TSTORE_IMPL(GlobalData &dst, TileData &src)
{
    ptocpu::store<false>(dst, src, atomicType == AtomicType::AtomicAdd);
}
template <typename TileData, typename GlobalData, AtomicType atomicType, ReluPreMode reluPreMode>
    requires ptocpu::PlainTransfer<TileData, GlobalData>
__aicore__ void TSTORE_IMPL(GlobalData &dst, TileData &src)
{
    ptocpu::store<reluPreMode == ReluPreMode::NormalRelu>(dst, src, atomicType == AtomicType::AtomicAdd);
}
#endif

}  // namespace pto
