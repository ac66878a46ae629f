use super::super::histogram::bin_of_single;
use super::super::stats::Sums;
use super::{BLOCK, Bar, Limit};
use crate::Element;
use crate::element::read::Cpu;

const LANES: usize = 16;

/// Of an error and its limit each of a few roundings may be off by 2^-24: an error that is below this part of its limit is
/// below the limit.
const SURE: f32 = 1.0 - 1.0 / (1 << 20) as f32;

/// Between these the square of a number is a normal number, and so is the sum of a block of them.
const LEAST: f32 = 1e-15;
const MOST: f32 = 1e15;

/// [`Limit`] in single precision, never wider than it.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct SingleLimit {
    rtol: f32,
    atol: f32,
    floor: f32,
}

impl SingleLimit {
    /// `None` where single precision cannot tell.
    pub(in super::super) fn of(limit: &Limit) -> Option<Self> {
        let within = |value: f64| value == 0.0 || (f64::from(LEAST)..=f64::from(MOST)).contains(&value);
        let usable = within(limit.rtol) && within(limit.atol) && within(limit.floor) && limit.cap >= 1.0;
        let sure = |value: f64| value as f32 * SURE;
        let single = Self { rtol: sure(limit.rtol), atol: sure(limit.atol), floor: sure(limit.floor) };
        usable.then_some(single)
    }
}

/// What a block adds up to in which every element is right.
pub(in super::super) struct Sure {
    /// An error is above the bar.
    pub(in super::super) above: bool,
    /// There is no error at all.
    pub(in super::super) equal: bool,
    pub(in super::super) sums: Sums,
}

/// Reads a full block; `None` if some element may be wrong or not finite, or numbers are too small or too large for single
/// precision. `bins` gets the bin of each error.
#[inline(always)]
pub(in super::super) fn block<C: Cpu, T: Element>(
    actual: &[u8],
    expected: &[u8],
    limit: &SingleLimit,
    shift: f32,
    bar: Bar,
    bins: &mut [u16; BLOCK],
) -> Option<Sure> {
    let mut lanes = Lanes::default();
    let absolute = bar.absolute as f32;
    let relative = bar.relative as f32 * (2.0 - SURE);
    let bytes = LANES * size_of::<T>();
    let pairs = actual.chunks_exact(bytes).zip(expected.chunks_exact(bytes));
    for ((actual_bytes, expected_bytes), bins) in pairs.zip(bins.as_chunks_mut::<LANES>().0) {
        let (mut actual, mut expected) = ([0f32; LANES], [0f32; LANES]);
        T::read_singles_on::<C>(actual_bytes, &mut actual);
        T::read_singles_on::<C>(expected_bytes, &mut expected);
        for lane in 0..LANES {
            let e = expected[lane];
            let error = actual[lane] - e;
            let (size, magnitude) = (error.abs(), e.abs());
            let floored = if magnitude > limit.floor { magnitude } else { limit.floor };
            // Maxima instead of flags: they cost two instructions less. A NaN is in no maximum, but in a sum.
            let excess = size - C::mul_add(limit.rtol, floored, limit.atol);
            lanes.excess[lane] = if excess > lanes.excess[lane] { excess } else { lanes.excess[lane] };
            let above = C::mul_add(-relative, magnitude, size);
            lanes.above[lane] = if above > lanes.above[lane] { above } else { lanes.above[lane] };
            lanes.worst[lane] = if size > lanes.worst[lane] { size } else { lanes.worst[lane] };
            lanes.errors[lane] += error;
            lanes.squared_errors[lane] = C::mul_add(error, error, lanes.squared_errors[lane]);
            let shifted = e - shift;
            lanes.products[lane] = C::mul_add(shifted, error, lanes.products[lane]);
            lanes.shifted[lane] += shifted;
            lanes.shifted_squares[lane] = C::mul_add(shifted, shifted, lanes.shifted_squares[lane]);
            bins[lane] = bin_of_single(size);
        }
    }
    lanes.sure(absolute, shift)
}

#[derive(Default)]
struct Lanes {
    /// By how much an error is above its limit, or 0.
    excess: [f32; LANES],
    above: [f32; LANES],
    worst: [f32; LANES],
    errors: [f32; LANES],
    squared_errors: [f32; LANES],
    /// Of `(e - shift) * (a - e)`.
    products: [f32; LANES],
    shifted: [f32; LANES],
    shifted_squares: [f32; LANES],
}

impl Lanes {
    #[inline(always)]
    fn sure(&self, absolute: f32, shift: f32) -> Option<Sure> {
        let most = |lanes: &[f32; LANES]| halved(*lanes, |a, b| if a > b { a } else { b });
        let worst = most(&self.worst);
        if most(&self.excess) > 0.0 || !(worst == 0.0 || (LEAST..=MOST).contains(&worst)) {
            return None;
        }
        let total = |lanes: &[f32; LANES]| halved(lanes.map(f64::from), |a, b| a + b);
        let (errors, shifted, shifted_squares): (f64, f64, f64) =
            (total(&self.errors), total(&self.shifted), total(&self.shifted_squares));
        if !errors.is_finite() {
            return None;
        }
        // Squares that fell below the smallest number, or rose beyond the largest: all differences from `shift` are tiny or
        // huge. All the same is no difference, and no trouble.
        let same = shifted == 0.0 && shifted_squares == 0.0;
        if !(same || (f64::from(LEAST * LEAST)..=f64::from(MOST * MOST)).contains(&shifted_squares)) {
            return None;
        }
        let shift = f64::from(shift);
        let shifted_products: f64 = total(&self.products);
        Some(Sure {
            above: worst > absolute || most(&self.above) > 0.0,
            equal: worst == 0.0,
            sums: Sums {
                count: BLOCK,
                errors,
                squared_errors: total(&self.squared_errors),
                // e = (e - shift) + shift
                squares: shifted_squares + 2.0 * shift * shifted + shift * shift * BLOCK as f64,
                products: shifted_products + shift * errors,
                shifted,
                shifted_squares,
            },
        })
    }
}

/// All lanes in one, half by half: vector instructions do that, where one lane after the other would take a fifth of the
/// time of the whole loop.
#[inline(always)]
fn halved<V: Copy>(mut lanes: [V; LANES], join: impl Fn(V, V) -> V) -> V {
    let mut count = LANES;
    while count > 1 {
        count /= 2;
        for lane in 0..count {
            lanes[lane] = join(lanes[lane], lanes[lane + count]);
        }
    }
    lanes[0]
}
