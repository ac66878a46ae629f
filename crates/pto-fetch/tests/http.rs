//! Downloads from a server that misbehaves in every way it can.

use std::sync::Arc;
use std::time::Duration;

use pto_context::{Context, Event, Recorder};
use pto_fetch::{Error, FilePin, Http, HttpProblem, Limits};
use pto_loopback::{Reply, Server};
use pto_store::Store;

const PATH: &str = "/old-owner/tool/v1/tool.whl";
const SIZE: usize = 700_000;

/// Far longer than a busy machine takes to answer: only a server that stalls may be taken for one.
const PATIENCE: Duration = Duration::from_secs(2);

/// A server, a store, and a file that the one has and the other wants.
struct World {
    server: Server,
    dir: tempfile::TempDir,
    bytes: Vec<u8>,
    pin: FilePin,
    events: Arc<Recorder>,
    cx: Context,
}

impl World {
    fn new() -> Self {
        let bytes: Vec<u8> = (0..SIZE).map(|i| (i * i / 7) as u8).collect();
        let dir = tempfile::tempdir().unwrap();
        let original = dir.path().join("tool.whl");
        fs_err::write(&original, &bytes).unwrap();
        let pin = FilePin { file: "tool.whl".into(), sha256: pto_fetch::sha256(&original).unwrap() };
        let events = Arc::new(Recorder::default());
        let cx = Context::fake(dir.path(), [("A", "1")]).with_events(events.clone());
        Self { server: Server::start().unwrap(), dir, bytes, pin, events, cx }
    }

    fn store(&self) -> Store {
        Store::open(self.dir.path().join("store"))
    }

    fn http(&self) -> Http {
        let limits = Limits { patience: PATIENCE, attempts: 3, first_pause: Duration::from_millis(1) };
        Http::new(&self.cx, None).unwrap().with_limits(limits)
    }

    fn whole(&self) -> Reply {
        Reply::body(self.bytes.clone())
    }

    fn get(&self, replies: impl IntoIterator<Item = Reply>) -> Result<pto_fetch::Fetched, Error> {
        self.server.script(PATH, replies);
        self.get_from(&[self.server.url(PATH)])
    }

    fn get_from(&self, urls: &[String]) -> Result<pto_fetch::Fetched, Error> {
        self.pin.download(&self.cx, &self.store(), &self.http(), urls)
    }

    /// Where each request asked to start.
    fn starts(&self) -> Vec<Option<usize>> {
        self.server.requests().iter().map(pto_loopback::Request::range_start).collect()
    }

    #[track_caller]
    fn assert_whole(&self, got: Result<pto_fetch::Fetched, Error>) {
        assert_eq!(fs_err::read(got.unwrap().path).unwrap(), self.bytes);
        // Nothing of the way there is left.
        let left: Vec<_> =
            walk(&self.dir.path().join("store")).into_iter().filter(|name| name.contains("part")).collect();
        assert!(left.is_empty(), "{left:?}");
    }

    /// What the one place that was asked did.
    #[track_caller]
    fn problem(&self, got: Result<pto_fetch::Fetched, Error>) -> (HttpProblem, u32) {
        assert_eq!(self.pin.find(&self.cx, &self.store()).unwrap(), None);
        match got.unwrap_err() {
            Error::Download { failures, .. } => (failures[0].problem.clone(), failures[0].tries),
            other => panic!("{other:?}"),
        }
    }
}

fn walk(dir: &std::path::Path) -> Vec<String> {
    let Ok(listing) = fs_err::read_dir(dir) else { return Vec::new() };
    listing
        .flatten()
        .flat_map(|item| {
            let name = item.file_name().to_string_lossy().into_owned();
            if item.path().is_dir() { walk(&item.path()) } else { vec![name] }
        })
        .collect()
}

#[test]
fn a_file_arrives_is_told_of_and_is_not_asked_for_again() {
    let world = World::new();
    let slow = world.whole().throttle(SIZE * 3);
    world.assert_whole(world.get([slow]));
    let told = world.events.events();
    assert!(matches!(&told[0], Event::Started { total_bytes: Some(size), .. } if *size == SIZE as u64), "{told:?}");
    assert!(told.iter().any(|event| matches!(event, Event::Progress { .. })), "{told:?}");
    let again = world.get([]).unwrap();
    assert_eq!((again.url, world.server.requests().len()), (None, 1));
}

