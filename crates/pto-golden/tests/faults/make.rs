//! Faults the way kernels make them, on tensors of several dtypes and shapes.

use pto_golden::pattern::Division;
use pto_golden::{DType, Fill, Tensor, poison};

/// A tensor that faults are made on.
#[derive(Debug)]
pub(crate) struct Subject {
    pub dtype: DType,
    pub shape: &'static [usize],
    pub seed: u64,
}

const fn subject(dtype: DType, shape: &'static [usize], seed: u64) -> Subject {
    Subject { dtype, shape, seed }
}

pub(crate) const SUBJECTS: &[Subject] = &[
    subject(DType::F16, &[64, 128], 1),
    subject(DType::F16, &[4096], 2),
    subject(DType::F16, &[100, 96], 3),
    subject(DType::Bf16, &[64, 64], 4),
    subject(DType::Bf16, &[3, 32, 80], 5),
    subject(DType::F32, &[64, 128], 6),
    subject(DType::F32, &[10_000], 7),
    subject(DType::F32, &[33, 257], 8),
    subject(DType::F32, &[2, 4, 16, 64], 9),
    subject(DType::I32, &[128, 64], 10),
    subject(DType::I32, &[5000], 11),
    subject(DType::I16, &[48, 100], 12),
    subject(DType::I8, &[64, 128], 13),
    subject(DType::U8, &[96, 64], 14),
    // Half of the elements are 0, so many are right by chance.
    subject(DType::F16, &[64, 128], RELU),
    subject(DType::F32, &[6000], RELU + 1),
    subject(DType::Bf16, &[40, 200], RELU + 2),
    subject(DType::I32, &[72, 96], RELU + 3),
];

/// From this seed on negative elements are 0.
const RELU: u64 = 100;

/// What was done to it.
pub(crate) struct Fault {
    /// The name it should get.
    pub kind: &'static str,
    /// The same in more words.
    pub what: String,
    pub actual: Tensor,
    pub expected: Tensor,
    pub previous: Option<Tensor>,
    pub inputs: Vec<(String, Tensor)>,
    pub division: Option<Division>,
}

impl Subject {
    /// Values over the range that outputs have; seeds 0 and up.
    pub(crate) fn golden(&self, more: u64) -> Tensor {
        let fill = match self.dtype {
            DType::I32 => Fill::Integers { low: -5000, high: 5000 },
            DType::I16 => Fill::Integers { low: -2000, high: 2000 },
            DType::I8 => Fill::Integers { low: -60, high: 60 },
            DType::U8 => Fill::Integers { low: 1, high: 120 },
            dtype => Fill::default_for(dtype),
        };
        let golden = fill.generate(self.dtype, self.shape, 1000 * self.seed + more, "golden").unwrap();
        if self.seed < RELU { golden } else { Tensor::from_f64(self.dtype, &golden.to_f64().mapv(|x| x.max(0.0))) }
    }

    fn len(&self) -> usize {
        self.shape.iter().product()
    }

    fn width(&self) -> usize {
        *self.shape.last().unwrap()
    }
}

/// Values as doubles, with changes written back.
struct Draft<'a> {
    subject: &'a Subject,
    expected: Tensor,
    actual: Vec<f64>,
}

impl<'a> Draft<'a> {
    fn new(subject: &'a Subject, more: u64) -> Self {
        let expected = subject.golden(more);
        let actual = expected.to_f64().into_iter().collect();
        Self { subject, expected, actual }
    }

    fn fault(self, kind: &'static str, what: impl Into<String>) -> Fault {
        let array = ndarray::ArrayD::from_shape_vec(self.subject.shape, self.actual).unwrap();
        let actual = Tensor::from_f64(self.subject.dtype, &array);
        Fault {
            kind,
            what: what.into(),
            actual,
            expected: self.expected,
            previous: None,
            inputs: Vec::new(),
            division: None,
        }
    }

    /// Sets what `is` chooses to something that a wrong kernel leaves there.
    fn spoil(mut self, how: Spoil, is: impl Fn(usize) -> bool) -> Self {
        let other: Vec<f64> = self.subject.golden(999).to_f64().into_iter().collect();
        for (at, value) in self.actual.iter_mut().enumerate().filter(|(at, _)| is(*at)) {
            *value = match how {
                Spoil::Zero => 0.0,
                Spoil::Other => other[at],
                Spoil::Half => (*value / 2.0).trunc_if(!self.subject.dtype.is_float()),
            };
        }
        self
    }

