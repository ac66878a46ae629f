//! The cases of a kernel: what its author listed, and the edges derived from its tiles.

mod bind;
mod derive;
mod filter;
pub(crate) mod tile;

use std::collections::BTreeMap;
use std::fmt;

use pto_platform::{Core, Soc};

pub(crate) use bind::cost;
pub use bind::{BoundArg, BoundCase, BoundTensor, BoundValue, Quantity, ScalarValue, bind};
pub use derive::derive;
pub use filter::CaseFilter;
pub use tile::tile;

/// One choice of sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// A value for every dynamic dim.
    pub dims: BTreeMap<String, i64>,
    /// Where it comes from.
    pub origin: Origin,
    /// What random inputs are made from.
    pub seed: u64,
}

impl fmt::Display for Case {
    /// `n=4096,m=3`, which a case selection understands; `fixed` for a kernel without dynamic dims.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dims.is_empty() {
            return f.write_str("fixed");
        }
        let dims: Vec<String> = self.dims.iter().map(|(name, value)| format!("{name}={value}")).collect();
        f.write_str(&dims.join(","))
    }
}

/// Where a case comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The author listed it, in this line of the manifest.
    Listed {
        /// Line, from 1.
        line: usize,
    },
    /// Derived from the tiles of a dim.
    Edge {
        /// The dim.
        dim: String,
        /// Which edge.
        edge: Edge,
    },
    /// The only one a kernel without dynamic dims can have.
    Fixed,
    /// Asked for on the command line, and neither listed nor derived.
    Asked,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listed { line } => write!(f, "listed in line {line}"),
            Self::Edge { dim, edge } => write!(f, "{dim}: {edge}"),
            Self::Fixed => f.write_str("fixed size"),
            Self::Asked => f.write_str("asked for"),
        }
    }
}

/// Sizes at which kernels break, in the order they are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Edge {
    /// Exactly one tile.
    OneTile,
    /// Exactly two: the second iteration reuses buffers and flags.
    TwoTiles,
    /// A tile and an odd part of one.
    Tail,
    /// One tile more than there are cores: some core has to work twice.
    MoreThanCores,
    /// A single element: most cores have nothing to do.
    OneElement,
}

impl Edge {
    /// All of them, in the order they are tried.
    pub const ALL: [Self; 5] = [Self::OneTile, Self::TwoTiles, Self::Tail, Self::MoreThanCores, Self::OneElement];

    /// The length of a dim at this edge. `None` where there is none: tiles of one element have no tail.
    pub fn length(self, tile: i64, cores: u32) -> Option<i64> {
        match self {
            Self::OneTile => Some(tile),
            Self::TwoTiles => tile.checked_mul(2),
            // Odd, so that no alignment of the tile hides a wrong tail.
            Self::Tail => (tile > 1).then(|| tile.checked_add((tile / 2) | 1))?,
            Self::MoreThanCores => tile.checked_mul(i64::from(cores) + 1),
            Self::OneElement => Some(1),
        }
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OneTile => "one tile",
            Self::TwoTiles => "two tiles",
            Self::Tail => "a tail",
            Self::MoreThanCores => "more tiles than cores",
            Self::OneElement => "one element",
        })
    }
}

/// How many cores a launch can use: what `vector_cores` and `cube_cores` mean in `block_dim`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cores {
    /// Vector cores.
    pub vector: u32,
    /// Cube cores.
    pub cube: u32,
}

impl Cores {
    /// The cores one launch of a kernel is spread over: a mix block is one cube core with its vector cores.
    pub const fn of(self, core: Core) -> u32 {
        match core {
            Core::Vec => self.vector,
            Core::Cube | Core::Mix => self.cube,
        }
    }
}

impl From<&Soc> for Cores {
    fn from(soc: &Soc) -> Self {
        Self { vector: soc.vector_cores, cube: soc.cube_cores }
    }
}
