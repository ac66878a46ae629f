//! `docker/images.json`: as it is, and with every mistake that it can have.

use std::collections::BTreeSet;
use std::path::Path;

use pto_images::config::{Config, Findings, Severity};
use pto_process::Invocation;
use serde_json::{Value, json};

fn root(file: &str) -> String {
    fs_err::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)).unwrap()
}

fn value() -> Value {
    serde_json::from_str(&root("docker/images.json")).unwrap()
}

fn parse(value: &Value) -> Result<(Config, Findings), Findings> {
    Config::parse(Path::new("images.json"), &value.to_string())
}

/// The places and words of what is wrong after a change.
fn mistakes(change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut value = value();
    change(&mut value);
    let findings = parse(&value).map(|(_, findings)| findings).unwrap_or_else(|findings| findings);
    let errors = findings.findings.iter().filter(|finding| finding.severity == Severity::Error);
    errors.map(|finding| format!("{} {}", finding.place, finding.message)).collect()
}

#[test]
fn the_file_of_the_workspace_is_right() {
    let (config, findings) = parse(&value()).unwrap();
    let enabled: Vec<_> = config.images.iter().filter(|image| image.enabled).map(|image| image.tag.as_str()).collect();
    assert_eq!(enabled, ["arm-a2a3-cann9.2-dist", "arm-a5-cann9.2-dist", "x86-a5-cann9.2-dist"]);
    assert_eq!(config.image("x86-a2a3").unwrap().needs.len(), 4);
    assert_eq!(findings.errors(), 0);
}

