//! Conversions, typed access, and shapes at the edge.

use ndarray::{ArrayD, IxDyn, array};
use pto_golden::{DType, Element, Error, Scalar, Tensor, TensorValue, bf16, f16};

fn from(dtype: DType, values: &[f64]) -> Tensor {
    Tensor::from_f64(dtype, &ArrayD::from_shape_vec(IxDyn(&[values.len()]), values.to_vec()).unwrap())
}

#[test]
fn integers_truncate_and_saturate() {
    let values = [2.7, -2.7, 1e9, -1e9, f64::NAN, f64::INFINITY];
    assert_eq!(from(DType::I8, &values).to_vec::<i8>().unwrap(), [2, -2, 127, -128, 0, 127]);
    assert_eq!(from(DType::U16, &values).to_vec::<u16>().unwrap(), [2, 0, 65535, 0, 0, 65535]);
    assert_eq!(from(DType::Bool, &[0.0, -0.0, 0.1, f64::NAN]).to_vec::<bool>().unwrap(), [false, false, true, true]);
    let wide = TensorValue::int(1i128 << 70);
    assert_eq!(Tensor::from_value(DType::U64, &wide).get(0), Some(Scalar::Int(u64::MAX.into())));
    assert_eq!(Tensor::from_value(DType::F32, &wide).get(0), Some(Scalar::Float(2f64.powi(70))));
}

#[test]
fn every_half_survives_the_way_through_doubles() {
    let all: Vec<u16> = (0..=u16::MAX).collect();
    let halves: Vec<f16> = all.iter().map(|bits| f16::from_bits(*bits)).filter(|x| !x.is_nan()).collect();
    let there = Tensor::from_slice([halves.len()], &halves).unwrap();
    assert_eq!(Tensor::from_f64(DType::F16, &there.to_f64()), there);
    let brains: Vec<bf16> = all.iter().map(|bits| bf16::from_bits(*bits)).filter(|x| !x.is_nan()).collect();
    let there = Tensor::from_slice([brains.len()], &brains).unwrap();
    assert_eq!(Tensor::from_f64(DType::Bf16, &there.to_f64()), there);
}

#[test]
fn integers_stay_exact_where_doubles_do_not() {
    let big = Tensor::from_slice([2], &[u64::MAX, (1 << 53) + 1]).unwrap();
    assert_eq!(Tensor::from_value(DType::U64, &big.to_value()), big);
    assert_ne!(Tensor::from_f64(DType::U64, &big.to_f64()), big);
}

#[test]
fn the_order_of_an_array_in_memory_does_not_matter() {
    let turned = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]].reversed_axes().into_dyn();
    let tensor = Tensor::from_f64(DType::F32, &turned);
    assert_eq!(tensor.shape(), [3, 2]);
    assert_eq!(tensor.to_vec::<f32>().unwrap(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    assert_eq!(tensor.coordinates(3), [1, 1]);
}

#[test]
fn scalars_and_tensors_without_elements() {
    let scalar = Tensor::new(DType::F32, [], 1.5f32.to_le_bytes().to_vec()).unwrap();
    assert_eq!((scalar.len(), scalar.get(0), scalar.get(1)), (1, Some(Scalar::Float(1.5)), None));
    assert_eq!(scalar.coordinates(0), Vec::<usize>::new());
    let none = Tensor::zeros(DType::F64, [1 << 40, 2, 0]).unwrap();
    assert!(none.is_empty() && none.to_f64().is_empty());
}

#[test]
fn bytes_must_fit_the_shape() {
    let error = Tensor::new(DType::F16, [2, 3], vec![0; 11]).unwrap_err();
    assert_eq!(error.to_string(), "shape [2, 3] of f16 needs 12 bytes, found 11");
    assert!(matches!(Tensor::zeros(DType::F64, [usize::MAX]), Err(Error::TooLarge { .. })));
    assert!(matches!(Tensor::zeros(DType::I8, [usize::MAX, 2]), Err(Error::TooLarge { .. })));
    assert!(matches!(Tensor::zeros(DType::I8, [usize::MAX, 2, 0]), Err(Error::TooLarge { .. })));
    let error = Tensor::zeros(DType::F16, [1]).unwrap().to_vec::<i16>().unwrap_err();
    assert_eq!(error.to_string(), "the tensor holds f16, asked for as i16");
    assert_eq!(<bool as Element>::DTYPE, DType::Bool);
}
