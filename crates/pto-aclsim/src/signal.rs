//! The last words of a process that touched memory it must not touch.
//!
//! `aclInit` installs a handler for `SIGSEGV` and `SIGBUS` that says on stderr what the address is, gives the signal
//! back to whoever had it before, and returns: the instruction faults again and the process dies as it would have.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use crate::memory::registry::{self, Place};
use crate::report::say;

const SIGNALS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// The alternate stack in bytes. A kernel that overflows its own stack has none left for the handler.
const ALTERNATE_STACK: usize = 64 << 10;

static PREVIOUS: OnceLock<[libc::sigaction; 2]> = OnceLock::new();

/// Installs the handler, once per process.
pub(crate) fn install() {
    PREVIOUS.get_or_init(|| SIGNALS.map(replace_handler));
}

fn replace_handler(signal: c_int) -> libc::sigaction {
    // SAFETY: an all-zero `sigaction` is a valid value, both structures live on this stack, and `handler` has the
    // signature that `SA_SIGINFO` asks for and calls only what a signal handler may call.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let mut previous: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(signal, &action, &mut previous);
        previous
    }
}

extern "C" fn handler(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid `siginfo_t` to a handler with `SA_SIGINFO`; its address is meaningful for a
    // signal the kernel raised, which the code says (positive).
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    if code <= 0 {
        // Somebody sent it: nothing faults again by itself, and a previous handler may count on that.
        // SAFETY: both calls are allowed in a signal handler and have no other precondition.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
        return;
    }
    // SAFETY: the kernel passes a valid context to a handler with `SA_SIGINFO`.
    let stack = unsafe { stack_pointer(context) };
    explain(address, code, stack);
    for (number, previous) in SIGNALS.iter().zip(PREVIOUS.get().into_iter().flatten()) {
        // SAFETY: `previous` is what `sigaction` gave for this very signal.
        unsafe { libc::sigaction(*number, previous, std::ptr::null_mut()) };
    }
}

/// `si_code` of a fault whose address the kernel does not know.
const SI_KERNEL: c_int = 0x80;

fn explain(address: usize, code: c_int, stack: Option<usize>) {
    if code == SI_KERNEL {
        return say(format_args!(
            "fault at an address that no memory can have: an uninitialised or overwritten pointer"
        ));
    }
    match registry::locate(address) {
        Place::Live(relation) if relation.is_inside() => {
            say(format_args!("fault at {address:#x}: host code dereferenced device memory: {relation}"));
        }
        Place::Elsewhere if stack.is_some_and(|stack| stack.abs_diff(address) < NEAR_THE_STACK) => {
            say(format_args!("fault at {address:#x}: next to the stack pointer: the stack of this thread overflowed"));
        }
        Place::Elsewhere => say(format_args!("fault at {address:#x}: outside of every device buffer")),
        place => say(format_args!("fault at {address:#x}: {place}")),
    }
}

/// How far from the stack pointer, in bytes, a fault is one of the stack: a large frame is touched at its far end.
const NEAR_THE_STACK: usize = 1 << 20;

/// The stack pointer at the fault, on machines where it is known how to find it.
///
/// # Safety
/// `context` is what a signal handler got.
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    expect(unused_variables, reason = "not known there")
)]
unsafe fn stack_pointer(context: *mut c_void) -> Option<usize> {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: a handler with `SA_SIGINFO` gets a `ucontext_t`.
    let machine = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext };
    #[cfg(target_arch = "x86_64")]
    return Some(machine.gregs[libc::REG_RSP as usize] as usize);
    #[cfg(target_arch = "aarch64")]
    return Some(machine.sp as usize);
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    None
}

/// Runs `body` on this thread with an alternate stack for signal handlers, unless the thread has one.
pub(crate) fn with_alternate_stack<T>(body: impl FnOnce() -> T) -> T {
    // SAFETY: an all-zero `stack_t` is a valid value to be overwritten, and asking for the present stack changes nothing.
    let present = unsafe {
        let mut present: libc::stack_t = std::mem::zeroed();
        libc::sigaltstack(std::ptr::null(), &mut present);
        present
    };
    if present.ss_flags & libc::SS_DISABLE == 0 {
        return body();
    }
    let mut memory = vec![0u8; ALTERNATE_STACK];
    let mut stack = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: memory.len() };
    // SAFETY: the memory outlives its use as a stack: it is given back below, on this thread, before it is freed.
    unsafe { libc::sigaltstack(&stack, std::ptr::null_mut()) };
    let result = body();
    stack.ss_flags = libc::SS_DISABLE;
    // SAFETY: disabling the alternate stack of this thread, on which no handler runs now.
    unsafe { libc::sigaltstack(&stack, std::ptr::null_mut()) };
    result
}
