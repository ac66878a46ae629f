//! Deadlines that a variable overrides.

use std::time::Duration;

use crate::Context;

/// A variable that should hold a number of seconds and does not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{variable}` is `{value}`; expected a number of seconds above 0")]
pub struct BadSeconds {
    /// The variable.
    pub variable: &'static str,
    /// Its value.
    pub value: String,
}

impl Context {
    /// The seconds that a variable holds, whole or not, or `default` where it is unset.
    ///
    /// # Errors
    /// Its value is no number, or none that time can be measured with.
    pub fn seconds(&self, variable: &'static str, default: Duration) -> Result<Duration, BadSeconds> {
        let Some(value) = self.var(variable) else { return Ok(default) };
        let given = value.trim().parse().ok().filter(|seconds: &f64| *seconds > 0.0);
        given.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).ok_or(BadSeconds { variable, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_a_number_above_zero() {
        let given = |value: &str| Context::fake("/", [("T", value)]).seconds("T", Duration::from_secs(60));
        assert_eq!(given(""), Ok(Duration::from_secs(60)));
        assert_eq!(given(" 2.5 "), Ok(Duration::from_millis(2500)));
        for bad in ["0", "-1", "soon", "NaN", "inf", "1e300"] {
            assert_eq!(given(bad).unwrap_err().value, bad);
        }
        let text = given("soon").unwrap_err().to_string();
        assert_eq!(text, "`T` is `soon`; expected a number of seconds above 0");
    }
}
