//! Work on several threads, no more than the machine has processors.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How many threads the machine can run at once.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Calls `work` for each item; results come in the order of the items.
///
/// Items are taken in order, by as many threads as there are processors, `limit` or items, whichever is least. After an
/// error nothing new is started, and the error of the first item that has one is returned, whichever came first in time.
/// For work that waits for children or files, which a pool made for computing must not be blocked with.
///
/// # Errors
/// What `work` returns.
pub fn in_parallel<T: Sync, R: Send, E: Send>(
    items: &[T],
    limit: Option<usize>,
    work: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let threads = limit.unwrap_or(usize::MAX).min(processors()).min(items.len());
    if threads <= 1 {
        return items.iter().map(work).collect();
    }
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let worker = || {
        let mut done = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            let result = work(item);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            done.push((index, result));
        }
        done
    };
    let mut done: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    // Whatever comes before a failed item was taken before it, and so has been done.
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..100).collect();
        for limit in [None, Some(1), Some(7)] {
            let doubled = in_parallel(&items, limit, |item| Ok::<_, ()>(item * 2)).unwrap();
            assert_eq!(doubled, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        }
        assert_eq!(in_parallel(&[(); 0], None, |()| Ok::<(), ()>(())), Ok(vec![]));
    }

    #[test]
    fn the_first_error_wins_and_ends_the_work() {
        let started = AtomicUsize::new(0);
        let items: Vec<usize> = (0..1000).collect();
        let result = in_parallel(&items, None, |item| {
            started.fetch_add(1, Ordering::SeqCst);
            if *item < 5 { Ok(()) } else { Err(*item) }
        });
        assert_eq!(result, Err(5));
        assert!(started.into_inner() <= 5 + processors());
    }

    #[test]
    fn no_more_threads_than_processors() {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let items = [(); 64];
        in_parallel(&items, None, |()| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::yield_now();
            now.fetch_sub(1, Ordering::SeqCst);
            Ok::<(), ()>(())
        })
        .unwrap();
        assert!(most.into_inner() <= processors());
    }
}
