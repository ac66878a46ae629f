//! The patterns by name, each with its usual cause.

/// A pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the table below says what each is")]
pub enum Kind {
    NeverWritten,
    AllZero,
    Constant,
    AllNan,
    Stale,
    Input,
    Transposed,
    Shifted,
    SwappedHalves,
    SwappedPairs,
    Negated,
    Reciprocal,
    Factor,
    Offset,
    Saturated,
    Rounding,
    Reinterpreted,
    NanRows,
    WholeTiles,
    Tail,
    Head,
    Block,
    Periodic,
    RowStripes,
    RowTail,
    Tile,
    Scattered,
}

/// What is said of a pattern.
#[derive(Debug)]
pub struct Entry {
    /// The pattern.
    pub kind: Kind,
    /// A stable name.
    pub id: &'static str,
    /// The same for people.
    pub title: &'static str,
    /// What usually causes it, to be read after "usually".
    pub cause: &'static str,
}

const fn entry(kind: Kind, id: &'static str, title: &'static str, cause: &'static str) -> Entry {
    Entry { kind, id, title, cause }
}

/// Every pattern, in the order of [`Kind`].
pub const ALL: [Entry; 27] = [
    entry(
        Kind::NeverWritten,
        "never-written",
        "nothing was written",
        "a kernel that returns early: a `block_dim` or size of 0, the guard of the other core (`__DAV_VEC__`, `__DAV_CUBE__`), a missing TSTORE, arguments in another order than the launcher takes them, or an output pointer that was rebound on the host",
    ),
    entry(
        Kind::AllZero,
        "all-zero",
        "everything is zero",
        "a TSTORE of a tile that no instruction wrote, a missing `set_flag`/`wait_flag` between the vector pipe and MTE3, or a mask that disables every lane",
    ),
    entry(
        Kind::Constant,
        "constant",
        "every element is the same",
        "a scalar broadcast in place of a tile, or one element loaded over and over: a stride of 0 in the GlobalTensor",
    ),
    entry(
        Kind::AllNan,
        "all-nan",
        "everything is NaN",
        "on-chip memory that is read before anything is in it, which the CPU back end fills with NaN: a missing TLOAD, a TASSIGN of another address than the one that was loaded to, an input tile that was never assigned; else 0/0 or infinity minus infinity on the way",
    ),
    entry(
        Kind::Stale,
        "stale",
        "left from the previous run",
        "work that this run skipped: a block index that is never reached, an early return, or a wait on a flag of the run before",
    ),
    entry(
        Kind::Input,
        "input-copied",
        "an input came out",
        "a TSTORE of the tile that was loaded instead of the one that was computed, or a missing barrier between the vector pipe and MTE3",
    ),
    entry(
        Kind::Transposed,
        "transposed",
        "transposed",
        "a layout that differs between TLOAD and TSTORE (ND, DN, NZ), swapped row and column strides, or the wrong side of a TTRANS",
    ),
    entry(
        Kind::Shifted,
        "shifted",
        "shifted",
        "an offset off by so many elements: an address computed in bytes instead of elements, a tile that starts at the padding, or an index off by one",
    ),
    entry(
        Kind::SwappedHalves,
        "swapped-halves",
        "halves swapped",
        "gate and up projection taken for each other, double buffers (ping, pong) swapped, or the two vector cores of a block writing each other's half: `get_subblockid()` used the wrong way round",
    ),
    entry(
        Kind::SwappedPairs,
        "swapped-pairs",
        "neighbours swapped",
        "an interleave that differs between loading and storing: even and odd lanes, or real and imaginary parts",
    ),
    entry(
        Kind::Negated,
        "negated",
        "the sign is wrong",
        "swapped operands of a subtraction: TSUB computes the first minus the second",
    ),
    entry(
        Kind::Reciprocal,
        "reciprocal",
        "one over what was expected",
        "swapped operands of a division: TDIV computes the first over the second",
    ),
    entry(
        Kind::Factor,
        "factor",
        "off by a constant factor",
        "a scale applied twice or not at all (1/sqrt(d), 1/n), a partial sum that misses or repeats splits of k, or an accumulator that was not reset",
    ),
    entry(
        Kind::Offset,
        "offset",
        "off by a constant",
        "a bias or zero point added twice or not at all, or an accumulator that was not reset",
    ),
    entry(
        Kind::Saturated,
        "saturated",
        "saturated",
        "a TCVT that saturates where the golden overflows, an intermediate in f16 that should be f32, or the saturation mode of the core",
    ),
    entry(
        Kind::Rounding,
        "rounding",
        "rounding only",
        "no fault: another order of accumulation, another rounding mode of TCVT, or an intermediate of another type; compare by ULP, or relax with a reason",
    ),
    entry(
        Kind::Reinterpreted,
        "reinterpreted",
        "another dtype's bits",
        "a tile or GlobalTensor declared with another element type than the buffer: a cast of the pointer without a TCVT",
    ),
    entry(
        Kind::NanRows,
        "nan-rows",
        "NaN in whole rows",
        "a row reduction that divides by zero or subtracts infinities: a row that is fully masked, or the maximum of a row of on-chip memory that was never loaded",
    ),
    entry(
        Kind::WholeTiles,
        "whole-tiles",
        "whole tiles at the end",
        "a loop over tiles that ends too early or takes the wrong step: core `i` has tiles `i`, `i + get_block_num()` and so on, as long as there are any",
    ),
    entry(
        Kind::Tail,
        "tail",
        "only the tail",
        "a last tile that is not full: the valid region (`GetValidCol`, `GetValidRow`) left at the static size, a size divided without rounding up, or a mask for the full tile",
    ),
    entry(
        Kind::Head,
        "head",
        "only the head",
        "a first tile used before its TLOAD was done (the first `wait_flag` of a double-buffered loop), or a prologue that is missing",
    ),
    entry(
        Kind::Block,
        "block",
        "one block",
        "one core or one iteration: work divided so that a core gets nothing, an event id used twice, or one buffer overwritten too early",
    ),
    entry(
        Kind::Periodic,
        "periodic",
        "one block in so many",
        "one core, one sub-block or one of the buffers that take turns: wrong for each of its turns, as a missing `wait_flag` on one event id or the second vector core of a block makes it",
    ),
    entry(
        Kind::RowStripes,
        "row-stripes",
        "rows in a regular pattern",
        "one of the two vector cores of a block, or one of two buffers: every second row or group of rows is its share",
    ),
    entry(
        Kind::RowTail,
        "row-tail",
        "the end of every row",
        "a row that is not a multiple of the tile: the valid columns left at the static size, or a row stride of the padded tile",
    ),
    entry(
        Kind::Tile,
        "tile",
        "one tile",
        "one tile of the output: an accumulator not reset between tiles, an event id used twice, or an L0C tile stored before the last TMATMUL_ACC",
    ),
    entry(
        Kind::Scattered,
        "scattered",
        "scattered elements",
        "a race: a missing `set_flag`/`wait_flag` or `pipe_barrier`, atomics without `set_atomic_none`, or cores that write the same line; run it five times and compare the runs with the rule `determinism`",
    ),
];

impl Kind {
    /// What is said of it.
    pub fn entry(self) -> &'static Entry {
        &ALL[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stand_in_the_order_of_the_enum() {
        for (index, entry) in ALL.iter().enumerate() {
            assert_eq!(entry.kind as usize, index, "{}", entry.id);
            assert!(!entry.cause.is_empty() && !entry.cause.ends_with('.'));
        }
    }
}
