//! The pass over two tensors of one dtype and one shape.

use std::sync::Mutex;

use rayon::prelude::*;

use super::histogram::{Counters, Histogram};
use super::kernel::single::{self, SingleLimit};
use super::kernel::{BLOCK, Limit, block};
use super::per_element::{PerElement, within_ulps};
use super::stats::Stats;
use super::{Options, Rule};
#[cfg(target_arch = "x86_64")]
use crate::element::read::{Avx512, F16c};
use crate::element::read::{Cpu, Portable};
use crate::element::with_element;
use crate::poison::{may_be_chance, pattern};
use crate::{DType, Element, Scalar, Tensor};

/// Elements per piece of work. Below two of these, one thread is faster.
const CHUNK: usize = 1 << 19;

/// Integers up to here are exact as doubles.
const EXACT: f64 = (1u64 << 53) as f64;

/// One pass. The tensors have the same dtype and length.
pub(super) fn scan(actual: &Tensor, expected: &Tensor, rule: &Rule, options: &Options) -> Stats {
    with_element!(expected.dtype(), T => {
        let pass = Pass::new::<T>(expected, rule, options);
        pass.run::<T>(actual.bytes(), expected.bytes())
    })
}

/// A value in the middle of the expected ones, as far as the first of them say; see [`super::stats::Sums`]. A single, so
/// that both precisions take away the same.
fn shift(expected: &Tensor) -> f64 {
    const LOOKED_AT: usize = 64;
    let values = (0..expected.len().min(LOOKED_AT)).filter_map(|i| expected.get(i)).map(scalar_to_f64);
    let mut finite: Vec<f64> = values.map(|value| f64::from(value as f32)).filter(|value| value.is_finite()).collect();
    finite.sort_by(f64::total_cmp);
    finite.get(finite.len() / 2).copied().unwrap_or(0.0)
}

pub(super) fn scalar_to_f64(scalar: Scalar) -> f64 {
    match scalar {
        Scalar::Float(value) => value,
        Scalar::Int(value) => value as f64,
        Scalar::Bool(value) => value.into(),
    }
}

struct Pass<'a> {
    test: PerElement,
    /// For [`PerElement::Limit`], that; else one that lets everything pass.
    limit: Limit,
    /// The same in single precision, where that can decide.
    single: Option<SingleLimit>,
    options: &'a Options,
    pattern: &'static [u8],
    shift: f64,
    /// What integers stand for: `(q - zero_point) * scale`.
    quantized: Option<(f64, f64)>,
    largest: f64,
}

/// One thread's scratch.
struct Scratch<'a> {
    actual: [f64; BLOCK],
    expected: [f64; BLOCK],
    singles: [[f32; BLOCK]; 2],
    bins: [u16; BLOCK],
    /// Those that are not 0.
    some: [u16; BLOCK],
    counters: Counters<'a>,
}

impl<'a> Pass<'a> {
    fn new<T: Element>(expected: &Tensor, rule: &Rule, options: &'a Options) -> Self {
        let test = PerElement::of(rule);
        let quantized = match *rule {
            Rule::Quantized { scale, zero_point, .. } => Some((scale, zero_point as f64)),
            _ => None,
        };
        let limit = if let PerElement::Limit(limit) = test { limit } else { Limit::NONE };
        let shift_fits = shift(expected).abs() < 1e15;
        let single = SingleLimit::of(&limit).filter(|_| T::SINGLE && quantized.is_none() && shift_fits);
        let real = |value: f64| quantized.map_or(value, |(scale, zero)| (value - zero) * scale);
        Self {
            test,
            limit,
            single,
            options,
            pattern: pattern(T::DTYPE),
            shift: real(shift(expected)),
            quantized,
            largest: largest(T::DTYPE),
        }
    }