#[test]
fn a_cut_is_continued_where_it_was() {
    let world = World::new();
    let got = world.get([world.whole().cut_after(100_000), world.whole().cut_after(200_000), world.whole()]);
    world.assert_whole(got);
    assert_eq!(world.starts(), [None, Some(100_000), Some(300_000)]);
}

#[test]
fn a_server_without_ranges_starts_again() {
    let world = World::new();
    let got = world.get([world.whole().cut_after(100_000), world.whole().without_ranges()]);
    world.assert_whole(got);
    assert_eq!(world.starts(), [None, Some(100_000)]);
}

#[test]
fn another_run_goes_on_where_the_last_one_was_cut() {
    let world = World::new();
    let (problem, tries) = world.problem(world.get([world.whole().cut_after(50_000), Reply::status(503)]));
    assert_eq!((problem, tries), (HttpProblem::Status { status: 503, retry_after: None }, 4));
    world.assert_whole(world.get([world.whole()]));
    assert_eq!(world.starts().last(), Some(&Some(50_000)));
}

#[test]
fn what_an_earlier_run_left_of_another_file_is_thrown_away() {
    let world = World::new();
    // The part is one of a corrupt file: its sum is wrong, so it is fetched once more from the start.
    world.problem(world.get([world.whole().corrupt(7).cut_after(50_000), Reply::status(503)]));
    world.assert_whole(world.get([world.whole()]));
    assert_eq!(world.starts().iter().rev().take(2).collect::<Vec<_>>(), [&None, &Some(50_000)]);
    // And so is one that is longer than the file.
    let world = World::new();
    let longer = [world.bytes.clone(), vec![0; 10]].concat();
    world.problem(world.get([Reply::body(longer.clone()).cut_after(longer.len() - 1), Reply::status(503)]));
    world.assert_whole(world.get([world.whole()]));
}

#[test]
fn a_stall_is_noticed_and_continued() {
    let world = World::new();
    world.assert_whole(world.get([world.whole().stall_after(300_000), world.whole()]));
    assert_eq!(world.starts(), [None, Some(300_000)]);
    let world = World::new();
    let (problem, tries) = world.problem(world.get([world.whole().stall_after(0)]));
    assert_eq!((problem, tries), (HttpProblem::Stalled(PATIENCE), 3));
}

#[test]
fn what_may_pass_is_tried_again_and_what_will_not_is_not() {
    let world = World::new();
    world.assert_whole(world.get([Reply::status(503), Reply::status(429), world.whole()]));
    for status in [400, 401, 403, 404, 410, 501] {
        let world = World::new();
        let (problem, tries) = world.problem(world.get([Reply::status(status), world.whole()]));
        assert_eq!((problem, tries), (HttpProblem::Status { status, retry_after: None }, 1));
    }
}

#[test]
fn another_file_is_refused_and_deleted() {
    let world = World::new();
    let got = world.get([world.whole().corrupt(SIZE / 2)]);
    let error = got.unwrap_err();
    let text = error.to_string();
    assert!(matches!(&error, Error::Checksum { expected, .. } if *expected == world.pin.sha256), "{error:?}");
    assert!(text.contains(&world.server.url(PATH)) && text.contains(&world.pin.sha256), "{text}");
    assert_eq!(walk(&world.dir.path().join("store")), Vec::<String>::new());
}

#[test]
fn a_cut_that_cannot_be_seen_is_another_file() {
    let world = World::new();
    let got = world.get([world.whole().without_length().cut_after(1000)]);
    assert!(matches!(got, Err(Error::Checksum { .. })), "{got:?}");
    world.assert_whole(world.get([world.whole().without_length()]));
}

#[test]
fn redirects_to_another_owner_and_host_are_followed_and_said() {
    let world = World::new();
    let other = Server::start().unwrap();
    other.script("/files/tool.whl", [world.whole()]);
    world.server.script("/new-owner/tool/v1/tool.whl", [Reply::redirect(302, other.url("/files/tool.whl"))]);
    let got = world.get([Reply::redirect(301, "/new-owner/tool/v1/tool.whl")]).unwrap();
    assert_eq!(got.url, Some(other.url("/files/tool.whl")));
    world.assert_whole(Ok(got));

    let world = World::new();
    let (problem, tries) = world.problem(world.get([Reply::redirect(302, PATH)]));
    assert!(matches!(problem, HttpProblem::Lasting(_)) && tries == 1, "{problem:?}");
}