    /// Leaves the fill pattern where `is` chooses.
    fn unwritten(self, kind: &'static str, what: impl Into<String>, is: impl Fn(usize) -> bool) -> Fault {
        let size = self.subject.dtype.size();
        let mut fault = self.fault(kind, what);
        let pattern = poison(fault.expected.dtype(), 1);
        for (_, bytes) in fault.actual.bytes_mut().chunks_exact_mut(size).enumerate().filter(|(at, _)| is(*at)) {
            bytes.copy_from_slice(&pattern);
        }
        fault
    }
}

trait TruncIf {
    fn trunc_if(self, whole: bool) -> Self;
}

impl TruncIf for f64 {
    fn trunc_if(self, whole: bool) -> Self {
        if whole { self.trunc() } else { self }
    }
}

#[derive(Debug, Clone, Copy)]
enum Spoil {
    Zero,
    Other,
    Half,
}

/// Every fault that the subject can have.
pub(crate) fn faults(subject: &Subject) -> Vec<Fault> {
    let mut all = wholes(subject);
    all.extend(moves(subject));
    all.extend(arithmetic(subject));
    all.extend(places(subject));
    all.extend(values(subject));
    all.extend(tiles(subject));
    all
}

fn wholes(subject: &Subject) -> Vec<Fault> {
    let draft = || Draft::new(subject, 0);
    let (previous, input) = (subject.golden(50), subject.golden(60));
    let mut stale = draft().fault("stale", "all of it");
    (stale.actual, stale.previous) = (previous.clone(), Some(previous.clone()));
    let mut part = Draft::new(subject, 1);
    let before: Vec<f64> = previous.to_f64().into_iter().collect();
    let start = subject.len() / 3;
    part.actual[start..].copy_from_slice(&before[start..]);
    let mut part = part.fault("stale", "two thirds");
    part.previous = Some(previous);
    let mut copied = draft().fault("input-copied", "the second input");
    copied.actual = input.clone();
    copied.inputs = vec![("x".to_owned(), subject.golden(70)), ("z".to_owned(), input)];
    let mut nan = draft();
    nan.actual.fill(f64::NAN);
    let nan = subject.dtype.is_float().then(|| nan.fault("all-nan", ""));
    let all = vec![
        draft().unwritten("never-written", "", |_| true),
        draft().spoil(Spoil::Zero, |_| true).fault("all-zero", ""),
        {
            let mut draft = draft();
            draft.actual.fill(3.0);
            draft.fault("constant", "")
        },
        stale,
        part,
        copied,
    ];
    all.into_iter().chain(nan).collect()
}

fn moves(subject: &Subject) -> Vec<Fault> {
    let (len, width) = (subject.len(), subject.width());
    let moved = |kind, what: String, from: &dyn Fn(usize) -> usize| {
        let mut draft = Draft::new(subject, 2);
        let values = draft.actual.clone();
        draft.actual.iter_mut().enumerate().for_each(|(at, value)| *value = values[from(at)]);
        draft.fault(kind, what)
    };
    let mut all = Vec::new();
    for by in [1usize, 2, 16, width, 3 * width] {
        if by < len / 4 && (by != width || subject.shape.len() > 1) {
            all.push(moved("shifted", format!("by {by}"), &|at| at.saturating_sub(by)));
            all.push(moved("shifted", format!("by -{by}"), &|at| (at + by).min(len - 1)));
        }
    }
    if len % 2 == 0 {
        all.push(moved("swapped-halves", "of the tensor".to_owned(), &|at| (at + len / 2) % len));
    }
    if width % 2 == 0 && subject.shape.len() > 1 {
        all.push(moved("swapped-halves", "of each row".to_owned(), &|at| {
            at / width * width + (at % width + width / 2) % width
        }));
    }
    if len % 2 == 0 {
        all.push(moved("swapped-pairs", String::new(), &|at| at ^ 1));
    }
    if subject.shape.len() > 1 {
        let rows = subject.shape[subject.shape.len() - 2];
        let from = |at: usize| {
            let (stack, inside) = (at / (rows * width), at % (rows * width));
            stack * rows * width + inside % rows * width + inside / rows
        };
        all.push(moved("transposed", String::new(), &from));
    }
    all
}

