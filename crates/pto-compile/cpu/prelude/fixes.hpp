// Instructions whose simulation differs from the device, replaced by more constrained overloads: a `requires` clause on the
// same template head wins, and argument-dependent lookup finds it when the kernel is instantiated.
#pragma once

namespace ptocpu {

template <typename Tile, pto::TileType Where>
concept Located = pto::is_tile_data_v<Tile> && Tile::Loc == Where && is_plain_type<typename Tile::DType>;

// The first element of the same tile in a peer's memory.
template <typename Tile>
typename Tile::DType *in_peer_ub(Tile &tile, uint32_t sub)
{
    return reinterpret_cast<typename Tile::DType *>(static_cast<char *>(ptocpu_peer_ub(sub)) + offset_in_ub(tile.data()));
}

// Copies rows x columns of `src`, from (row, column) on, to a vector core's copy of `dst`.
template <bool Relu, typename Dst, typename Src>
void copy_to_vector(Dst &dst, Src &src, uint32_t sub, size_t row, size_t column, size_t rows, size_t columns)
{
    auto *target = in_peer_ub(dst, sub);
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++) {
            auto value = src.data()[pto::GetTileElementOffset<Src>(row + r, column + c)];
            if constexpr (Relu)
                if (value < static_cast<decltype(value)>(0)) value = static_cast<decltype(value)>(0);
            target[pto::GetTileElementOffset<Dst>(r, c)] = convert<typename Dst::DType>(value);
        }
}

template <bool Relu, pto::AccToVecMode Mode, typename Dst, typename Src>
void move_to_vectors(Dst &dst, Src &src)
{
    const size_t rows = src.GetValidRow(), columns = src.GetValidCol();
    if constexpr (Mode == pto::AccToVecMode::DualModeSplitM) {
        for (uint32_t sub = 0; sub < 2; sub++) copy_to_vector<Relu>(dst, src, sub, sub * (rows / 2), 0, rows / 2, columns);
    } else if constexpr (Mode == pto::AccToVecMode::DualModeSplitN) {
        for (uint32_t sub = 0; sub < 2; sub++) copy_to_vector<Relu>(dst, src, sub, 0, sub * (columns / 2), rows, columns / 2);
    } else {
        copy_to_vector<Relu>(dst, src, Mode == pto::AccToVecMode::SingleModeVec1 ? 1 : 0, 0, 0, rows, columns);
    }
}

// TINSERT of a vector tile into the cube core's L1. A fractal (NZ) source keeps its fractal order there, whatever the
// destination tile is declared as; a plain one stays row-major.
template <typename Dst, typename Src>
void insert_into_cube(Dst &dst, Src &src, size_t row, size_t column)
{
    using T = typename Dst::DType;
    constexpr bool fractal = !Src::isRowMajor && Src::SFractal == pto::SLayout::RowMajor;
    constexpr size_t block = 32 / sizeof(T);
    constexpr size_t dst_rows = Dst::isRowMajor ? Dst::Cols : Dst::Rows;
    auto *target = reinterpret_cast<T *>(static_cast<char *>(ptocpu_peer_l1()) + offset_in_l1(dst.data()));
    for (size_t r = 0; r < size_t(src.GetValidRow()); r++)
        for (size_t c = 0; c < size_t(src.GetValidCol()); c++) {
            const size_t to_row = row + r, to_column = column + c;
            const size_t at = fractal ? to_column / block * dst_rows * block + to_row * block + to_column % block
                                      : to_row * Dst::Cols + to_column;
            target[at] = convert<T>(src.data()[pto::GetTileElementOffset<Src>(r, c)]);
        }
}

}  // namespace ptocpu