#[test]
fn a_moved_file_that_is_gone_says_where_it_led() {
    let world = World::new();
    let error = world.get([Reply::redirect(301, "/new-owner/gone.whl")]).unwrap_err();
    let expected = format!(
        "cannot get `tool.whl` from `{}`, which led to `{}`: the server answered 404",
        world.server.url(PATH),
        world.server.url("/new-owner/gone.whl")
    );
    assert_eq!(error.to_string(), expected);
    assert!(error.is_missing() && error.hint().unwrap().contains("no such file"));
}

#[test]
fn the_next_mirror_is_asked() {
    let world = World::new();
    world.server.script("/bad/tool.whl", [world.whole().corrupt(1)]);
    world.server.script("/good/tool.whl", [world.whole()]);
    let urls = ["/none/tool.whl", "/bad/tool.whl", "/good/tool.whl"].map(|path| world.server.url(path));
    let got = world.get_from(&urls).unwrap();
    assert_eq!(got.url.as_ref(), Some(&urls[2]));
    world.assert_whole(Ok(got));
    let warned = world.events.events().iter().filter(|event| matches!(event, Event::Warning { .. })).count();
    assert_eq!(warned, 2);
}

#[test]
fn a_damaged_file_of_the_store_is_replaced() {
    let world = World::new();
    let path = world.get([world.whole()]).unwrap().path;
    fs_err::write(&path, b"damaged").unwrap();
    world.assert_whole(world.get([world.whole()]));
    assert_eq!(world.server.requests().len(), 2);
}

#[test]
fn a_proxy_gets_its_password_and_nobody_else_sees_it() {
    let world = World::new();
    let proxy = Server::start().unwrap();
    proxy.demand_proxy_password("me:s3cret");
    world.server.script(PATH, [world.whole()]);
    let urls = [world.server.url(PATH)];
    let through = |proxy: &str| {
        let http = Http::new(&world.cx, Some(proxy)).unwrap();
        let limits = Limits { attempts: 1, ..Limits::default() };
        world.pin.download(&world.cx, &world.store(), &http.with_limits(limits), &urls)
    };
    let refused = through(&format!("http://me:wr0ng@{}", proxy.address())).unwrap_err();
    let text = format!("{refused} {refused:?} {:?}", world.events.events());
    assert!(text.contains("407") && !text.contains("wr0ng"), "{text}");
    world.assert_whole(through(&format!("http://me:s3cret@{}", proxy.address())));
    assert!(proxy.requests().iter().all(|request| request.method == "CONNECT"));
    let text = format!("{:?}", world.events.events());
    assert!(!text.contains("s3cret"), "{text}");
}

#[test]
fn a_password_in_a_url_is_sent_and_not_shown() {
    let world = World::new();
    world.server.script(PATH, [Reply::status(404)]);
    let url = world.server.url(PATH).replace("://", "://me:s3cret@");
    let error = world.get_from(&[url]).unwrap_err();
    let text = format!("{error} {error:?}");
    assert!(text.contains("://***@") && !text.contains("s3cret"), "{text}");
    assert!(world.server.requests()[0].header("authorization").is_some_and(|value| value.starts_with("Basic ")));
}

#[test]
fn a_file_is_found_in_a_package_index() {
    let world = World::new();
    let page =
        "<a href=\"../../files/tool-1.whl#sha256=0\">tool-1.whl</a> <a href=\"../../files/tool.whl\">tool.whl</a>";
    world.server.script("/simple/tool/", [Reply::body(page)]);
    world.server.script("/files/tool.whl", [world.whole()]);
    let index = world.server.url("/simple/");
    let url = world.http().find_in_index(&index, "tool", "tool.whl").unwrap();
    assert_eq!(url, world.server.url("/files/tool.whl"));
    world.assert_whole(world.get_from(&[url]));
    let error = world.http().find_in_index(&index, "tool", "tool-2.whl").unwrap_err();
    assert!(error.to_string().ends_with("has no `tool-2.whl`; it has `tool-1.whl`, `tool.whl`"), "{error}");
    assert!(world.http().find_in_index(&index, "none", "x.whl").unwrap_err().is_missing());
}

#[test]
fn what_the_disk_has_no_room_for_is_not_begun() {
    let world = World::new();
    let huge = world.whole().without_length().header("Content-Length", (1u64 << 60).to_string());
    let error = world.get([huge]).unwrap_err();
    assert!(error.to_string().starts_with("no space left: cannot write under "), "{error}");
    assert_eq!(world.starts(), [None], "it is not asked for again");
}
