//! What the environment says about the device that is simulated. Read once, when the library is first called.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `PTO_ACLSIM_SOC` | the name `aclrtGetSocName` gives | `Ascend910B2` |
//! | `PTO_ACLSIM_DEVICES` | number of devices | 1 |
//! | `PTO_ACLSIM_CUBE_CORES` | cube cores per device | 24, those of an Ascend910B2 |
//! | `PTO_ACLSIM_VECTOR_CORES` | vector cores per device | 48, those of an Ascend910B2 |
//! | `PTO_ACLSIM_MEMORY` | device memory in bytes, per device | 68719476736 (64 GiB) |
//! | `PTO_ACLSIM_FAULT` | faults to inject, see below | none |
//!
//! A fault is `FUNCTION=ACTION` or `FUNCTION=ACTION@K`: the K-th call of the function, counted from 1, or every call.
//! Several are separated by commas. `FUNCTION` is any function of the library that can fail, by its exact name: a caller
//! that waits with a limit calls `aclrtSynchronizeStreamWithTimeout`, not `aclrtSynchronizeStream`. `ACTION` is one of
//!
//! | action | the call |
//! |---|---|
//! | an ACL error code, `207001` | fails with that code; a device fault (`507xxx`) also puts the device in error |
//! | `hang` | never returns |
//! | `crash` | dies by `SIGSEGV` |
//! | `abort` | dies by `SIGABRT` |
//! | `exit:N` | ends the process with status `N` |
//! | `delay:MS` | waits that many milliseconds, then does its work |
//!
//! A value that cannot be understood makes `aclInit` fail with a message that names it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::OnceLock;

use crate::codes;
use crate::failure::{Failure, Outcome};
use crate::fault::FaultPlan;

const SOC: &str = "PTO_ACLSIM_SOC";
const DEVICES: &str = "PTO_ACLSIM_DEVICES";
const CUBE_CORES: &str = "PTO_ACLSIM_CUBE_CORES";
const VECTOR_CORES: &str = "PTO_ACLSIM_VECTOR_CORES";
const MEMORY: &str = "PTO_ACLSIM_MEMORY";
const FAULT: &str = "PTO_ACLSIM_FAULT";

/// The simulated machine.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) soc: String,
    pub(crate) devices: u32,
    pub(crate) cube_cores: u32,
    pub(crate) vector_cores: u32,
    /// Bytes per device.
    pub(crate) memory: u64,
    pub(crate) faults: FaultPlan,
}

impl Config {
    /// Reads a set of variables. Pure, so that it can be tested; the message names variable and value.
    fn from_vars(vars: &BTreeMap<OsString, OsString>) -> Result<Self, String> {
        let text = |name: &str| match vars.get(std::ffi::OsStr::new(name)).filter(|value| !value.is_empty()) {
            None => Ok(None),
            Some(value) => value.to_str().map(Some).ok_or_else(|| format!("`{name}` is not valid Unicode")),
        };
        let number = |name: &str, default: u64, max: u64| match text(name)? {
            None => Ok(default),
            Some(value) => match value.parse() {
                Ok(parsed) if (1..=max).contains(&parsed) => Ok(parsed),
                _ => Err(format!("`{name}` is `{value}`; expected a whole number from 1 to {max}")),
            },
        };
        let count = |name: &str, default: u64, max: u32| {
            number(name, default, u64::from(max)).map(|value| u32::try_from(value).unwrap_or(max))
        };
        Ok(Self {
            soc: text(SOC)?.unwrap_or("Ascend910B2").to_owned(),
            devices: count(DEVICES, 1, 64)?,
            cube_cores: count(CUBE_CORES, 24, 4096)?,
            vector_cores: count(VECTOR_CORES, 48, 4096)?,
            memory: number(MEMORY, 64 << 30, 1 << 46)?,
            faults: FaultPlan::parse(text(FAULT)?.unwrap_or_default())
                .map_err(|reason| format!("`{FAULT}`: {reason}"))?,
        })
    }
}

/// The configuration of this process.
///
/// # Errors
/// A variable cannot be understood.
pub(crate) fn get() -> Outcome<&'static Config> {
    static CONFIG: OnceLock<Result<Config, String>> = OnceLock::new();
    CONFIG
        .get_or_init(|| Config::from_vars(&std::env::vars_os().collect()))
        .as_ref()
        .map_err(|reason| Failure::new(codes::ACL_ERROR_INVALID_PARAM, reason.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(vars: &[(&str, &str)]) -> Result<Config, String> {
        Config::from_vars(&vars.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect())
    }

    #[test]
    fn defaults_are_an_ascend910b2() {
        let config = read(&[]).unwrap();
        assert_eq!((config.soc.as_str(), config.cube_cores, config.vector_cores), ("Ascend910B2", 24, 48));
        assert_eq!((config.devices, config.memory), (1, 64 << 30));
    }

    #[test]
    fn every_variable_is_read() {
        let config = read(&[
            (SOC, "Ascend950PR_9589"),
            (DEVICES, "2"),
            (CUBE_CORES, "32"),
            (VECTOR_CORES, "64"),
            (MEMORY, "4096"),
            (FAULT, "aclrtMalloc=hang"),
        ]);
        let Config { soc, devices, cube_cores, vector_cores, memory, faults } = config.unwrap();
        assert_eq!((soc.as_str(), devices, cube_cores, vector_cores, memory), ("Ascend950PR_9589", 2, 32, 64, 4096));
        assert!(!faults.is_empty());
    }

    #[test]
    fn a_wrong_number_is_named() {
        for value in ["0", "-1", "many", "4097"] {
            let message = read(&[(CUBE_CORES, value)]).unwrap_err();
            assert!(message.contains(CUBE_CORES) && message.contains(value), "{message}");
        }
    }

    #[test]
    fn a_wrong_fault_names_the_variable() {
        assert!(read(&[(FAULT, "aclrtMalloc")]).unwrap_err().starts_with("`PTO_ACLSIM_FAULT`: "));
    }
}