namespace pto {

#if PTOCPU_SIDE == 1 && PTOCPU_MIX
#if PTOCPU_HAS_TMOV_PHASE
#define PTOCPU_PHASE_PARAMETER , STPhase Phase = STPhase::Unspecified
#else
#define PTOCPU_PHASE_PARAMETER
#endif
template <typename DstTileData, typename SrcTileData, AccToVecMode mode, ReluPreMode reluMode = ReluPreMode::NoRelu PTOCPU_PHASE_PARAMETER>
    requires ptocpu::Located<DstTileData, TileType::Vec> && ptocpu::Located<SrcTileData, TileType::Acc>
PTO_INTERNAL void TMOV_IMPL(DstTileData &dst, SrcTileData &src)
{
    ptocpu::move_to_vectors<reluMode == ReluPreMode::NormalRelu, mode>(dst, src);
}
#endif

#if PTOCPU_SIDE == 0 && PTOCPU_MIX
template <typename DstTileData, typename SrcTileData>
    requires ptocpu::Located<DstTileData, TileType::Mat> && ptocpu::Located<SrcTileData, TileType::Vec>
PTO_INTERNAL void TINSERT_IMPL(DstTileData &dst, SrcTileData &src, uint32_t idxRow = 0, uint32_t idxCol = 0)
{
    ptocpu::insert_into_cube(dst, src, idxRow, idxCol);
}
#endif

#if !PTOCPU_HAS_TROWSUM_SHAPES
// The device asks for equal valid rows only; the simulator for equal static rows.
template <typename TileDataOut, typename TileDataIn, typename TileDataTmp>
    requires(TileDataOut::Rows != TileDataIn::Rows)
PTO_INTERNAL void TROWSUM_IMPL(TileDataOut &dstTile, TileDataIn &srcTile, TileDataTmp &)
{
    TRowSum<TileDataOut, TileDataIn>(dstTile.data(), srcTile.data(), srcTile.GetValidRow(), srcTile.GetValidCol());
}
#endif

#if !PTOCPU_HAS_TMATMUL_ACC3
// The device's three-operand form accumulates in place.
template <typename TileAcc, typename TileLeft, typename TileRight>
PTO_INTERNAL void TMATMUL_ACC_IMPL(TileAcc &cMatrix, TileLeft &aMatrix, TileRight &bMatrix)
{
    TMATMUL_ACC_IMPL(cMatrix, cMatrix, aMatrix, bMatrix);
}
#if PTOCPU_HAS_ACC_PHASE
// The phase tells the device whether more products follow, so that it can start storing early.
template <AccPhase Phase, typename TileAcc, typename TileLeft, typename TileRight>
PTO_INTERNAL void TMATMUL_ACC_IMPL(TileAcc &cMatrix, TileLeft &aMatrix, TileRight &bMatrix)
{
    TMATMUL_ACC_IMPL(cMatrix, cMatrix, aMatrix, bMatrix);
}
template <AccPhase Phase, typename TileAcc, typename TileLeft, typename TileRight>
PTO_INTERNAL void TMATMUL_ACC_IMPL(TileAcc &cOut, TileAcc &cIn, TileLeft &aMatrix, TileRight &bMatrix)
{
    TMATMUL_ACC_IMPL(cOut, cIn, aMatrix, bMatrix);
}
#endif
#endif

#if PTOCPU_HAS_PIPE_HOOK && !PTOCPU_HAS_PIPE_GLOBAL
// A slot of a FIFO in GM, popped as a GlobalTensor that lies over it; the simulator has this under other names.
template <typename Pipe, typename GlobalData, TileSplitAxis Split>
    requires is_global_data_v<GlobalData>
PTO_INTERNAL void TPOP_IMPL(Pipe &pipe, GlobalData &slot)
{
    TPOP_GLOBAL_IMPL<Pipe, GlobalData, Split>(pipe, slot);
}
template <typename Pipe, typename GlobalData, TileSplitAxis Split>
    requires is_global_data_v<GlobalData>
PTO_INTERNAL void TFREE_IMPL(Pipe &pipe, GlobalData &slot)
{
    TFREE_GLOBAL_IMPL<Pipe, GlobalData, Split>(pipe, slot);
}
#endif

#if !PTOCPU_HAS_EVENT
// Events order the pipes of one core, which run in program order here; what is left to check is that each wait has its record.
// One between a cube core and its vector cores is a cross-core flag.
template <Op SrcOp, Op DstOp, bool AutoToken = true, int EventID = 0>
struct Event {
    static constexpr uint8_t kOneCore = 0xff;

    Event() = default;
    Event(RecordEvent) { Init(); }
    Event &operator=(RecordEvent) { return Init(); }

    template <uint8_t CrossCoreId = kOneCore>
    Event &Init()
    {
        if constexpr (CrossCoreId != kOneCore) ptocpu_ffts_set(1 | 2 << 4 | CrossCoreId << 8);
        else recorded++;
        return *this;
    }
    template <uint8_t CrossCoreId = kOneCore>
    Event &Record()
    {
        return Init<CrossCoreId>();
    }
    template <uint8_t CrossCoreId = kOneCore>
    Event &Wait()
    {
        if constexpr (CrossCoreId != kOneCore) ptocpu_ffts_wait(CrossCoreId);
        else if (recorded-- == 0) ptocpu_fault(0, "deadlock: waits for an Event that was not recorded");
        return *this;
    }
    Event &InitAddr(uint64_t) { return *this; }

private:
    int recorded = 0;
};
#endif

}  // namespace pto

#if !PTOCPU_HAS_EVENT
template <pto::Op SrcOp, pto::Op DstOp, bool AutoToken, int EventID>
struct is_event<pto::Event<SrcOp, DstOp, AutoToken, EventID>> : std::true_type {};
#endif

#if !PTOCPU_A5
// L0A holds its fractals row by row on A2/A3, column by column on A5; the simulator knows A5's order alone. It shows where a
// kernel addresses a part of a tile.
namespace pto {
template <typename Element, const int Rows, const int Cols, const int RowValid = Rows, const int ColValid = Cols>
using ptocpu_TileLeft = Tile<TileType::Left, Element, Rows, Cols, BLayout::RowMajor, RowValid, ColValid, SLayout::RowMajor,
                             TileConfig::fractalABSize>;
template <typename Element, const int Rows, const int Cols, const int RowValid = Rows, const int ColValid = Cols>
using ptocpu_TileLeftCompact = Tile<TileType::Left, Element, Rows, Cols, BLayout::RowMajor, RowValid, ColValid, SLayout::RowMajor,
                                    TileConfig::fractalABSize, PadValue::Null, CompactMode::Normal>;
}  // namespace pto
#define TileLeft ptocpu_TileLeft
#define TileLeftCompact ptocpu_TileLeftCompact
#endif
