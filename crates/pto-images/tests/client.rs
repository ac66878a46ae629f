//! The client against a server that answers as registries do, and as what stands before them does.

use std::time::Duration;

use pto_images::Error;
use pto_images::registry::{Client, Credentials, Deletion, Digest, Limits, Options, Problem, Repository};
use pto_loopback::{Reply, Server};

const TYPE: &str = "application/vnd.oci.image.manifest.v1+json";

fn manifest() -> Vec<u8> {
    format!(r#"{{"config":{{"digest":"{}"}}}}"#, Digest::of(b"config")).into_bytes()
}

fn reply() -> Reply {
    Reply::body(manifest()).header("Content-Type", TYPE)
}

fn unknown() -> Reply {
    Reply::body(r#"{"errors":[{"code":"MANIFEST_UNKNOWN"}]}"#).with_status(404)
}

fn client(server: &Server, credentials: Option<Credentials>) -> Client {
    let limits = Limits {
        patience: Duration::from_secs(20),
        attempts: 3,
        first_pause: Duration::ZERO,
        longest_pause: Duration::ZERO,
    };
    let repository: Repository = format!("{}/a/b", server.address()).parse().unwrap();
    let options = Options { credentials, limits, ..Options::default() };
    Client::new(&pto_test::machine(), repository, options).unwrap()
}

fn me() -> Option<Credentials> {
    Some(Credentials { user: "me".to_owned(), password: "s3cret".to_owned() })
}

fn problem(result: Result<impl std::fmt::Debug, Error>) -> (Problem, u32) {
    match result.unwrap_err() {
        Error::Registry(failed) => (failed.problem, failed.tries),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_token_is_fetched_once_and_the_password_goes_nowhere_else() {
    let server = Server::start().unwrap();
    let challenge =
        format!(r#"Bearer realm="{}",service="reg",scope="repository:a/b:pull,push""#, server.url("/token"));
    server.script("/v2/a/b/manifests/t", [Reply::status(401).header("WWW-Authenticate", challenge), reply()]);
    let token = "/token?service=reg&scope=repository%3Aa%2Fb%3Apull%2Cpush";
    server.script(token, [Reply::body(r#"{"access_token":"t0ken"}"#)]);
    let client = client(&server, me());
    assert_eq!(client.manifest("t").unwrap().unwrap().bytes(), manifest());
    client.manifest("t").unwrap();
    let seen: Vec<_> =
        server.requests().iter().map(|r| (r.path.clone(), r.header("authorization").map(str::to_owned))).collect();
    let bearer = Some("Bearer t0ken".to_owned());
    let path = "/v2/a/b/manifests/t".to_owned();
    assert_eq!(
        seen,
        [
            (path.clone(), None),
            (token.to_owned(), Some("Basic bWU6czNjcmV0".to_owned())),
            (path.clone(), bearer.clone()),
            (path, bearer)
        ]
    );
}

#[test]
fn a_password_is_not_sent_where_others_can_read_it() {
    let server = Server::start().unwrap();
    let challenge = r#"Bearer realm="http://elsewhere.example/token",service="reg""#;
    server.script("/v2/a/b/manifests/t", [Reply::status(401).header("WWW-Authenticate", challenge)]);
    let (found, tries) = problem(client(&server, me()).manifest("t"));
    assert!(matches!(&found, Problem::Lasting(text) if text.contains("not safe")), "{found:?}");
    assert_eq!((tries, server.requests().len()), (1, 1));

    // The registry sends readers of blobs to its store, which is not told who we are.
    let config = br#"{"os":"linux","architecture":"arm64"}"#;
    let image = format!(r#"{{"config":{{"digest":"{}"}}}}"#, Digest::of(config));
    let (store, registry) = (Server::start().unwrap(), Server::start().unwrap());
    store.script("/blob", [Reply::body(*config)]);
    let asked = || Reply::status(401).header("WWW-Authenticate", "Basic realm=x");
    registry.script("/v2/a/b/manifests/t", [asked(), Reply::body(image).header("Content-Type", TYPE)]);
    registry.script(&format!("/v2/a/b/blobs/{}", Digest::of(config)), [Reply::redirect(307, store.url("/blob"))]);
    let client = client(&registry, me());
    let manifest = client.manifest("t").unwrap().unwrap();
    assert_eq!(client.facts(&manifest).unwrap().platforms[0].to_string(), "linux/arm64");
    assert!(registry.requests().last().unwrap().header("authorization").is_some());
    assert_eq!(store.requests()[0].header("authorization"), None);
}

#[test]
fn what_a_registry_repeats_of_a_login_is_not_shown() {
    for status in [401, 500] {
        let server = Server::start().unwrap();
        let body = r#"{"errors":[{"code":"NO","message":"bad: bWU6czNjcmV0 of me:s3cret"}]}"#;
        let asked = Reply::status(401).header("WWW-Authenticate", "Basic realm=x");
        server.script("/v2/a/b/manifests/t", [asked, Reply::body(body).with_status(status)]);
        let error = client(&server, me()).manifest("t").unwrap_err().to_string();
        assert!(error.contains("NO (bad: *** of me:***)"), "{error}");
    }
}

#[test]
fn a_user_in_the_address_of_the_token_service_fools_nobody() {
    let (registry, elsewhere) = (Server::start().unwrap(), Server::start().unwrap());
    for realm in [
        format!("http://127.0.0.1:80@{}/token", elsewhere.address()),
        format!("http://me:pw@{}/token", elsewhere.address()),
        format!("http://127.0.0.1\\@{}/token", elsewhere.address()),
    ] {
        let challenge = format!(r#"Bearer realm="{realm}",service="reg""#);
        registry.script("/v2/a/b/manifests/t", [Reply::status(401).header("WWW-Authenticate", challenge)]);
        let (found, tries) = problem(client(&registry, me()).manifest("t"));
        let text = found.to_string();
        assert!(text.contains("not safe") && text.contains("/token") && !text.contains("me:pw"), "{text}");
        assert_eq!((tries, elsewhere.requests().len()), (1, 0), "{text}");
    }
}

#[test]
fn only_bytes_with_a_known_digest_are_fetched_elsewhere() {
    let (registry, elsewhere) = (Server::start().unwrap(), Server::start().unwrap());
    elsewhere.script("/m", [reply()]);
    registry.script("/v2/a/b/manifests/t", [Reply::redirect(307, elsewhere.url("/m"))]);
    registry.script("/v2/a/b/tags/list?n=1000", [Reply::redirect(302, elsewhere.url("/m"))]);
    let client = client(&registry, me());
    let place = elsewhere.url("/m");
    for failed in [problem(client.manifest("t")), problem(client.tags()), problem(client.delete_tag("t"))] {
        assert_eq!(failed, (Problem::Elsewhere { place: place.clone() }, 1));
    }

    // Nor does the place of the bytes learn who we are by asking.
    let image = format!(r#"{{"config":{{"digest":"{}"}}}}"#, Digest::of(b"config"));
    let blob = format!("/v2/a/b/blobs/{}", Digest::of(b"config"));
    let (asks, service) = (Server::start().unwrap(), Server::start().unwrap());
    let challenge = format!(r#"Bearer realm="{}""#, service.url("/token"));
    asks.script("/blob", [Reply::status(401).header("WWW-Authenticate", challenge)]);
    registry.script("/v2/a/b/manifests/t", [Reply::body(image).header("Content-Type", TYPE)]);
    registry.script(&blob, [Reply::redirect(307, asks.url("/blob"))]);
    let manifest = client.manifest("t").unwrap().unwrap();
    assert!(matches!(problem(client.facts(&manifest)).0, Problem::Denied { status: 401, .. }));
    assert!(service.requests().is_empty());
}

#[test]
fn what_a_registry_says_is_one_clean_line() {
    let server = Server::start().unwrap();
    let said = format!(r#"{{"errors":[{{"code":"DENIED","message":"\u001b[2Jno\nway {}"}}]}}"#, "o".repeat(2 << 20));
    server.script("/v2/a/b/manifests/t", [Reply::body(said).with_status(403)]);
    let text = problem(client(&server, None).manifest("t")).0.to_string();
    assert!(text.contains("DENIED ( [2Jno way ooo") && text.len() < 500, "{}", text.len());
    assert!(!text.contains(char::is_control));
}

#[test]
fn an_answer_that_comes_byte_by_byte_ends() {
    let server = Server::start().unwrap();
    // Every byte comes well within the patience, and all of them would take an hour.
    server.script("/v2/a/b/manifests/t", [Reply::body("x".repeat(3600 * 20)).throttle(20)]);
    let limits = Limits { patience: Duration::from_millis(500), attempts: 1, ..Limits::default() };
    let repository: Repository = format!("{}/a/b", server.address()).parse().unwrap();
    let client = Client::new(&pto_test::machine(), repository, Options { limits, ..Options::default() }).unwrap();
    let found = problem(client.manifest("t")).0;
    assert!(matches!(found, Problem::Slow(_) | Problem::Stalled(_)), "{found:?}");
}

#[test]
fn what_may_pass_is_tried_again_and_what_will_not_is_not() {
    let server = Server::start().unwrap();
    let client = client(&server, None);
    server.script("/v2/a/b/manifests/t", [Reply::status(429).header("Retry-After", "1"), Reply::status(503), reply()]);
    assert!(client.manifest("t").unwrap().is_some());
    server.script("/v2/a/b/manifests/t", [Reply::status(500)]);
    assert_eq!(problem(client.manifest("t")).1, 3);
    server.script("/v2/a/b/manifests/t", [Reply::status(403)]);
    let (found, tries) = problem(client.manifest("t"));
    assert!(matches!(found, Problem::Denied { status: 403, .. }) && tries == 1, "{found:?}");
}

#[test]
fn only_a_registry_says_that_something_is_absent() {
    let server = Server::start().unwrap();
    let client = client(&server, None);
    server.script("/v2/a/b/manifests/t", [unknown()]);
    assert_eq!(client.manifest("t").unwrap(), None);
    server.script("/v2/a/b/manifests/t", [Reply::body("<html>no such page</html>").with_status(404)]);
    assert!(matches!(problem(client.manifest("t")).0, Problem::Status { status: 404, .. }));
    server.script("/v2/a/b/manifests/t", [Reply::body("<html>welcome</html>").header("Content-Type", "text/html")]);
    assert!(matches!(problem(client.manifest("t")).0, Problem::Malformed(_)));
}

#[test]
fn digests_are_of_the_bytes_that_came() {
    let server = Server::start().unwrap();
    let client = client(&server, None);
    let wrong = Digest::of(b"other").to_string();
    server.script("/v2/a/b/manifests/t", [reply().header("Docker-Content-Digest", wrong.clone()), reply()]);
    assert_eq!(client.manifest("t").unwrap().unwrap().digest(), &Digest::of(&manifest()));
    server.script(&format!("/v2/a/b/manifests/{wrong}"), [reply()]);
    assert!(matches!(problem(client.manifest(&wrong)).0, Problem::OtherBytes { .. }));
}

#[test]
fn tags_come_in_pages_and_go_by_name() {
    let server = Server::start().unwrap();
    let client = client(&server, None);
    let next = r#"</v2/a/b/tags/list?n=1000&last=b>; rel="next""#;
    server.script("/v2/a/b/tags/list?n=1000", [Reply::body(r#"{"name":"a/b","tags":["a","b"]}"#).header("Link", next)]);
    server.script("/v2/a/b/tags/list?n=1000&last=b", [Reply::body(r#"{"name":"a/b","tags":["c"]}"#)]);
    assert_eq!(client.tags().unwrap().unwrap(), ["a", "b", "c"]);

    let unsupported = |status| Reply::body(r#"{"errors":[{"code":"UNSUPPORTED"}]}"#).with_status(status);
    let old = Reply::body(r#"{"errors":[{"code":"DIGEST_INVALID"}]}"#).with_status(400);
    for (reply, expected) in [
        (Reply::status(202), Deletion::Deleted),
        (unknown(), Deletion::WasAbsent),
        (unsupported(405), Deletion::Unsupported),
        (unsupported(400), Deletion::Unsupported),
        (old, Deletion::Unsupported),
        (Reply::status(405), Deletion::Unsupported),
    ] {
        server.script("/v2/a/b/manifests/t", [reply]);
        assert_eq!(client.delete_tag("t").unwrap(), expected);
    }
    // A refusal that is none of a registry's is no "unsupported".
    server.script("/v2/a/b/manifests/t", [Reply::status(400)]);
    assert!(client.delete_tag("t").is_err());
    assert!(server.requests().iter().filter(|request| request.method == "DELETE").all(|r| !r.path.contains("sha256")));
}

#[test]
fn without_tls_only_on_this_machine() {
    let repository: Repository = "registry.invalid/a".parse().unwrap();
    let limits = Limits { attempts: 1, ..Limits::default() };
    let client = Client::new(&pto_test::machine(), repository, Options { limits, ..Options::default() }).unwrap();
    let error = client.manifest("t").unwrap_err().to_string();
    assert!(error.contains("https://registry.invalid/v2/a/"), "{error}");
}

#[test]
fn a_registry_elsewhere_is_asked_through_the_proxy_that_is_given_and_no_other() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = format!("http://user:geheim@{}", listener.local_addr().unwrap());
    let seen = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = String::new();
        while !request.ends_with("\r\n\r\n") {
            let mut byte = [0];
            std::io::Read::read_exact(&mut stream, &mut byte).unwrap();
            request.push(char::from(byte[0]));
        }
        std::io::Write::write_all(&mut stream, b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n").unwrap();
        request
    });
    let limits = Limits { attempts: 1, ..Limits::default() };
    let options = Options { proxy: Some(proxy), limits, ..Options::default() };
    // The environment's are not for registries.
    let cx =
        pto_test::machine().with_var("https_proxy", "http://127.0.0.1:9").with_var("HTTPS_PROXY", "http://127.0.0.1:9");
    let client = Client::new(&cx, "registry.invalid/vendor/cann".parse().unwrap(), options.clone()).unwrap();
    let error = client.manifest("9.2.0").unwrap_err();
    let request = seen.join().unwrap();
    assert!(request.starts_with("CONNECT registry.invalid:443 "), "{request}");
    assert!(!format!("{error} {error:?}").contains("geheim"), "{error:?}");
    let none = Options { proxy: Some("geheim ist keiner".into()), ..options };
    let error = Client::new(&cx, "registry.invalid/x".parse().unwrap(), none).unwrap_err();
    assert!(matches!(error, Error::NoProxy) && !format!("{error:?}").contains("geheim"), "{error:?}");
}

#[test]
fn a_list_of_tags_without_end_is_no_list() {
    let server = Server::start().unwrap();
    let next = |query: &str| format!("</v2/a/b/tags/list?{query}>; rel=\"next\"");
    // Pages of one tag: after the last that is asked for there is still another.
    let page = |tag: &str| Reply::body(format!(r#"{{"tags":["{tag}"]}}"#)).header("Link", next("n=1"));
    server.script("/v2/a/b/tags/list?n=1000", [page("a")]);
    server.script("/v2/a/b/tags/list?n=1", std::iter::repeat_with(|| page("b")).take(2000));
    let (failed, _) = problem(client(&server, None).tags());
    assert!(matches!(&failed, Problem::Malformed(why) if why.contains("goes on after 1000 tags")), "{failed:?}");
    assert_eq!(server.requests().len(), 1000);

    // Pages that are large.
    let server = Server::start().unwrap();
    let large = format!(r#"{{"tags":["{}"]}}"#, "x".repeat(7 << 20));
    let page = || Reply::body(large.clone()).header("Link", next("n=1"));
    server.script("/v2/a/b/tags/list?n=1000", [page()]);
    server.script("/v2/a/b/tags/list?n=1", std::iter::repeat_with(page).take(20));
    let (failed, _) = problem(client(&server, None).tags());
    assert!(matches!(&failed, Problem::Malformed(why) if why.contains("goes on after 10 tags")), "{failed:?}");
}