    fn run<T: Element>(&self, actual: &[u8], expected: &[u8]) -> Stats {
        let bytes = CHUNK * size_of::<T>();
        let listed = self.options.listed;
        let total = Mutex::new(Histogram::default());
        let new = || Scratch {
            actual: [0.0; BLOCK],
            expected: [0.0; BLOCK],
            singles: [[0.0; BLOCK]; 2],
            bins: [0; BLOCK],
            some: [0; BLOCK],
            counters: Counters::new(&total),
        };
        let one = |scratch: &mut Scratch<'_>, (index, (actual, expected)): (usize, (&[u8], &[u8]))| {
            let mut stats = Stats::default();
            self.chunk::<T>(index * CHUNK, actual, expected, scratch, &mut stats);
            stats
        };
        let parts: Vec<Stats> = if actual.len() < 2 * bytes {
            let mut scratch = new();
            let pairs = actual.chunks(bytes).zip(expected.chunks(bytes)).enumerate();
            pairs.map(|pair| one(&mut scratch, pair)).collect()
        } else {
            let pairs = actual.par_chunks(bytes).zip(expected.par_chunks(bytes)).enumerate();
            pairs.map_init(new, one).collect()
        };
        let mut stats = parts.into_iter().fold(Stats::default(), |so_far, later| so_far.merge(later, listed));
        stats.histogram = total.into_inner().ok();
        stats
    }

    fn chunk<T: Element>(&self, start: usize, a: &[u8], e: &[u8], scratch: &mut Scratch<'_>, stats: &mut Stats) {
        #[cfg(target_arch = "x86_64")]
        {
            if Avx512::detect() {
                // SAFETY: the processor has what the function was compiled for.
                return unsafe { self.chunk_avx512::<T>(start, a, e, scratch, stats) };
            }
            if F16c::detect() {
                // SAFETY: the processor has what the function was compiled for.
                return unsafe { self.chunk_avx2::<T>(start, a, e, scratch, stats) };
            }
        }
        self.chunk_on::<Portable, T>(start, a, e, scratch, stats);
    }

    /// # Safety
    /// The processor has these instructions.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,f16c,fma,popcnt,avx512f,avx512dq,avx512vl,avx512bw,avx512vbmi2")]
    unsafe fn chunk_avx512<T: Element>(
        &self,
        at: usize,
        a: &[u8],
        e: &[u8],
        scratch: &mut Scratch<'_>,
        stats: &mut Stats,
    ) {
        self.chunk_on::<Avx512, T>(at, a, e, scratch, stats);
    }

    /// # Safety
    /// The processor has these instructions.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,f16c,fma,popcnt")]
    unsafe fn chunk_avx2<T: Element>(
        &self,
        at: usize,
        a: &[u8],
        e: &[u8],
        scratch: &mut Scratch<'_>,
        stats: &mut Stats,
    ) {
        self.chunk_on::<F16c, T>(at, a, e, scratch, stats);
    }

    /// Inlined into functions that are compiled for different processors.
    #[inline(always)]
    fn chunk_on<C: Cpu, T: Element>(
        &self,
        start: usize,
        a: &[u8],
        e: &[u8],
        scratch: &mut Scratch<'_>,
        stats: &mut Stats,
    ) {
        let bytes = BLOCK * size_of::<T>();
        for (index, (actual, expected)) in a.chunks(bytes).zip(e.chunks(bytes)).enumerate() {
            let at = start + index * BLOCK;
            let quick = actual.len() == bytes
                && (self.single_block::<C, T>(at, actual, expected, scratch, stats)
                    || self.quick_block::<C, T>(at, actual, expected, scratch, stats));
            if !quick {
                self.slow_block::<T>(at, actual, expected, &mut scratch.counters, stats);
            }
        }
    }

    /// If every element of a full block is surely right, counts it in and says so; else does nothing.
    #[inline(always)]
    fn single_block<C: Cpu, T: Element>(
        &self,
        at: usize,
        actual: &[u8],
        expected: &[u8],
        scratch: &mut Scratch<'_>,
        stats: &mut Stats,
    ) -> bool {
        let Some(limit) = &self.single else { return false };
        let Scratch { singles: [a, e], bins, some, counters, .. } = scratch;
        let seen = single::block::<C, T>(actual, expected, limit, self.shift as f32, stats.bar(), bins);
        let Some(sure) = seen else { return false };
        stats.sums.merge(sure.sums);
        if sure.equal {
            counters.add_zeros(BLOCK);
        } else {
            // Most errors of a narrow type are 0: to put those aside costs less than to count each.
            let count = C::compress(bins, some);
            counters.add_zeros(BLOCK - count);
            counters.add_all(&some[..count]);
        }
        if sure.above {
            T::read_singles_on::<C>(actual, a);
            T::read_singles_on::<C>(expected, e);
            let pairs = a.iter().zip(e.iter()).enumerate();
            pairs.for_each(|(i, (a, e))| stats.raise(at + i, f64::from(*a) - f64::from(*e), f64::from(*e)));
        }
        true
    }

    /// If every element of a full block is finite and exact as a double, counts it in and says so; else does nothing.
    #[inline(always)]
    fn quick_block<C: Cpu, T: Element>(
        &self,
        at: usize,
        actual: &[u8],
        expected: &[u8],
        scratch: &mut Scratch<'_>,
        stats: &mut Stats,
    ) -> bool {
        let Scratch { actual: a, expected: e, bins, counters, .. } = scratch;
        T::read_on::<C>(expected, e);
        if T::DTYPE.is_float() {
            T::read_on::<C>(actual, a);
        } else if actual == expected {
            a.copy_from_slice(e);
        } else if self.quantized.is_some() || self.options.poisoned || T::DTYPE == DType::Bool {
            return false;
        } else {
            T::read_on::<C>(actual, a);
        }
        if size_of::<T>() == 8 && !T::DTYPE.is_float() && !a.iter().chain(e.iter()).all(|x| x.abs() < EXACT) {
            return false;
        }
        if let Some((scale, zero)) = self.quantized {
            a.iter_mut().chain(e.iter_mut()).for_each(|x| *x = (*x - zero) * scale);
        }
        let seen = block(a, e, &self.limit, self.shift, stats.bar(), bins);
        if !seen.finite {
            return false;
        }
        stats.sums.merge(seen.sums);
        counters.add_all(bins);
        if seen.above {
            a.iter().zip(e.iter()).enumerate().for_each(|(i, (a, e))| stats.raise(at + i, a - e, *e));
        }
        match self.test {
            PerElement::Limit(limit) => {
                stats.mismatches += seen.wrong;
                stats.hopeless += seen.hopeless;
                if seen.wrong > 0 && stats.first.len() < self.options.listed {
                    let right = |(a, e): (&f64, &f64)| (a - e).abs() <= limit.of(e.abs());
                    for (i, _) in a.iter().zip(e.iter()).enumerate().filter(|(_, pair)| !right(*pair)) {
                        stats.list(at + i, self.options.listed);
                    }
                }
            }
            PerElement::Class => {}
            PerElement::Ulp(_) | PerElement::Bits if actual == expected => {}
            PerElement::Ulp(_) | PerElement::Bits => self.by_bytes::<T>(at, actual, expected, stats),
        }
        true
    }

    /// Judges finite elements by what their bytes say.
    fn by_bytes<T: Element>(&self, at: usize, actual: &[u8], expected: &[u8], stats: &mut Stats) {
        let size = size_of::<T>();
        for (i, (a, e)) in actual.chunks_exact(size).zip(expected.chunks_exact(size)).enumerate() {
            // Bits beyond the four that count are no part of the number.
            let same = || !T::DTYPE.is_float() && T::read(a).to_f64() == T::read(e).to_f64();
            let right = a == e
                || same()
                || matches!(self.test, PerElement::Ulp(max) if within_ulps(T::read(a), T::read(e), max));
            if !right {
                stats.hopeless += 1;
                stats.mismatch(at + i, self.options.listed);
            }
        }
    }

    fn slow_block<T: Element>(
        &self,
        start: usize,
        actual: &[u8],
        expected: &[u8],
        counters: &mut Counters<'_>,
        stats: &mut Stats,
    ) {
        let size = size_of::<T>();
        for (i, (actual, expected)) in actual.chunks_exact(size).zip(expected.chunks_exact(size)).enumerate() {
            let at = start + i;
            let (a, e) = (T::read(actual).to_scalar(), T::read(expected).to_scalar());
            let (a, e) = match (a, e) {
                // A byte that is neither 0 nor 1 is no truth value, even if it would read as the right one.
                (Scalar::Bool(_), _) => (Scalar::Int(actual[0].into()), Scalar::Int(expected[0].into())),
                pair => pair,
            };
            let right = match (a, e) {
                (Scalar::Int(a), Scalar::Int(e)) => self.test.integer_is_right(a, e),
                _ => self.test.float_is_right::<T>(actual, expected, self.options.equal_nan),
            };
            let patterned = self.options.poisoned && actual == self.pattern && expected != self.pattern;
            // A float that holds the pattern is a NaN, which may be allowed; nobody wrote it all the same.
            if patterned && !(right && may_be_right_by_chance(T::DTYPE)) {
                stats.unwritten.add(at);
                if !may_be_chance(T::DTYPE) {
                    stats.mismatches += 1;
                    stats.hopeless += 1;
                    continue; // what was in memory says nothing about the kernel's numbers
                }
            }
            self.measure(at, a, e, counters, stats);
            if !right {
                stats.mismatch(at, self.options.listed);
                stats.hopeless += usize::from(!self.test.is_excusable(a, e));
            }
        }
    }

    /// Counts an element into the statistics.
    fn measure(&self, at: usize, a: Scalar, e: Scalar, counters: &mut Counters<'_>, stats: &mut Stats) {
        let (error, expected) = match (a, e) {
            (Scalar::Int(a), Scalar::Int(e)) => {
                let size = a.abs_diff(e) as f64;
                let (scale, zero) = self.quantized.unwrap_or((1.0, 0.0));
                ((if a < e { -size } else { size }) * scale, (e as f64 - zero) * scale)
            }
            (a, e) => {
                let (a, e) = (scalar_to_f64(a), scalar_to_f64(e));
                if !(a.is_finite() && e.is_finite()) {
                    stats.non_finite(a, e);
                    stats.saturated += usize::from(e.is_infinite() && a == self.largest.copysign(e));
                    return;
                }
                (a - e, e)
            }
        };
        stats.error(at, expected, error, self.shift);
        counters.add(error.abs());
    }
}

/// Whether the fill pattern of the type is a value that a kernel may give.
fn may_be_right_by_chance(dtype: DType) -> bool {
    !dtype.is_float() || dtype.size() == 1
}

/// The largest finite value of a float type that has infinities; else NaN, which equals nothing.
fn largest(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 65504.0,
        DType::Bf16 => half::bf16::MAX.to_f64(),
        DType::F32 | DType::Hf32 => f32::MAX.into(),
        DType::F64 => f64::MAX,
        DType::F8E5M2 => 57344.0,
        DType::HiF8 => 32768.0,
        _ => f64::NAN,
    }
}
