//! Streams are ordered and asynchronous, events time, errors stay.

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use ascendcl::abi::*;
use support::*;

fn boom() -> Result<(), (i32, String)> {
    Err((507_015, "block 3 of `boom` read past its tile".into()))
}

#[test]
fn a_launch_returns_before_the_kernel_does() {
    child("a_launch_returns_before_the_kernel_does", &[], || {
        begin();
        let stream = stream();
        let (go, wait) = mpsc::channel::<()>();
        assert_eq!(launch(stream, c"slow", move || wait.recv().map_err(|_| (1, String::new()))), 0);
        let mut status = -1;
        // SAFETY: the place is valid for a write.
        assert_eq!(unsafe { aclrtStreamQuery(stream, &mut status) }, 0);
        assert_eq!(status, 1, "not ready");
        go.send(()).unwrap();
        assert_eq!(aclrtSynchronizeStream(stream), 0);
        // SAFETY: as above.
        assert_eq!(unsafe { aclrtStreamQuery(stream, &mut status) }, 0);
        assert_eq!(status, 0, "complete");
        assert_eq!(aclrtDestroyStream(stream), 0);
        assert_eq!(aclrtDestroyStream(stream), 107_003);
    })
    .passed();
}

#[test]
fn copies_and_kernels_run_in_order() {
    child("copies_and_kernels_run_in_order", &[], || {
        begin();
        let (stream, device) = (stream(), malloc(4));
        let address = Address::of(device);
        let (first, mut last) = ([1u8, 2, 3, 4], [0u8; 4]);
        // SAFETY: both arrays live until the stream was synchronized.
        unsafe {
            assert_eq!(aclrtMemcpyAsync(device, 4, first.as_ptr().cast(), 4, 1, stream), 0);
            assert_eq!(aclrtMemsetAsync(device.wrapping_byte_add(2), 2, 9, 2, stream), 0);
            assert_eq!(
                launch(stream, c"one", move || {
                    std::thread::sleep(Duration::from_millis(20));
                    address.write(1, 8);
                    Ok(())
                }),
                0
            );
            assert_eq!(aclrtMemcpyAsync(last.as_mut_ptr().cast(), 4, device, 4, 2, stream), 0);
        }
        assert_eq!(aclrtSynchronizeStream(stream), 0);
        assert_eq!(last, [1, 8, 9, 9]);
    })
    .passed();
}

#[test]
fn an_event_orders_two_streams_and_keeps_the_time() {
    child("an_event_orders_two_streams_and_keeps_the_time", &[], || {
        begin();
        let (one, two) = (stream(), stream());
        let (start, end) = (event(), event());
        let done = Arc::new(AtomicUsize::new(0));
        assert_eq!(aclrtRecordEvent(start, one), 0);
        let writer = Arc::clone(&done);
        launch(one, c"first", move || {
            std::thread::sleep(Duration::from_millis(30));
            writer.store(1, Ordering::SeqCst);
            Ok(())
        });
        assert_eq!(aclrtRecordEvent(end, one), 0);
        assert_eq!(aclrtStreamWaitEvent(two, end), 0);
        let seen = Arc::clone(&done);
        launch(
            two,
            c"second",
            move || if seen.load(Ordering::SeqCst) == 1 { Ok(()) } else { Err((507_015, "early".into())) },
        );
        assert_eq!(aclrtSynchronizeStream(two), 0, "{}", message());
        let mut status = -1;
        let mut ms = 0.0;
        // SAFETY: the places are valid for writes.
        unsafe {
            assert_eq!(aclrtQueryEventStatus(end, &mut status), 0);
            assert_eq!(aclrtEventElapsedTime(&mut ms, start, end), 0);
            assert_eq!(status, 1);
            assert!(ms >= 30.0, "{ms}");
            assert_eq!(aclrtEventElapsedTime(&mut ms, end, start), 107_007);
            assert_eq!(aclrtResetEvent(end, one), 0);
            assert_eq!(aclrtSynchronizeStream(one), 0);
            assert_eq!(aclrtQueryEventStatus(end, &mut status), 0);
            assert_eq!(status, 0, "reset");
            assert_eq!(aclrtEventElapsedTime(&mut ms, start, end), 107_006);
        }
        assert_eq!(aclrtSynchronizeEvent(end), 507_006);
        assert_eq!((aclrtDestroyEvent(end), aclrtDestroyEvent(end)), (0, 107_017));
    })
    .passed();
}

