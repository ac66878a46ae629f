//! The vendor's C as it is: types, constants, and a table of function pointers, for the part of ACL that launching
//! kernels needs. Names are those of the headers (`acl/acl_base.h`, `acl/acl_rt.h`, `acl/acl.h`). A test compiles every
//! constant and every function type against the real headers.
#![expect(non_camel_case_types, reason = "the names are those of the C headers")]
#![expect(non_snake_case, reason = "the names are those of the C headers")]

mod c_type;
mod functions;

use std::ffi::{c_int, c_void};

pub use c_type::CType;
pub use functions::{Functions, SIGNATURES, Signature};

/// An error code; 0 is success.
pub type aclError = c_int;
/// A stream. Null is the default stream of the current context.
pub type aclrtStream = *mut c_void;
/// An event.
pub type aclrtEvent = *mut c_void;
/// A context.
pub type aclrtContext = *mut c_void;
/// A function that a stream calls on the host.
pub type aclrtHostFunc = unsafe extern "C" fn(*mut c_void);

/// Makes each C enumeration a type of its own with its values, and lists the values for the test against the headers.
macro_rules! enumerations {
    ($($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $number:literal,)+ })+) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
            #[repr(transparent)]
            pub struct $name(pub c_int);

            impl CType for $name {
                fn spell() -> String {
                    stringify!($name).into()
                }
            }

            $($(#[$value_doc])* pub const $value: $name = $name($number);)+
        )+
        /// Name and value of each enumerator.
        pub const ENUMERATORS: &[(&str, c_int)] = &[$($((stringify!($value), $number),)+)+];
    };
}

enumerations! {
    /// Which way a copy goes.
    aclrtMemcpyKind {
        /// Host to host.
        ACL_MEMCPY_HOST_TO_HOST = 0,
        /// Host to device.
        ACL_MEMCPY_HOST_TO_DEVICE = 1,
        /// Device to host.
        ACL_MEMCPY_DEVICE_TO_HOST = 2,
        /// Device to device.
        ACL_MEMCPY_DEVICE_TO_DEVICE = 3,
    }
    /// Which pages device memory is made of.
    aclrtMemMallocPolicy {
        /// Huge pages, or normal ones if there are none left.
        ACL_MEM_MALLOC_HUGE_FIRST = 0,
        /// Huge pages.
        ACL_MEM_MALLOC_HUGE_ONLY = 1,
        /// Normal pages.
        ACL_MEM_MALLOC_NORMAL_ONLY = 2,
    }
    /// Which memory is asked about.
    aclrtMemAttr {
        /// DDR.
        ACL_DDR_MEM = 0,
        /// High-bandwidth memory.
        ACL_HBM_MEM = 1,
    }
    /// Whether a stream is done.
    aclrtStreamStatus {
        /// All tasks are done.
        ACL_STREAM_STATUS_COMPLETE = 0,
        /// Some are not.
        ACL_STREAM_STATUS_NOT_READY = 1,
    }
    /// Whether an event was reached.
    aclrtEventRecordedStatus {
        /// Not yet.
        ACL_EVENT_RECORDED_STATUS_NOT_READY = 0,
        /// It was.
        ACL_EVENT_RECORDED_STATUS_COMPLETE = 1,
    }
    /// What `aclGetDeviceCapability` knows.
    aclDeviceInfo {
        /// Number of AI cores.
        ACL_DEVICE_INFO_AI_CORE_NUM = 0,
        /// Number of vector cores.
        ACL_DEVICE_INFO_VECTOR_CORE_NUM = 1,
        /// Bytes of L2 cache.
        ACL_DEVICE_INFO_L2_SIZE = 2,
    }
}

/// What `aclrtGetDeviceInfo` knows. In runtimes newer than the headers this crate is tested against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct aclrtDevAttr(pub c_int);

impl CType for aclrtDevAttr {
    fn spell() -> String {
        "aclrtDevAttr".into()
    }
}

/// Number of cube cores.
pub const ACL_DEV_ATTR_CUBE_CORE_NUM: aclrtDevAttr = aclrtDevAttr(102);
/// Number of vector cores.
pub const ACL_DEV_ATTR_VECTOR_CORE_NUM: aclrtDevAttr = aclrtDevAttr(201);

/// An event that streams can wait for.
pub const ACL_EVENT_SYNC: u32 = 0x1;
/// An event that keeps the time.
pub const ACL_EVENT_TIME_LINE: u32 = 0x8;

/// Success.
pub const ACL_SUCCESS: aclError = 0;
/// `aclInit` was called before.
pub const ACL_ERROR_REPEAT_INITIALIZE: aclError = 100_002;

/// Name and value of each constant that is no enumerator.
pub const CONSTANTS: &[(&str, i64)] = &[
    ("ACL_EVENT_SYNC", ACL_EVENT_SYNC as i64),
    ("ACL_EVENT_TIME_LINE", ACL_EVENT_TIME_LINE as i64),
    ("ACL_SUCCESS", ACL_SUCCESS as i64),
    ("ACL_ERROR_REPEAT_INITIALIZE", ACL_ERROR_REPEAT_INITIALIZE as i64),
];