fn arithmetic(subject: &Subject) -> Vec<Fault> {
    let with = |kind, what: &str, f: &dyn Fn(f64) -> f64| {
        let mut draft = Draft::new(subject, 3);
        draft.actual.iter_mut().for_each(|value| *value = f(*value));
        draft.fault(kind, what)
    };
    let mut all = Vec::new();
    if subject.dtype != DType::U8 {
        all.push(with("negated", "", &|x| -x));
    }
    if subject.dtype.is_float() {
        all.push(with("reciprocal", "", &|x| 1.0 / x));
        for factor in [0.5, 2.0, 0.088_388, 128.0f64.sqrt(), 0.75, 1.0 / 3.0] {
            all.push(with("factor", &factor.to_string(), &|x| x * factor));
        }
        for by in [1.0, -0.5] {
            all.push(with("offset", &by.to_string(), &|x| x + by));
        }
    } else {
        all.push(with("factor", "2", &|x| x * 2.0));
        all.push(with("offset", "5", &|x| x + 5.0));
    }
    all
}

/// Two sizes of each, with three contents.
fn places(subject: &Subject) -> Vec<Fault> {
    let (len, width) = (subject.len(), subject.width());
    let rows = len / width;
    let mut all = Vec::new();
    let mut add = |kind: &'static str, what: &str, is: &dyn Fn(usize) -> bool| {
        for how in [Spoil::Zero, Spoil::Other, Spoil::Half] {
            all.push(Draft::new(subject, 4).spoil(how, is).fault(kind, format!("{what}, {how:?}")));
        }
        all.push(Draft::new(subject, 5).unwritten(kind, format!("{what}, unwritten"), is));
    };
    if rows == 1 {
        add("tail", "100 elements", &|at| at >= len - 100);
        add("head", "a quarter", &|at| at < len / 4);
        add("block", "of 256", &|at| (512..768).contains(&at));
        add("periodic", "every fourth 128", &|at| at / 128 % 4 == 2);
        add("periodic", "every second 64", &|at| at / 64 % 2 == 1);
        return all;
    }
    add("tail", "three rows", &|at| at / width >= rows - 3);
    add("tail", "two rows and a third", &|at| at >= len - 2 * width - width / 3);
    add("tail", "a third of the last row", &|at| at >= len - width / 3);
    add("head", "half of the first row", &|at| at < width / 2);
    add("head", "four rows", &|at| at / width < 4);
    add("block", "five rows", &|at| (6..11).contains(&(at / width)));
    add("row-stripes", "every second row", &|at| at / width % 2 == 1);
    add("row-stripes", "every fourth two", &|at| at / width % 8 / 2 == 1);
    add("row-tail", "of 7 columns", &|at| at % width >= width - 7);
    add("tile", "16 x 16", &|at| (16..32).contains(&(at % width)) && (8..24).contains(&(at / width)));
    all
}

/// Five tiles and a part on four cores: the second turn is missing. And the last of four full ones.
fn tiles(subject: &Subject) -> Vec<Fault> {
    let len = subject.len();
    let mut all = Vec::new();
    let mut add = |tile: usize, cores: usize, what: &str, from: usize| {
        let division = Some(Division { tile, cores });
        for how in [Spoil::Zero, Spoil::Other, Spoil::Half] {
            let fault =
                Draft::new(subject, 12).spoil(how, |at| at >= from).fault("whole-tiles", format!("{what}, {how:?}"));
            all.push(Fault { division, ..fault });
        }
        let fault = Draft::new(subject, 13).unwritten("whole-tiles", format!("{what}, unwritten"), |at| at >= from);
        all.push(Fault { division, ..fault });
    };
    let tile = len / 5 - 3;
    add(tile, 4, "the second turn", 4 * tile);
    if len.is_multiple_of(4) {
        add(len / 4, 48, "the last of four", len / 4 * 3);
    }
    all
}

/// Places and sizes that nobody chose: what the search was not tried on while it was written.
pub(crate) fn random_places(subject: &Subject) -> Vec<Fault> {
    let (len, width) = (subject.len(), subject.width());
    let rows = len / width;
    let mut state = 77 + subject.seed;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound.max(1)
    };
    let mut all = Vec::new();
    for round in 0..3 {
        let mut add = |kind: &'static str, is: &dyn Fn(usize) -> bool| {
            let how = [Spoil::Zero, Spoil::Other, Spoil::Half][round];
            all.push(Draft::new(subject, 20 + round as u64).spoil(how, is).fault(kind, format!("random, {how:?}")));
        };
        if rows == 1 {
            let (a, size) = (len / 8 + below(len / 2), 40 + below(len / 6));
            add("tail", &|at| at >= len - size);
            add("head", &|at| at < size);
            add("block", &|at| (a..a + size).contains(&at));
            let (period, length, phase) = (200 + below(300), 30 + below(90), below(100));
            add("periodic", &|at| at >= phase && (at - phase) % period < length);
            continue;
        }
        let (a, size) = (2 + below(rows / 3), 2 + below(rows / 4));
        add("tail", &|at| at / width >= rows - size);
        add("head", &|at| at / width < size);
        add("block", &|at| (a..a + size).contains(&(at / width)));
        let (period, phase) = (3 + below(5), below(3));
        add("row-stripes", &|at| at / width % period == phase);
        let columns = 2 + below(width / 3);
        add("row-tail", &|at| at % width >= width - columns);
        let (left, wide) = (1 + below(width / 3), 8 + below(width / 4));
        add("tile", &|at| (left..left + wide).contains(&(at % width)) && (a..a + size + 4).contains(&(at / width)));
    }
    all
}

