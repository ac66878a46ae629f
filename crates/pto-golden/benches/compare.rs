//! How fast two tensors are compared, with every statistic: when they are equal, when one element in four is a step off,
//! and when one in a thousand is wrong.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pto_golden::{DType, Fill, Options, Rule, Tensor, judge};

/// Larger than the caches of most machines.
const LEN: usize = 1 << 24;

/// `expected` with the lowest bit flipped in every `near`th element and the highest in every `wrong`th.
fn changed(expected: &Tensor, near: Option<usize>, wrong: Option<usize>) -> Tensor {
    let mut actual = expected.clone();
    let size = expected.dtype().size();
    for (every, byte, bit) in [(near, 0, 1), (wrong, size - 1, 0x40)] {
        let elements = actual.bytes_mut().chunks_exact_mut(size).step_by(every.unwrap_or(usize::MAX));
        elements.take(every.map_or(0, |_| usize::MAX)).for_each(|element| element[byte] ^= bit);
    }
    actual
}

fn compare(criterion: &mut Criterion) {
    for dtype in [DType::F16, DType::Bf16, DType::F32, DType::I8] {
        let expected = Fill::default_for(dtype).generate(dtype, [LEN], 1, "y").expect("the fill is sound");
        let mut group = criterion.benchmark_group(format!("compare {dtype}"));
        group.throughput(Throughput::Bytes(2 * expected.bytes().len() as u64)).sample_size(10);
        let near = dtype.is_float().then_some(4);
        let cases = [("equal", None, None), ("near", near, None), ("one in a thousand wrong", near, Some(1000))];
        for (name, near, wrong) in cases {
            let actual = changed(&expected, near, wrong);
            let rule = Rule::default_for(dtype);
            group.bench_function(name, |b| b.iter(|| judge(&actual, &expected, &rule, &Options::default())));
        }
        group.finish();
    }
}

criterion_group!(benches, compare);
criterion_main!(benches);
