//! A password in an address that was typed is in nothing that is printed, whatever is wrong with the rest of the line.

use std::collections::BTreeSet;

use pto_process::Invocation;

const PLANTED: &str = "plantedpassword";

/// What values are called in the help that are addresses, or names that people take for such.
const ADDRESSES: [&str; 5] = ["<URL>", "<FILE|URL>", "<HOST/PATH>", "<REPOSITORY>", "<IMAGE>"];

/// A program that finds nothing: no client, no checkout, no configuration.
fn run(words: &[String]) -> String {
    let nowhere = tempfile::tempdir().unwrap();
    let command = Invocation::new(env!("CARGO_BIN_EXE_xtask")).args(words.iter().cloned()).cwd(nowhere.path());
    let home = nowhere.path().join("home");
    let output = command.env("PATH", nowhere.path()).env("PTOKIT_HOME", home).run(&pto_test::machine()).unwrap();
    format!("{}{}", output.stdout.text(), output.stderr.text())
}

/// Every verb, with the options that take an address.
fn options(verb: &[String], found: &mut BTreeSet<(String, String)>) {
    let help = run(&[verb, &["--help".to_owned()]].concat());
    let mut is_command = false;
    for line in help.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match line.strip_prefix("  ").filter(|line| !line.starts_with(' ')) {
            Some(_) if is_command && words[0] != "help" => {
                options(&[verb, &[words[0].to_owned()]].concat(), found);
            }
            _ => is_command = line == "Commands:" || (is_command && line.starts_with("   ")),
        }
        let option = words.iter().find(|word| word.starts_with("--"));
        if let Some(option) = option.filter(|_| words.iter().any(|word| ADDRESSES.contains(word))) {
            found.insert((verb.join(" "), (*option).to_owned()));
        }
    }
}

/// What has to stand beside the options.
fn positional(verb: &str) -> &'static [&'static str] {
    match verb {
        "container run" => &["a3", "0"],
        "container build" => &["a3"],
        "images plan" | "images publish" | "images rollback" | "images status" => &["arm-a5"],
        _ => &[],
    }
}

#[test]
fn no_address_is_shown_with_its_user() {
    let mut found = BTreeSet::new();
    options(&[], &mut found);
    for known in ["images status --repository", "update --proxy", "build --pto-isa-url", "ptoas install --wheel"] {
        assert!(found.iter().any(|(verb, option)| format!("{verb} {option}") == known), "{known}: {found:?}");
    }
    for (verb, option) in &found {
        let words = |more: &[&str]| -> Vec<String> {
            let verb = verb.split(' ').chain(positional(verb).iter().copied());
            verb.chain(more.iter().copied()).map(str::to_owned).collect()
        };
        for address in [
            format!("u:{PLANTED}@h"),
            format!("http://u:{PLANTED}@127.0.0.1:9/x y"),
            format!("{PLANTED}@h/x:"),
            format!("http://u:{PLANTED}@h:port"),
        ] {
            let joined = format!("{option}={address}");
            // As it is meant, twice, with a word that is no option, and with a mistake in the option's name.
            for more in [
                vec![option.as_str(), &address],
                vec![option, &address, option, &address, "--json"],
                vec![option, "x", &address, "--nonsense"],
                vec![&joined.replacen("--", "--x", 1)],
            ] {
                let said = run(&words(&more));
                let shown = said.contains(PLANTED);
                assert!(!shown, "{verb} {more:?}: {said}");
            }
        }
    }
}
