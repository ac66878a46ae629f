//! Exact fractions, so that `ceil(n / tile)` is right for every `n`.

/// A fraction in lowest terms; `den` is positive. Every operation is `None` when it leaves `i128`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ratio {
    num: i128,
    den: i128,
}

impl Ratio {
    pub(super) const ZERO: Self = Self { num: 0, den: 1 };

    pub(super) fn integer(num: i128) -> Self {
        Self { num, den: 1 }
    }

    fn new(num: i128, den: i128) -> Option<Self> {
        let divisor = i128::try_from(gcd(num.unsigned_abs(), den.unsigned_abs())).ok()?;
        let (num, den) = (num / divisor, den / divisor);
        if den < 0 { Some(Self { num: num.checked_neg()?, den: den.checked_neg()? }) } else { Some(Self { num, den }) }
    }

    /// The value, if it is whole.
    pub(super) fn to_integer(self) -> Option<i128> {
        (self.den == 1).then_some(self.num)
    }

    pub(super) fn neg(self) -> Option<Self> {
        Some(Self { num: self.num.checked_neg()?, den: self.den })
    }

    pub(super) fn abs(self) -> Option<Self> {
        if self.num < 0 { self.neg() } else { Some(self) }
    }

    pub(super) fn add(self, other: Self) -> Option<Self> {
        let left = self.num.checked_mul(other.den)?;
        let right = other.num.checked_mul(self.den)?;
        Self::new(left.checked_add(right)?, self.den.checked_mul(other.den)?)
    }

    pub(super) fn sub(self, other: Self) -> Option<Self> {
        self.add(other.neg()?)
    }

    pub(super) fn mul(self, other: Self) -> Option<Self> {
        Self::new(self.num.checked_mul(other.num)?, self.den.checked_mul(other.den)?)
    }

    /// `other` is not zero.
    pub(super) fn div(self, other: Self) -> Option<Self> {
        Self::new(self.num.checked_mul(other.den)?, self.den.checked_mul(other.num)?)
    }

    pub(super) fn floor(self) -> Self {
        Self::integer(self.num.div_euclid(self.den))
    }

    pub(super) fn ceil(self) -> Option<Self> {
        self.neg()?.floor().neg()
    }

    /// Division that rounds towards minus infinity; `other` is not zero.
    pub(super) fn floor_div(self, other: Self) -> Option<Self> {
        Some(self.div(other)?.floor())
    }

    /// The remainder with the sign of `other`; `other` is not zero.
    pub(super) fn rem(self, other: Self) -> Option<Self> {
        self.sub(self.floor_div(other)?.mul(other)?)
    }

    /// `exponent` may be negative if `self` is not zero.
    pub(super) fn pow(self, exponent: i128) -> Option<Self> {
        let magnitude = u32::try_from(exponent.unsigned_abs()).ok()?;
        let power = Self { num: self.num.checked_pow(magnitude)?, den: self.den.checked_pow(magnitude)? };
        if exponent < 0 { Self::integer(1).div(power) } else { Some(power) }
    }

    /// Which of the two is smaller.
    pub(super) fn less(self, other: Self) -> Option<bool> {
        Some(self.sub(other)?.num < 0)
    }
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.den == 1 { write!(f, "{}", self.num) } else { write!(f, "{}/{}", self.num, self.den) }
    }
}

/// 1 for two zeros, so that it can always divide.
fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}