fn values(subject: &Subject) -> Vec<Fault> {
    let (len, width) = (subject.len(), subject.width());
    let mut all = Vec::new();
    let mut scatter = Draft::new(subject, 6);
    let mut state = subject.seed;
    for at in 0..len {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if state >> 33 & 63 == 0 {
            let value = scatter.actual[at];
            scatter.actual[at] = if subject.dtype == DType::U8 { (value + 90.0) % 200.0 } else { value * 3.0 + 7.0 };
        }
    }
    all.push(scatter.fault("scattered", "one in 64"));
    let mut clipped = Draft::new(subject, 7);
    let most = clipped.actual.iter().copied().fold(0.0, f64::max) * 0.7;
    clipped.actual.iter_mut().for_each(|value| *value = value.clamp(-most.round(), most.round()));
    all.push(clipped.fault("saturated", "both ends"));
    if subject.dtype.is_float() {
        for bad in [1, 3] {
            if len / width > 3 {
                let mut nan = Draft::new(subject, 8);
                let is = |at: usize| at / width >= 2 && at / width < 2 + bad;
                nan.actual.iter_mut().enumerate().filter(|(at, _)| is(*at)).for_each(|(_, value)| *value = f64::NAN);
                all.push(nan.fault("nan-rows", format!("{bad} rows")));
            }
        }
        all.extend(rounded(subject));
        all.extend(reinterpreted(subject));
    }
    all
}

/// Some units in the last place off, here and there or towards zero.
fn rounded(subject: &Subject) -> Vec<Fault> {
    let unit = match subject.dtype {
        DType::F16 => 2f64.powi(-10),
        DType::Bf16 => 2f64.powi(-7),
        _ => 2f64.powi(-23),
    };
    // Beyond the tolerance of the type: f16 2 units, bf16 3, f32 from 12 on, which is more than rounding.
    let units = match subject.dtype {
        DType::F16 => 2.0,
        DType::Bf16 => 4.0,
        _ => return Vec::new(),
    };
    let mut near = Draft::new(subject, 9);
    for (at, value) in near.actual.iter_mut().enumerate() {
        let step = unit * 2f64.powf(value.abs().max(1e-4).log2().floor());
        *value += if at % 3 == 0 {
            units * step
        } else if at % 3 == 1 {
            -units * step
        } else {
            0.0
        };
    }
    let mut cut = Draft::new(subject, 10);
    for value in &mut cut.actual {
        let step = unit * 2f64.powf(value.abs().max(1e-4).log2().floor());
        *value -= value.signum() * units * step;
    }
    vec![near.fault("rounding", "both ways"), cut.fault("rounding", "towards zero")]
}

fn reinterpreted(subject: &Subject) -> Vec<Fault> {
    let draft = Draft::new(subject, 11);
    let values = draft.expected.to_f64();
    let mut fault = draft.fault("reinterpreted", "");
    let others: &[DType] = match subject.dtype {
        DType::F16 => &[DType::Bf16, DType::F32],
        DType::Bf16 => &[DType::F16, DType::F32],
        _ => &[DType::F16],
    };
    let mut all = Vec::new();
    for other in others {
        let mut bytes = Tensor::from_f64(*other, &values).into_bytes();
        bytes.resize(fault.expected.bytes().len(), 0);
        fault.actual = Tensor::new(subject.dtype, subject.shape, bytes).unwrap();
        all.push(Fault {
            kind: "reinterpreted",
            what: other.to_string(),
            actual: fault.actual.clone(),
            expected: fault.expected.clone(),
            previous: None,
            inputs: Vec::new(),
            division: None,
        });
    }
    all
}
