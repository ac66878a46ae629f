//! How fast two f16 tensors are compared, with every statistic, when they agree and when one element in a thousand
//! does not.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pto_golden::{DType, Fill, Options, Tensor, Tolerance, compare, f16};

const LEN: usize = 1 << 22;

fn f16_tensors(criterion: &mut Criterion) {
    let fill = Fill::Uniform { low: 0.5, high: 2.0 };
    let expected = fill.generate(DType::F16, [LEN], 1, "y").expect("the fill is sound");
    let elements = expected.to_vec::<f16>().expect("it is f16");
    let near: Vec<f16> = elements.iter().map(|x| f16::from_f64(x.to_f64() * 1.0004)).collect();
    let mut wrong = near.clone();
    wrong.iter_mut().step_by(1000).for_each(|x| *x = f16::NAN);

    let mut group = criterion.benchmark_group("compare f16");
    group.throughput(Throughput::Bytes(2 * expected.bytes().len() as u64)).sample_size(20);
    for (name, actual) in [("agreeing", near), ("one in a thousand wrong", wrong)] {
        let actual = Tensor::from_slice([LEN], &actual).expect("it has that many");
        let tolerance = Tolerance::default_for(DType::F16);
        group.bench_function(name, |b| b.iter(|| compare(&actual, &expected, tolerance, &Options::default())));
    }
    group.finish();
}

criterion_group!(benches, f16_tensors);
criterion_main!(benches);
