//! Copies and fills: what is allowed, and the doing of it.

use std::ops::Range;

use crate::failure::{Failure, Outcome};
use crate::memory::{self, CopyAccess, registry};
use crate::stream::Task;
use crate::{abi, codes};

/// Where the two sides of a copy lie.
#[derive(Debug, Clone, Copy)]
struct Kind {
    name: &'static str,
    device_dst: bool,
    device_src: bool,
}

/// By their values in `aclrtMemcpyKind`.
const KINDS: [Kind; 4] = [
    Kind { name: "ACL_MEMCPY_HOST_TO_HOST", device_dst: false, device_src: false },
    Kind { name: "ACL_MEMCPY_HOST_TO_DEVICE", device_dst: true, device_src: false },
    Kind { name: "ACL_MEMCPY_DEVICE_TO_HOST", device_dst: false, device_src: true },
    Kind { name: "ACL_MEMCPY_DEVICE_TO_DEVICE", device_dst: true, device_src: true },
];

/// A copy that was checked.
#[derive(Debug)]
pub(crate) struct Copy {
    dst: usize,
    src: usize,
    count: usize,
    kind: Kind,
}

fn invalid(message: String) -> Failure {
    Failure::new(codes::ACL_ERROR_RT_PARAM_INVALID, message)
}

impl Copy {
    /// Checks a copy of `count` bytes into room for `dst_max`.
    ///
    /// # Errors
    /// A null pointer, an unknown kind, no bytes, too little room, or a pointer of another kind than was said.
    pub(crate) fn new(dst: usize, dst_max: usize, src: usize, count: usize, kind: abi::MemcpyKind) -> Outcome<Self> {
        for (argument, address) in [("dst", dst), ("src", src)] {
            if address == 0 {
                return Err(Failure::null(argument));
            }
        }
        let kind = usize::try_from(kind).ok().and_then(|kind| KINDS.get(kind).copied()).ok_or_else(|| {
            invalid(format!("argument `kind` is {kind}; expected one of the values 0 to 3 of `aclrtMemcpyKind`"))
        })?;
        if count == 0 {
            return Err(invalid("argument `count` is 0".into()));
        }
        if count > dst_max {
            return Err(invalid(format!("argument `count` is {count}, more than the {dst_max} bytes of `destMax`")));
        }
        let copy = Self { dst, src, count, kind };
        copy.check()?;
        Ok(copy)
    }

    fn check(&self) -> Outcome<()> {
        let said = format!(" for `{}`", self.kind.name);
        check_range("dst", self.dst, self.count, self.kind.device_dst, &said)?;
        check_range("src", self.src, self.count, self.kind.device_src, &said)
    }

    fn device_ranges(&self) -> Vec<(usize, usize)> {
        let sides = [(self.kind.device_dst, self.dst), (self.kind.device_src, self.src)];
        sides.into_iter().filter(|(device, _)| *device).map(|(_, address)| (address, self.count)).collect()
    }

    /// Copies, after a second look: a buffer may have been freed since it was checked.
    pub(crate) fn execute(&self) -> Outcome<()> {
        let Some(_access) = CopyAccess::open(&self.device_ranges()) else {
            self.check()?;
            return Err(invalid("a device buffer was freed while it was copied".into()));
        };
        // SAFETY: the device sides lie in live buffers that `_access` keeps open and mapped; for the host sides the
        // caller of the C ABI vouches, as it does on a card. `copy` allows the two to overlap.
        unsafe { std::ptr::copy(self.src as *const u8, self.dst as *mut u8, self.count) };
        Ok(())
    }
}

/// Checks that `count` bytes from `address` lie where they should.
fn check_range(argument: &str, address: usize, count: usize, device: bool, said: &str) -> Outcome<()> {
    let place = registry::locate(address);
    if !device {
        let bytes: Range<usize> = address..address.saturating_add(count);
        return if memory::is_device_address(bytes.start) || memory::is_device_address(bytes.end - 1) {
            Err(invalid(format!("argument `{argument}` must be host memory{said}; {address:#x} is {place}")))
        } else {
            Ok(())
        };
    }
    if memory::is_device_range(address, count) {
        return Ok(());
    }
    Err(invalid(if memory::is_device_range(address, 1) {
        format!("argument `{argument}`: {count} bytes do not fit at {address:#x}, which is {place}")
    } else {
        format!("argument `{argument}` must be device memory{said}; {address:#x} is {place}")
    }))
}

impl Task for Copy {
    fn label(&self) -> String {
        format!("copying {} bytes", self.count)
    }
    fn run(self: Box<Self>) -> Outcome<()> {
        self.execute()
    }
}

/// A fill of device memory that was checked.
#[derive(Debug)]
pub(crate) struct Fill {
    dst: usize,
    value: u8,
    count: usize,
}

impl Fill {
    /// Checks a fill of `count` bytes in room for `max` bytes. As with `memset`, the low byte of `value` counts.
    ///
    /// # Errors
    /// A null pointer, no bytes, too little room, or a pointer that is not device memory.
    pub(crate) fn new(dst: usize, max: usize, value: i32, count: usize) -> Outcome<Self> {
        if dst == 0 {
            return Err(Failure::null("devPtr"));
        }
        if count == 0 {
            return Err(invalid("argument `count` is 0".into()));
        }
        if count > max {
            return Err(invalid(format!("argument `count` is {count}, more than the {max} bytes of `maxCount`")));
        }
        check_range("devPtr", dst, count, true, "")?;
        Ok(Self { dst, value: value as u8, count })
    }

    /// Fills, after a second look.
    pub(crate) fn execute(&self) -> Outcome<()> {
        let Some(_access) = CopyAccess::open(&[(self.dst, self.count)]) else {
            check_range("devPtr", self.dst, self.count, true, "")?;
            return Err(invalid("a device buffer was freed while it was filled".into()));
        };
        // SAFETY: the range lies in a live buffer that `_access` keeps open and mapped.
        unsafe { std::ptr::write_bytes(self.dst as *mut u8, self.value, self.count) };
        Ok(())
    }
}

impl Task for Fill {
    fn label(&self) -> String {
        format!("filling {} bytes", self.count)
    }
    fn run(self: Box<Self>) -> Outcome<()> {
        self.execute()
    }
}
