//! Handles that own what they stand for. Each keeps its parent alive; each makes its device the calling thread's before
//! it calls the library, so that any thread can use it. What fails when a handle is dropped is reported by the next call.

mod buffer;
mod device;
mod event;
mod stream;

pub use buffer::DeviceBuffer;
pub use device::Device;
pub(crate) use device::DeviceRegistry;
pub use event::Event;
pub use stream::Stream;
