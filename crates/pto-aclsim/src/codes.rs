//! The ACL error codes this library returns. Names and values are those of `acl/acl_base.h` and
//! `acl/error_codes/rt_error_codes.h`; a test looks them up in the real headers.

macro_rules! codes {
    ($($name:ident = $value:literal),+ $(,)?) => {
        $(pub(crate) const $name: i32 = $value;)+
        /// All of them, for the test against the headers.
        #[cfg(test)]
        pub(crate) const ALL: &[(&str, i32)] = &[$((stringify!($name), $name)),+];
    };
}

codes! {
    ACL_SUCCESS = 0,
    ACL_ERROR_INVALID_PARAM = 100_000,
    ACL_ERROR_UNINITIALIZE = 100_001,
    ACL_ERROR_REPEAT_INITIALIZE = 100_002,
    ACL_ERROR_REPEAT_FINALIZE = 100_037,
    ACL_ERROR_RT_PARAM_INVALID = 107_000,
    ACL_ERROR_RT_INVALID_DEVICEID = 107_001,
    ACL_ERROR_RT_CONTEXT_NULL = 107_002,
    ACL_ERROR_RT_STREAM_CONTEXT = 107_003,
    ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID = 107_006,
    ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL = 107_007,
    ACL_ERROR_RT_THREAD_SUBSCRIBE = 107_012,
    ACL_ERROR_RT_STREAM_NO_CB_REG = 107_015,
    ACL_ERROR_RT_INVALID_HANDLE = 107_017,
    ACL_ERROR_RT_MEMORY_ALLOCATION = 207_001,
    ACL_ERROR_RT_NO_STREAM_RESOURCE = 207_008,
    ACL_ERROR_INTERNAL_ERROR = 500_000,
    ACL_ERROR_RT_EVENT_NOT_COMPLETE = 507_006,
    ACL_ERROR_RT_REPORT_TIMEOUT = 507_012,
    ACL_ERROR_RT_DRV_INTERNAL_ERROR = 507_899,
}

// Known to newer runtimes only: the headers we test against do not name them. From the runtime's own table of codes.
pub(crate) const ACL_ERROR_RT_AICORE_TRAP_WRITE_OVERFLOW: i32 = 507_043;
pub(crate) const ACL_ERROR_RT_STREAM_SYNC_TIMEOUT: i32 = 507_046;
pub(crate) const ACL_ERROR_RT_EVENT_SYNC_TIMEOUT: i32 = 507_047;

/// Whether a code says that the device itself is in error: it refuses work until it is reset.
///
/// Time-outs of a wait (`507046`, `507047`) and "not yet" answers (`507004`, `507006`) say nothing about the device.
pub(crate) fn is_device_fault(code: i32) -> bool {
    let waits = matches!(
        code,
        507_004..=507_006 | 507_012 | ACL_ERROR_RT_STREAM_SYNC_TIMEOUT | ACL_ERROR_RT_EVENT_SYNC_TIMEOUT
    );
    (507_000..508_000).contains(&code) && !waits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the real headers are: a directory with `acl/acl.h` in it.
    const HEADERS: &str = "PTOKIT_ACL_HEADERS";

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test is told by the environment where the headers are")]
    fn names_and_values_are_those_of_the_headers() {
        let Some(directory) = std::env::var_os(HEADERS).map(std::path::PathBuf::from) else {
            pto_test::skip(&format!("`{HEADERS}` is not set, so the codes were not compared with the real headers"));
            return;
        };
        let files = ["acl/acl_base.h", "acl/error_codes/rt_error_codes.h"];
        let text: String = files.iter().map(|file| fs_err::read_to_string(directory.join(file)).unwrap()).collect();
        let words: Vec<&str> = text.split_whitespace().collect();
        for (name, value) in ALL {
            let definition = [*name, "=", &format!("{value};")];
            assert!(words.windows(3).any(|window| window == definition), "the headers do not say `{name} = {value}`");
        }
    }
}
