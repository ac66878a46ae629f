//! A tensor: element type, shape, bytes.

use ndarray::{ArrayD, IxDyn};

use crate::element::with_element;
use crate::storage::Storage;
use crate::{DType, Element, Error, Scalar, Shape, TensorValue};

/// A dense tensor in row-major order, little endian. Its bytes are its own, or those of a mapped file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    dtype: DType,
    shape: Shape,
    data: Storage,
}

impl Tensor {
    /// From little-endian bytes in row-major order.
    ///
    /// # Errors
    /// The shape needs another number of bytes.
    pub fn new(dtype: DType, shape: impl Into<Shape>, data: Vec<u8>) -> Result<Self, Error> {
        Self::from_storage(dtype, shape.into(), Storage::Owned(data))
    }

    pub(crate) fn from_storage(dtype: DType, shape: Shape, data: Storage) -> Result<Self, Error> {
        let expected = shape.elements(dtype)? * dtype.size();
        match data.len() {
            found if found == expected => Ok(Self { dtype, shape, data }),
            found => Err(Error::Length { shape, dtype, expected, found }),
        }
    }

    /// All zero.
    ///
    /// # Errors
    /// The shape has more bytes than an address can count.
    pub fn zeros(dtype: DType, shape: impl Into<Shape>) -> Result<Self, Error> {
        let shape = shape.into();
        let data = vec![0; shape.elements(dtype)? * dtype.size()];
        Ok(Self { dtype, shape, data: Storage::Owned(data) })
    }

    /// From elements in row-major order.
    ///
    /// # Errors
    /// The shape has another number of elements.
    pub fn from_slice<T: Element>(shape: impl Into<Shape>, elements: &[T]) -> Result<Self, Error> {
        let mut data = vec![0; size_of_val(elements)];
        for (element, bytes) in elements.iter().zip(data.chunks_exact_mut(size_of::<T>())) {
            element.write(bytes);
        }
        Self::new(T::DTYPE, shape, data)
    }

    /// Rounds every value once to `dtype`; how is said at [`Element::from_f64`].
    pub fn from_f64(dtype: DType, values: &ArrayD<f64>) -> Self {
        with_element!(dtype, T => Self::collect(values.shape(), values.iter().map(|value| T::from_f64(*value))))
    }

    /// Rounds every value once to `dtype`; integers go to integer dtypes exactly, or saturate.
    pub fn from_value(dtype: DType, value: &TensorValue) -> Self {
        let shape = value.shape();
        match value {
            TensorValue::Real(values) => {
                with_element!(dtype, T => Self::collect(shape, values.iter().map(|value| T::from_f64(*value))))
            }
            TensorValue::Int(values) => {
                with_element!(dtype, T => Self::collect(shape, values.iter().map(|value| T::from_i128(*value))))
            }
        }
    }

    /// `elements` yields as many as `shape` has; both come from one array.
    pub(crate) fn collect<T: Element>(shape: &[usize], elements: impl ExactSizeIterator<Item = T>) -> Self {
        let mut data = vec![0; elements.len() * size_of::<T>()];
        for (element, bytes) in elements.zip(data.chunks_exact_mut(size_of::<T>())) {
            element.write(bytes);
        }
        Self { dtype: T::DTYPE, shape: shape.into(), data: Storage::Owned(data) }
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Sizes of the axes.
    pub fn shape(&self) -> &[usize] {
        &self.shape.0
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.data.len() / self.dtype.size()
    }

    /// Whether there is no element at all.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// The bytes: little endian, row-major.
    pub fn bytes(&self) -> &[u8] {
        &self.data
    }

    /// The bytes, to be written to. Those of a mapped file are copied first.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.data.to_mut()
    }

    /// Gives the bytes away.
    pub fn into_bytes(self) -> Vec<u8> {
        self.data.into_vec()
    }

    /// The element at `flat` in row-major order.
    pub fn get(&self, flat: usize) -> Option<Scalar> {
        let size = self.dtype.size();
        let bytes = self.data.get(flat.checked_mul(size)?..)?.get(..size)?;
        Some(with_element!(self.dtype, T => T::read(bytes).to_scalar()))
    }

    /// The logical coordinates of the element at `flat` in row-major order.
    pub fn coordinates(&self, flat: usize) -> Vec<usize> {
        self.shape.coordinates(flat)
    }

    /// All elements in row-major order.
    ///
    /// # Errors
    /// `T` is not the tensor's element type.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, Error> {
        if T::DTYPE != self.dtype {
            return Err(Error::WrongElement { found: self.dtype, expected: T::DTYPE });
        }
        Ok(self.data.chunks_exact(size_of::<T>()).map(T::read).collect())
    }

    /// All elements as doubles: exact but for 64-bit integers beyond 2^53, which round to nearest.
    pub fn to_f64(&self) -> ArrayD<f64> {
        let mut out = vec![0.0; self.len()];
        with_element!(self.dtype, T => T::read_f64s(&self.data, &mut out));
        self.array(out)
    }

    /// What an expression works on: floats as doubles, integers and bools as exact integers.
    pub fn to_value(&self) -> TensorValue {
        if self.dtype.is_float() {
            return TensorValue::Real(self.to_f64().into_shared());
        }
        let exact = |element: Scalar| match element {
            Scalar::Int(value) => value,
            Scalar::Bool(value) => value.into(),
            Scalar::Float(value) => value as i128,
        };
        let chunks = self.data.chunks_exact(self.dtype.size());
        let integers = with_element!(self.dtype, T => chunks.map(|one| exact(T::read(one).to_scalar())).collect());
        TensorValue::Int(self.array(integers).into_shared())
    }

    #[expect(clippy::expect_used, reason = "`values` has one entry per element, checked when the tensor was made")]
    fn array<V>(&self, values: Vec<V>) -> ArrayD<V> {
        ArrayD::from_shape_vec(IxDyn(self.shape()), values).expect("one value per element")
    }
}

/// `value` rounded to `dtype` and back: what an intermediate of that type would hold.
pub(crate) fn round_to(dtype: DType, value: f64) -> f64 {
    with_element!(dtype, T => T::from_f64(value).to_f64())
}

/// An integer brought into `dtype` and back, exactly where `dtype` is an integer too.
pub(crate) fn clamp_to(dtype: DType, value: i128) -> i128 {
    match dtype.int_range() {
        Some(_) if dtype == DType::Bool => (value != 0).into(),
        Some((low, high)) => value.clamp(low, high),
        None => value,
    }
}

/// An integer rounded to the float type `dtype`.
pub(crate) fn float_from_int(dtype: DType, value: i128) -> f64 {
    with_element!(dtype, T => T::from_i128(value).to_f64())
}
