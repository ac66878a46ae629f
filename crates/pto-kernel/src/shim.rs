//! tmp
use pto_golden::DType;
pub struct Tolerance { pub rtol: f64, pub atol: f64 }
impl Tolerance { pub fn for_dtype(_: DType) -> Self { Self { rtol: 1e-3, atol: 1e-5 } } }