#[test]
fn each_mistake_is_found_at_its_place() {
    type Change = fn(&mut Value);
    let table: &[(Change, &str)] = &[
        (
            |v| v["images"][1]["tag"] = v["images"][0]["tag"].clone(),
            "/images/1/tag `arm-a2a3-cann9.2-dist`, the current tag of `arm-a5`, is the current tag of `arm-a2a3`",
        ),
        (|v| v["images"][1]["tag"] = "arm-a2a3-cann9.2-dist-previous".into(), "is the previous tag of `arm-a2a3`"),
        (|v| v["images"][3]["tag"] = "x86-a5-cann9.2-dist-previous".into(), "/images/3/tag"),
        (|v| v["images"][1]["tag"] = "a3-dist".into(), "is a legacy tag"),
        (|v| v["images"][1]["tag"] = "arm-a2a3-cann9.2-dist-1-2".into(), "an upload of `arm-a2a3` could be called"),
        (|v| v["images"][1]["name"] = "arm-a2a3".into(), "/images/1/name `arm-a2a3` is the name of image 0 as well"),
        (|v| v["images"][0]["name"] = "ARM".into(), "/images/0/name `ARM` is not a name"),
        (
            |v| v["images"][0]["runner"] = json!([]),
            "/images/0/runner there is no key `runner`; did you mean `runners`?",
        ),
        (|v| v["surprise"] = 1.into(), "/surprise there is no key `surprise`"),
        (|v| v["recipe"]["x"] = 1.into(), "/recipe/x there is no key `x`"),
        (
            |v| drop(v["images"][0].as_object_mut().unwrap().remove("cann_digest")),
            "/images/0 the key `cann_digest` is missing",
        ),
        (|v| v["images"][0]["cann_digest"] = "sha256:12".into(), "/images/0/cann_digest `sha256:12` is not a digest"),
        (|v| v["images"][0]["driver"] = " 26.0.RC1".into(), "is not as a host says it; expected `26.0.rc1`"),
        (|v| v["images"][0]["name"] = "--json".into(), "/images/0/name `--json` is not a name"),
        (|v| v["images"][0]["single_args"] = json!(["a\u{0}b"]), "/images/0/single_args an argument has a control"),
        (|v| v["images"][0]["single_args"] = json!(["x".repeat(20_000)]), "they have 20000 letters, expected at most"),
        (|v| v["images"][0]["devices"] = json!(["/dev/a//b"]), "`/dev/a//b` is not a device node"),
        (|v| v["images"][0]["devices"] = json!(["/dev/a\nb"]), "is not a device node"),
        (|v| v["images"][0]["runners"].as_array_mut().unwrap().push("X64".into()), "`X64` is of another architecture"),
        (
            |v| v["images"][0]["runners"].as_array_mut().unwrap().push("ARM64".into()),
            "the label `ARM64` is there twice",
        ),
        (|v| v["images"][3]["needs"] = json!([""]), "/images/3/needs an entry is empty"),
        (|v| v["legacy_tags"] = json!(["a b"]), "/legacy_tags/0 `a b` is not a tag"),
        (|v| v["legacy_tags"] = json!(["a", "a"]), "/legacy_tags/1 `a` is there twice"),
        (|v| v["repository"] = "h.example:99999/a/b".into(), "/repository"),
        (
            |v| v["recipe"]["branch"] = "refs/heads/main".into(),
            "/recipe/branch `refs/heads/main` is not the name of a branch",
        ),
        (|v| v["recipe"]["branch"] = "HEAD".into(), "/recipe/branch `HEAD` is not the name"),
        (|v| v["recipe"]["branch"] = "0".repeat(40).into(), "is not the name of a branch"),
        (|v| v["images"][0]["a/b"] = 1.into(), "/images/0/a~1b there is no key `a/b`"),
        (|v| v["images"][0]["cann_tag"] = "latest".into(), "/images/0/cann_tag `latest` does not pin CANN 9.2.0"),
        (|v| v["images"][0]["cann_tag"] = "9.0.0-a3".into(), "does not pin CANN 9.2.0"),
        (|v| v["images"][1]["cann_tag"] = "9.2.0-a3-ubuntu22.04".into(), "is for other chips than a5, by its `a3`"),
        (|v| v["images"][0]["cann_tag"] = "9.2.0-950-ubuntu22.04".into(), "is for other chips than a2a3, by its `950`"),
        (|v| v["images"][0]["devices"] = json!(["/dev/"]), "`/dev/` is not a device node"),
        (|v| v["images"][0]["devices"] = json!(["/dev/x", "/dev/x"]), "/images/0/devices `/dev/x` is there twice"),
        (|v| v["images"][0]["single_script"] = "a\nb.py".into(), "/images/0/single_script"),
        (|v| v["images"][0]["cann_tag"] = "9.2.0evil".into(), "does not pin CANN 9.2.0; expected `9.2.0-...`"),
        (|v| v["images"][0]["cann_version"] = "9.2".into(), "does not pin CANN 9.2;"),
        (|v| v["images"][0]["cann_version"] = "".into(), "does not pin CANN ;"),
        (|v| v["images"][0]["runner_name"] = " ".into(), "/images/0/runner_name it is empty"),
        (
            |v| v["images"][0]["name"] = "a".repeat(65).into(),
            "/images/0/name a name of 65 letters, expected at most 64",
        ),
        (|v| v["images"][0]["driver"] = "26.0\n\u{1b}[2J".into(), "/images/0/driver `26.0\u{fffd}\u{fffd}[2J`"),
        (|v| v["recipe"]["branch"] = "a..b".into(), "/recipe/branch `a..b` is not a name that git takes"),
        (|v| v["recipe"]["branch"] = "main.lock".into(), "/recipe/branch"),
        (|v| v["pypto_lib"]["ref"] = "main^{commit}".into(), "/pypto_lib/ref"),
        (
            |v| v["pypto"]["repository"] = "https://h/x?token=abc".into(),
            "/pypto/repository what follows the `?` may be a token",
        ),
        (|v| v["images"][0]["cann_repository"] = "ascend/cann:9".into(), "/images/0/cann_repository"),
        (
            |v| v["task_timeout_seconds"] = 1800.into(),
            "/task_timeout_seconds 1800 s for waiting and running has to exceed the 1800 s",
        ),
        (|v| v["task_max_seconds"] = 0.into(), "/task_max_seconds expected a number above 0"),
        (|v| v["build_jobs"] = (-1).into(), "/build_jobs"),
        (|v| v["images"][0]["runners"] = json!([]), "/images/0/runners an enabled image needs the labels"),
        (|v| v["images"][0]["runners"] = json!(["self-hosted", "X64"]), "the label `ARM64` is missing"),
        (|v| v["images"][0]["runners"] = json!(["ARM64"]), "the label `self-hosted` is missing"),
        (|v| v["images"][0]["driver"] = Value::Null, "/images/0/driver an enabled image needs"),
        (
            |v| v["images"][0]["driver"] = "25.7.rc1.12".into(),
            "/images/0/driver driver 25.7.rc1.12 with CANN 9.2.0 is not a supported pair",
        ),
        (|v| v["images"][1]["validation_platform"] = "a2a3".into(), "is not a supported pair for a2a3 on arm64"),
        (
            |v| v["images"][0]["architecture"] = "riscv".into(),
            "/images/0/architecture `riscv` is not one of arm64, amd64",
        ),
        (|v| v["images"][3]["enabled"] = true.into(), "/images/3/needs it is enabled, and still needs something"),
        (|v| v["images"][0]["enabled"] = false.into(), "/images/0/needs it is not enabled; say what it still needs"),
        (|v| v["images"][0]["single_script"] = "../x.py".into(), "/images/0/single_script"),
        (|v| v["images"][0]["devices"] = json!(["/etc/passwd"]), "/images/0/devices"),
        (|v| v["images"][0]["tag"] = "x".repeat(120).into(), "at most 102 leave room"),
        (|v| v["repository"] = "h.x/a:tag".into(), "/repository `h.x/a:tag` is not a repository"),
        (|v| v["pypto"]["repository"] = "https://me:pw@h/x".into(), "/pypto/repository a user's name or password"),
        (|v| v["pypto_lib"]["ref"] = "--upload-pack=x".into(), "/pypto_lib/ref"),
        (|v| v["version"] = 2.into(), "/version expected 1"),
        (|v| v["images"] = json!([]), "/images there is no image"),
        (|v| v["images"] = json!({}), "/images expected a list"),
        (|v| v["pypto"] = 1.into(), "/pypto expected an object, found a number"),
    ];
    for (change, expected) in table {
        let found = mistakes(change);
        assert!(found.iter().any(|found| found.contains(expected)), "expected {expected}, found {found:#?}");
    }
}

