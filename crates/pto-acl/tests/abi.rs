//! The simulated library against the same function types: what `sys` calls is what it exports.
//!
//! Together with the test against the real headers this ties the simulated library to them, too.

use std::any::type_name;

use ascendcl::abi;
use pto_acl::sys::Functions;

/// A type as the machine passes it: an enumeration is the integer it is made of, a nullable function a pointer.
fn passed<T>() -> String {
    let name = type_name::<T>();
    let name = name.strip_prefix("core::option::Option<").and_then(|rest| rest.strip_suffix('>')).unwrap_or(name);
    let Some(start) = name.find("pto_acl::sys::") else { return name.into() };
    assert_eq!(size_of::<std::ffi::c_int>(), 4);
    format!("{}i32", &name[..start])
}

macro_rules! shapes {
    ($($shape:ident($($argument:ident)*);)+) => {
        $(fn $shape<$($argument,)* R>(_: unsafe extern "C" fn($($argument),*) -> R) -> Vec<String> {
            vec![$(passed::<$argument>(),)* passed::<R>()]
        })+
    };
}

shapes! {
    shape0();
    shape1(A);
    shape2(A B);
    shape3(A B C);
    shape4(A B C D);
    shape5(A B C D E);
    shape6(A B C D E F);
}

macro_rules! compare {
    (
        required { $($shape:ident: $($name:ident)+;)+ }
        optional { $($o_shape:ident: $($o_name:ident)+;)+ }
    ) => {
        /// Compiles only when no function of the table is left out.
        fn compare(table: &Functions) {
            let Functions { $($($name,)+)+ $($($o_name,)+)+ } = table;
            $($(assert_eq!($shape(*$name), $shape(abi::$name), stringify!($name));)+)+
            $($(assert_eq!($o_shape($o_name.unwrap()), $o_shape(abi::$o_name), stringify!($o_name));)+)+
        }
    };
}

compare! {
    required {
        shape0: aclFinalize aclGetRecentErrMsg aclrtSynchronizeDevice;
        shape1: aclInit aclrtGetDeviceCount aclrtSetDevice aclrtResetDevice aclrtGetCurrentContext aclrtSetCurrentContext
            aclrtCreateStream aclrtDestroyStream aclrtSynchronizeStream aclrtCreateEvent aclrtDestroyEvent
            aclrtSynchronizeEvent aclrtFree aclrtFreeHost;
        shape2: aclrtStreamWaitEvent aclrtRecordEvent aclrtMallocHost;
        shape3: aclrtEventElapsedTime aclrtMalloc aclrtGetMemInfo;
        shape4: aclrtMemset;
        shape5: aclrtMemcpy aclrtMemsetAsync;
        shape6: aclrtMemcpyAsync;
    }
    optional {
        shape0: aclrtGetSocName;
        shape1: aclrtResetDeviceForce aclrtSynchronizeDeviceWithTimeout aclrtDestroyStreamForce;
        shape2: aclrtSynchronizeStreamWithTimeout aclrtSynchronizeEventWithTimeout aclrtStreamQuery
            aclrtQueryEventStatus aclrtCreateEventWithFlag;
        shape3: aclrtGetVersion aclGetDeviceCapability aclrtGetDeviceInfo aclrtLaunchHostFunc;
    }
}

mod support;

#[test]
fn the_simulated_library_exports_the_same_types() {
    compare(support::acl().sys());
}
