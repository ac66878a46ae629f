//! tmp
use pto_golden::DType;
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance { pub rtol: f64, pub atol: f64 }
impl Tolerance {
    pub const LOOSE_ATOL: f64 = 1e-2;
    pub fn default_for(_: DType) -> Self { Self { rtol: 1e-3, atol: 1e-5 } }
    pub fn is_looser_than(&self, other: &Self) -> bool { self.rtol > other.rtol || self.atol > other.atol }
}
impl std::fmt::Display for Tolerance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { write!(f, "rtol {:e}, atol {:e}", self.rtol, self.atol) }
}
