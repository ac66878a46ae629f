//! Where a C++ exception ends.
//!
//! One that leaves a launcher would find Rust's own handler at the bottom of the stack, which knows nothing to say of it.
//! The unwinder gives up at a frame without unwind information; then C++ finds no handler at all, ends the process where
//! the exception was thrown, and says what it was.

use std::ffi::c_void;

/// `void pto_launch_barrier(void (*work)(void *), void *data)`: calls `work`, from a frame without unwind information, as no
/// `.cfi` directive describes it.
macro_rules! barrier {
    ($($instruction:literal),*) => {
        std::arch::global_asm!(
            ".pushsection .text.pto_launch_barrier, \"ax\", @progbits",
            ".hidden pto_launch_barrier",
            ".globl pto_launch_barrier",
            ".type pto_launch_barrier, @function",
            "pto_launch_barrier:",
            $($instruction,)*
            ".size pto_launch_barrier, . - pto_launch_barrier",
            ".popsection",
        );
    };
}

#[cfg(target_arch = "x86_64")]
barrier!("push rbp", "mov rbp, rsp", "mov rax, rdi", "mov rdi, rsi", "call rax", "pop rbp", "ret");
#[cfg(target_arch = "aarch64")]
barrier!(
    "stp x29, x30, [sp, #-16]!",
    "mov x29, sp",
    "mov x9, x0",
    "mov x0, x1",
    "blr x9",
    "ldp x29, x30, [sp], #16",
    "ret"
);

unsafe extern "C" {
    fn pto_launch_barrier(work: unsafe extern "C-unwind" fn(*mut c_void), data: *mut c_void);
}

/// Calls `work` where no exception finds a handler. It must not panic: a panic ends the process as well.
pub(crate) fn without_handlers<R>(work: impl FnOnce() -> R) -> R {
    let mut call = Call { work: Some(work), result: None };
    let enter = enter_of(&call);
    // SAFETY: `enter` is given the value that it is made for, which outlives the call.
    unsafe { pto_launch_barrier(enter, (&raw mut call).cast()) };
    call.result.expect("the barrier returns when the work has")
}

struct Call<F, R> {
    work: Option<F>,
    result: Option<R>,
}

/// The function that makes a call of this type: a closure's type has no name.
fn enter_of<F: FnOnce() -> R, R>(_: &Call<F, R>) -> unsafe extern "C-unwind" fn(*mut c_void) {
    enter::<F, R>
}

unsafe extern "C-unwind" fn enter<F: FnOnce() -> R, R>(data: *mut c_void) {
    // SAFETY: `without_handlers` passes its own value, of this type, and touches it only when this has returned.
    let call = unsafe { &mut *data.cast::<Call<F, R>>() };
    call.result = call.work.take().map(|work| work());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_behind_the_barrier_and_its_result_comes_back() {
        let text = String::from("a");
        assert_eq!(without_handlers(move || text + "b"), "ab");
    }
}