#[test]
fn all_mistakes_are_found_at_once() {
    let found = mistakes(|value| {
        value["images"][0]["cann_digest"] = 1.into();
        value["images"][1]["runnners"] = json!([]);
        drop(value["images"][2].as_object_mut().unwrap().remove("tag"));
        value["recipe"]["branch"] = 1.into();
        value["x"] = 1.into();
    });
    assert_eq!(found.len(), 5, "{found:#?}");
    let fitting = mistakes(|value| {
        value["images"][1]["tag"] = value["images"][0]["tag"].clone();
        value["task_timeout_seconds"] = 1.into();
        value["images"][0]["runners"] = json!([]);
    });
    assert_eq!(fitting.len(), 3, "each of them once: {fitting:#?}");
    // One that is malformed does not hide the others of the same image.
    let all = mistakes(|value| {
        value["images"][0]["cann_digest"] = "sha256:12".into();
        value["images"][0]["driver"] = "1.2.3".into();
        value["images"][0]["single_script"] = "/x".into();
        value["images"][0]["devices"] = json!("none");
    });
    assert_eq!(all.len(), 4, "{all:#?}");
}

#[test]
fn a_configuration_without_an_enabled_image_says_so() {
    let mut value = value();
    for image in value["images"].as_array_mut().unwrap() {
        image["enabled"] = false.into();
        image["needs"] = json!(["a host"]);
    }
    let (_, findings) = parse(&value).unwrap();
    assert!(findings.findings.iter().any(|finding| finding.message.contains("no image is enabled")), "{findings:?}");
}

#[test]
fn what_is_no_json_is_told_with_line_and_column() {
    let parse = |text: &str| Config::parse(Path::new("images.json"), text).unwrap_err().render();
    assert_eq!(parse("{\n  \"version\": 1,\n}"), "error: images.json:3:1: trailing comma");
    let twice = parse("{\"version\": 1,\n\"version\": 1}");
    assert!(twice.starts_with("error: images.json at `/version`: the key `version` is there twice\n"), "{twice}");
    assert!(parse("[]").contains("expected an object, found a list"));
    assert!(parse("\u{feff}{}").contains("images.json:1:1: a byte order mark"));
}