#[test]
fn a_fault_is_said_then_the_device_refuses_until_it_is_reset() {
    child("a_fault_is_said_then_the_device_refuses_until_it_is_reset", &[], || {
        begin();
        let (stream, event) = (stream(), event());
        let buffer = malloc(64);
        launch(stream, c"boom", boom);
        assert_eq!(launch(stream, c"never", || panic!("skipped")), 0, "the host was not told yet");
        assert_eq!(aclrtRecordEvent(event, stream), 0);
        for _ in 0..2 {
            assert_eq!(aclrtSynchronizeStream(stream), 507_015);
            assert_eq!(message(), "block 3 of `boom` read past its tile");
        }
        assert_eq!(aclrtSynchronizeEvent(event), 507_015, "whoever waits is told");
        let mut place = std::ptr::null_mut();
        // SAFETY: the place is valid for a write.
        assert_eq!(unsafe { aclrtMalloc(&mut place, 64, 0) }, 507_899);
        assert!(message().contains("(507015: block 3 of `boom` read past its tile)"), "{}", message());
        assert_eq!(launch(stream, c"again", || Ok(())), 507_899);
        assert_eq!(aclrtSynchronizeStream(std::ptr::null_mut()), 507_899);
        assert_eq!(aclrtPeekAtLastError(0), 507_899);
        assert_eq!((aclrtGetLastError(0), aclrtGetLastError(0)), (507_899, 0));
        assert_eq!(aclrtFree(buffer), 0);

        assert_eq!(aclrtResetDevice(0), 0);
        assert_eq!(aclrtSynchronizeStream(std::ptr::null_mut()), 107_002, "no context after a reset");
        assert_eq!(aclrtSetDevice(0), 0);
        malloc(64);
        assert_eq!(launch(std::ptr::null_mut(), c"well", || Ok(())), 0);
        assert_eq!(aclrtSynchronizeDevice(), 0);
    })
    .passed();
}

#[test]
fn threads_of_a_failed_kernel_do_not_crash_the_process() {
    child("threads_of_a_failed_kernel_do_not_crash_the_process", &[], || {
        begin();
        let pointer = malloc(64);
        let address = Address::of(pointer);
        let (stop, stopped) = mpsc::channel::<()>();
        launch(std::ptr::null_mut(), c"left", move || {
            std::thread::spawn(move || {
                while stopped.try_recv() == Err(mpsc::TryRecvError::Empty) {
                    address.write(0, 1);
                }
            });
            boom()
        });
        assert_eq!(aclrtSynchronizeStream(std::ptr::null_mut()), 507_015);
        assert_eq!(aclrtFree(pointer), 0);
        assert_eq!(aclrtResetDevice(0), 0);
        std::thread::sleep(Duration::from_millis(20));
        stop.send(()).expect("the thread still runs");
    })
    .passed();
}

#[test]
fn a_wait_has_a_limit_and_a_stuck_stream_can_be_abandoned() {
    child("a_wait_has_a_limit_and_a_stuck_stream_can_be_abandoned", &[], || {
        begin();
        let (stream, event) = (stream(), event());
        let (running, started) = mpsc::channel();
        launch(stream, c"stuck", move || {
            running.send(()).unwrap();
            loop {
                std::thread::park();
            }
        });
        started.recv().unwrap();
        assert_eq!(aclrtRecordEvent(event, stream), 0);
        let begun = Instant::now();
        assert_eq!(aclrtSynchronizeStreamWithTimeout(stream, 30), 507_046);
        assert!(begun.elapsed() >= Duration::from_millis(30));
        assert!(message().contains("not done after 30 ms: kernel `stuck`, and 1 more"), "{}", message());
        assert_eq!(aclrtSynchronizeEventWithTimeout(event, 10), 507_047);
        assert_eq!(aclrtSynchronizeDeviceWithTimeout(10), 507_046);
        assert_eq!(aclrtSynchronizeStreamWithTimeout(stream, -2), 107_000);
        malloc(8); // a time-out of the wait is no fault of the device
        assert_eq!(aclrtDestroyStreamForce(stream), 0);
        assert_eq!(aclrtSynchronizeEvent(event), 107_003, "what was dropped is told");
        assert_eq!(aclrtResetDeviceForce(0), 0);
        assert_eq!(aclFinalize(), 0);
    })
    .passed();
}

#[test]
fn arguments_are_dropped_once_whatever_happens() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::SeqCst);
        }
    }
    child("arguments_are_dropped_once_whatever_happens", &[], || {
        let counted = || {
            let counted = Counted;
            move || {
                let _keep = &counted;
                Ok(())
            }
        };
        assert_eq!(launch(std::ptr::null_mut(), c"too early", counted()), 100_001);
        assert_eq!(DROPPED.load(Ordering::SeqCst), 1, "refused");
        begin();
        let stream = stream();
        launch(stream, c"runs", counted());
        assert_eq!(aclrtSynchronizeStream(stream), 0);
        assert_eq!(DROPPED.load(Ordering::SeqCst), 2, "ran");
        launch(stream, c"boom", boom);
        launch(stream, c"skipped", counted());
        assert_eq!(aclrtSynchronizeStream(stream), 507_015);
        assert_eq!(DROPPED.load(Ordering::SeqCst), 3, "skipped");
    })
    .passed();
}

