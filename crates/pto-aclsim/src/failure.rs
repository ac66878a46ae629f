//! What a call answers when it fails, and where the last answer of a thread is kept for `aclGetRecentErrMsg` and
//! `aclrtGetLastError`.

use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_char};

use crate::codes;

/// A failed call: the ACL code it returns and the message it leaves behind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    pub(crate) code: i32,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// A null pointer where the ABI wants an address.
    pub(crate) fn null(argument: &str) -> Self {
        Self::new(codes::ACL_ERROR_INVALID_PARAM, format!("argument `{argument}` is null"))
    }
}

pub(crate) type Outcome<T> = Result<T, Failure>;

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
    static LAST: Cell<i32> = const { Cell::new(codes::ACL_SUCCESS) };
}

/// Keeps a failure as this thread's most recent one.
pub(crate) fn remember(failure: &Failure) {
    LAST.set(failure.code);
    let text = CString::new(failure.message.replace('\0', " ")).unwrap_or_default();
    MESSAGE.with_borrow_mut(|message| *message = text);
}

/// The most recent message of this thread, or null. Valid until the next failed call of this thread.
pub(crate) fn recent_message() -> *const c_char {
    MESSAGE.with_borrow(|message| if message.is_empty() { std::ptr::null() } else { message.as_ptr() })
}

/// The most recent code of this thread; `clear` forgets it.
pub(crate) fn last_code(clear: bool) -> i32 {
    if clear { LAST.replace(codes::ACL_SUCCESS) } else { LAST.get() }
}
