//! Judges two made-up kernels for `y = silu(x)`: one that computes in f32 and rounds at the end, and one that forgot
//! the tail of the tensor.
//!
//! `cargo run -p pto-golden --example silu`

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use pto_golden::{DType, Element, Expr, Fill, Options, Tensor, TensorValue, Tolerance, compare, f16, poison};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let fill = Fill::Normal { mean: 0.0, std: 2.0 };
    let x = fill.generate(DType::F16, [4, 1000], 2024, "x")?;

    let expr = Expr::parse("silu(x)")?;
    let value = expr.eval_tensor(&|name| (name == "x").then(|| TensorValue::from(&x)))?;
    let golden = Tensor::from_value(DType::F16, &value);

    let careful: Vec<f16> = x.to_vec::<f16>()?.into_iter().map(silu).collect();
    let careful = Tensor::from_slice(x.shape(), &careful)?;

    let mut forgetful = Tensor::new(DType::F16, x.shape(), poison(DType::F16, x.len()))?;
    let written = 3840 * DType::F16.size(); // 15 tiles of 256; the last 160 elements need a tail
    forgetful.bytes_mut()[..written].copy_from_slice(&careful.bytes()[..written]);

    let options = Options { poisoned: true, ..Options::default() };
    for (name, output) in [("careful", careful), ("forgetful", forgetful)] {
        let report = compare(&output, &golden, Tolerance::default_for(DType::F16), &options);
        println!("{name}: {report}\n");
    }
    Ok(())
}

fn silu(x: f16) -> f16 {
    let x = x.to_f32();
    f16::from_f64((x / (1.0 + (-x).exp())).to_f64())
}
