//! What is read of Docker's output, and what is not.

mod support;

use pto_platform::docker::{parse_docker_info, parse_docker_inspect};
use support::fixture;

#[test]
fn an_engine_with_the_ascend_runtime() {
    let info = parse_docker_info(&fixture("docker-info.json.txt"));
    assert!(info.has_ascend_runtime());
    assert_eq!((info.server_version.as_deref(), info.root_dir.as_deref()), (Some("27.2.0"), Some("/data/docker")));
    assert_eq!(info.proxies.http.as_deref(), Some("http://***@proxy.example:3128"));
    assert_eq!((info.proxies.https, info.proxies.no_proxy.as_deref()), (None, Some("localhost,.example")));
    assert_eq!(info.notes, []);

    let runtimes = parse_docker_info(r#"{"ascend":{"path":"/opt/a"},"runc":{"path":"runc","status":{}}}"#);
    assert!(runtimes.has_ascend_runtime());
}

#[test]
fn an_engine_without_it() {
    let info = parse_docker_info(&fixture("docker-info.txt"));
    assert!(!info.has_ascend_runtime());
    assert_eq!((info.runtimes.len(), info.server_version.as_deref()), (2, Some("26.1.4")));
    assert_eq!(info.proxies.https.as_deref(), Some("http://***@proxy.example:3128"));

    let dead = parse_docker_info(r#"{"ServerErrors":["Cannot connect to the Docker daemon"],"Runtimes":null}"#);
    assert_eq!((dead.errors.len(), dead.server_version), (1, None));
    for text in ["", "Cannot connect to the Docker daemon", "[]"] {
        assert_eq!(parse_docker_info(text).notes.len(), 1, "{text}");
    }
}

#[test]
fn containers_and_the_npus_they_share() {
    let inspection = parse_docker_inspect(&fixture("docker-inspect.json.txt"));
    let npus: Vec<_> = inspection.containers.iter().map(|one| (one.name.as_deref().unwrap(), one.npus())).collect();
    assert_eq!(npus, [("train-a", vec![1, 2]), ("infer-b", vec![2]), ("old-c", vec![1])]);

    let shared = inspection.shared_npus();
    assert_eq!(shared.len(), 1, "an exited container holds nothing");
    assert_eq!((shared[0].0, shared[0].1.len()), (2, 2));

    let infer = &inspection.containers[1];
    assert!(infer.has_path("/usr/local/Ascend/driver/version.info") && infer.has_path("/dev/davinci_manager"));
    assert!(!infer.has_path("/usr/local/dcmi") && !infer.has_path("/usr/local/Ascend/driver2"));
    assert_eq!((infer.pid, infer.user.as_deref(), infer.groups.len()), (Some(5002), Some("1000:1000"), 1));
    assert_eq!(infer.mounts.iter().map(|mount| mount.writable).collect::<Vec<_>>(), [false, true]);
    assert_eq!(inspection.containers[0].env("ASCEND_RT_VISIBLE_DEVICES"), Some("0"));
    assert_eq!(inspection.containers[2].pid, None);

    let image = &inspection.images[0];
    assert_eq!(
        (image.architecture.as_deref(), image.size, image.digests.len()),
        (Some("arm64"), Some(16_700_000_000), 1)
    );
    assert_eq!(inspection.notes.len(), 1);
}

#[test]
fn secrets_do_not_get_in() {
    let inspected = serde_json::to_string(&parse_docker_inspect(&fixture("docker-inspect.json.txt"))).unwrap();
    let info = serde_json::to_string(&parse_docker_info(&fixture("docker-info.json.txt"))).unwrap();
    let plain = serde_json::to_string(&parse_docker_info(&fixture("docker-info.txt"))).unwrap();
    for (name, output) in
        [("docker-inspect.json.txt", inspected), ("docker-info.json.txt", info), ("docker-info.txt", plain)]
    {
        assert!(fixture(name).contains("planted-secret"), "{name}");
        assert!(!output.contains("planted-secret"), "{name}: {output}");
    }
}

#[test]
fn members_of_other_types_cost_themselves_alone() {
    let text = r#"[{"State": 7, "Name": ["x"], "HostConfig": {"Devices": "none", "Privileged": "yes", "ShmSize": -1}, "Config": null}, 5]"#;
    let inspection = parse_docker_inspect(text);
    assert_eq!((inspection.containers.len(), inspection.notes.len()), (1, 1));
    assert!(!inspection.containers[0].is_running() && inspection.containers[0].devices.is_empty());
}

#[test]
fn our_own_labels_are_kept() {
    let text = r#"[{"State": {"Status": "created"}, "Image": "sha256:12", "Config": {"Tty": true, "Labels":
        {"ptokit.container": "{}", "maintainer": "planted-secret", "ptokit.number": 5}}},
        {"RepoTags": [], "Config": {"Labels": {"ptokit.target": "sim"}, "Env": ["PYPTO_CANN_TAG=9.2.0", "A=b"]}}]"#;
    let inspection = parse_docker_inspect(text);
    let (container, image) = (&inspection.containers[0], &inspection.images[0]);
    assert_eq!((container.image_id.as_deref(), container.tty), (Some("sha256:12"), true));
    assert_eq!(container.labels.iter().collect::<Vec<_>>(), [(&"ptokit.container".to_owned(), &"{}".to_owned())]);
    assert_eq!((image.labels.len(), image.env("PYPTO_CANN_TAG"), image.env("A")), (1, Some("9.2.0"), None));
}