/// The keys that the schema knows are those that are read, and those that it requires are those that are missed.
#[test]
fn the_schema_and_the_reader_know_the_same_keys() {
    let schema: Value = serde_json::from_str(&root("docker/images.schema.json")).unwrap();
    let objects = [
        ("", &schema),
        ("/recipe", &schema["properties"]["recipe"]),
        ("/pypto", &schema["$defs"]["source"]),
        ("/pypto_lib", &schema["$defs"]["source"]),
        ("/images/3", &schema["$defs"]["image"]),
    ];
    for (place, schema) in objects {
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
        let required: BTreeSet<_> =
            schema["required"].as_array().unwrap().iter().map(|key| key.as_str().unwrap().to_owned()).collect();
        for key in keys(&schema["properties"]) {
            let found = mistakes(|value| drop(value.pointer_mut(place).unwrap().as_object_mut().unwrap().remove(&key)));
            let missed = found.iter().any(|found| found.contains(&format!("the key `{key}` is missing")));
            assert_eq!(missed, required.contains(&key), "{place}/{key}: {found:?}");
            let known = mistakes(|value| value.pointer_mut(place).unwrap()[&key] = json!({"no": "value"}));
            assert!(
                !known.iter().any(|found| found.contains(&format!("there is no key `{key}`"))),
                "{place}/{key}: {known:?}"
            );
        }
        assert_eq!(schema["additionalProperties"], json!(false), "{place}");
        let in_file = keys(value().pointer(place).unwrap());
        let known = keys(&schema["properties"]);
        assert!(in_file.is_subset(&known), "{place}: {:?}", in_file.difference(&known).collect::<Vec<_>>());
    }
}

#[test]
fn mistakes_of_form_hide_no_others() {
    let found = mistakes(|v| {
        v["build_jobs"] = "many".into();
        v["task_max_seconds"] = 0.into();
        v["images"][0]["enabled"] = "yes".into();
        v["images"][1]["devices"] = json!(["/dev/ummu:/dev/x:rwm"]);
        v["images"][2]["name"] = "X86".into();
    });
    for place in ["/build_jobs ", "/task_max_seconds ", "/images/0/enabled ", "/images/1/devices ", "/images/2/name "] {
        assert!(found.iter().any(|found| found.starts_with(place)), "{place}: {found:?}");
    }
    let text = root("docker/images.json").replacen("{", "{ \"version\": 1, \"build_jobs\": 2,", 1);
    let findings = Config::parse(Path::new("images.json"), &text).unwrap_err();
    let places: Vec<_> = findings.findings.iter().map(|one| one.place.as_str()).collect();
    assert!(places.contains(&"/version") && places.contains(&"/build_jobs"), "{places:?}");
}

#[test]
fn a_password_is_not_repeated() {
    let found = mistakes(|v| {
        v["repository"] = "me:s3cret@h.example/x".into();
        v["images"][0]["cann_repository"] = "me:s3cret@h.example/x".into();
    });
    assert!(found.iter().filter(|found| found.contains("`***@h.example/x`")).count() == 2, "{found:?}");
    assert!(!found.concat().contains("s3cret"));
}

#[test]
fn only_a_file_of_some_size_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    make_pipe(&pipe);
    for (file, said) in [(Path::new("/dev/zero"), "not a regular file"), (&pipe, "not a regular file")] {
        let findings = Config::load(file).unwrap_err();
        assert!(findings.findings[0].message.contains(said), "{findings:?}");
    }
    let large = dir.path().join("large");
    fs_err::write(&large, vec![b' '; (4 << 20) + 1]).unwrap();
    assert!(Config::load(&large).unwrap_err().findings[0].message.contains("more than 4 MB"));
}

fn make_pipe(path: &Path) {
    assert!(Invocation::new("mkfifo").arg(path).run(&pto_test::machine()).unwrap().success());
}