#[test]
fn a_host_function_runs_in_order_with_device_memory_closed() {
    unsafe extern "C" fn touch(argument: *mut std::ffi::c_void) {
        // SAFETY: none: device memory is closed for host code.
        unsafe { argument.cast::<u8>().write_volatile(1) };
    }
    child("a_host_function_runs_in_order_with_device_memory_closed", &[], || {
        begin();
        let device = malloc(16);
        // SAFETY: the function takes any address.
        assert_eq!(unsafe { aclrtLaunchHostFunc(std::ptr::null_mut(), Some(touch), device) }, 0);
        aclrtSynchronizeStream(std::ptr::null_mut());
    })
    .died(libc::SIGSEGV, "host code dereferenced device memory: byte 0 of the 16-byte device buffer #1");
}

#[test]
fn contexts_keep_their_streams_apart() {
    child("contexts_keep_their_streams_apart", &[], || {
        begin();
        let (mut primary, mut other) = (std::ptr::null_mut(), std::ptr::null_mut());
        let own = stream();
        // SAFETY: the places are valid for writes.
        unsafe {
            assert_eq!(aclrtGetCurrentContext(&mut primary), 0);
            assert_eq!(aclrtCreateContext(&mut other, 0), 0);
        }
        assert_ne!(primary, other);
        assert_eq!(aclrtSynchronizeStream(own), 107_003, "a stream of another context");
        assert_eq!(aclrtSetCurrentContext(primary), 0);
        assert_eq!(aclrtSynchronizeStream(own), 0);
        assert_eq!((aclrtDestroyContext(primary), aclrtDestroyContext(other)), (107_000, 0));
        assert_eq!(aclrtSetCurrentContext(other), 107_017);
        let elsewhere = std::thread::spawn(|| aclrtSynchronizeDevice()).join().unwrap();
        assert_eq!(elsewhere, 107_002, "a thread starts without a context");
    })
    .passed();
}

#[test]
fn eight_threads_work_at_once() {
    child("eight_threads_work_at_once", &[], || {
        begin();
        std::thread::scope(|scope| {
            for number in 0..8u8 {
                scope.spawn(move || {
                    assert_eq!(aclrtSetDevice(0), 0);
                    let stream = stream();
                    for round in 0..25 {
                        let device = malloc(1000);
                        let address = Address::of(device);
                        assert_eq!(aclrtMemset(device, 1000, 0, 1000), 0);
                        launch(stream, c"write", move || {
                            (0..1000).for_each(|offset| address.write(offset, number));
                            Ok(())
                        });
                        assert_eq!(aclrtSynchronizeStream(stream), 0, "{}", message());
                        let mut bytes = [0xffu8; 1000];
                        assert_eq!(memcpy(bytes.as_mut_ptr().cast(), device, 1000, 2), 0, "{}", message());
                        assert_eq!(bytes, [number; 1000], "round {round}");
                        assert_eq!(aclrtFree(device), 0);
                    }
                    assert_eq!(aclrtDestroyStream(stream), 0);
                });
            }
        });
        assert_eq!(aclFinalize(), 0);
    })
    .passed();
}

#[test]
fn a_kernel_that_overflows_its_stack_says_so() {
    #[inline(never)]
    #[expect(unconditional_recursion, reason = "this is what is tested")]
    fn deeper(depth: u64) -> u64 {
        let frame = std::hint::black_box([depth; 64]);
        frame[0] + deeper(depth + 1)
    }
    let ended = child("a_kernel_that_overflows_its_stack_says_so", &[], || {
        begin();
        launch(std::ptr::null_mut(), c"deep", || Err((deeper(0) as i32, String::new())));
        aclrtSynchronizeStream(std::ptr::null_mut());
    });
    assert!(ended.signal.is_some(), "{ended:?}");
    assert!(ended.stderr.contains("the stack of this thread overflowed"), "{}", ended.stderr);
}

#[test]
fn a_callback_runs_on_the_thread_that_subscribed() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn count(_: *mut std::ffi::c_void) {
        CALLS.fetch_add(1, Ordering::SeqCst);
    }
    child("a_callback_runs_on_the_thread_that_subscribed", &[], || {
        begin();
        let stream = stream();
        // SAFETY: has no precondition.
        let thread = unsafe { libc::pthread_self() } as u64;
        let blocking = 1;
        // SAFETY: the function takes any argument.
        let launch_callback = || unsafe { aclrtLaunchCallback(Some(count), std::ptr::null_mut(), blocking, stream) };
        assert_eq!((launch_callback(), aclrtProcessReport(1)), (107_015, 107_012));
        assert_eq!(aclrtSubscribeReport(thread, stream), 0);
        assert_eq!(aclrtProcessReport(1), 507_012, "nothing came");
        assert_eq!(launch_callback(), 0);
        assert_eq!(
            launch(stream, c"after", || if CALLS.load(Ordering::SeqCst) == 1 {
                Ok(())
            } else {
                Err((507_015, "early".into()))
            }),
            0
        );
        assert_eq!(aclrtProcessReport(-1), 0);
        assert_eq!(aclrtSynchronizeStream(stream), 0, "{}", message());
        assert_eq!(aclrtUnSubscribeReport(thread, stream), 0);
        assert_eq!(launch_callback(), 107_015);
    })
    .passed();
}
