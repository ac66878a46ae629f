//! The HTML page: what it holds, and how it looks in a real browser at two widths.

use std::path::{Path, PathBuf};

use pto_golden::html::{Case, Page, error_histogram, heat_map, scatter};
use pto_golden::{DType, Fill, Options, Report, Rule, Tolerance, judge};

fn reports() -> Vec<Report> {
    let golden = Fill::default_for(DType::F16).generate(DType::F16, [64, 96], 1, "golden").unwrap();
    let mut tail = golden.clone();
    tail.bytes_mut()[50 * 96 * 2..].fill(0);
    let options = Options { reason: Some("accumulation <in> f16 & \"more\"".to_owned()), ..Options::default() };
    let loose = Rule::Close(Tolerance { rtol: 0.1, atol: 0.5 });
    vec![
        judge(&golden, &golden, &Rule::default_for(DType::F16), &Options::default()),
        judge(&tail, &golden, &Rule::default_for(DType::F16), &Options::default()),
        judge(&golden, &golden, &loose, &options),
    ]
}

fn page(reports: &[Report]) -> String {
    let case = |(index, report): (usize, &'_ Report)| Case {
        name: format!("a_kernel_with_quite_a_long_name n={} (cpu), y", 4096 + index),
        passed: report.passed(),
        message: report.message.clone(),
        command: Some(format!("cargo xtask kernel test a_kernel --case n={} --seed 1", 4096 + index)),
        report: None,
    };
    let cases =
        reports.iter().enumerate().map(|(index, report)| Case { report: Some(report), ..case((index, report)) });
    Page {
        title: "kernel test".to_owned(),
        command: "cargo xtask kernel test --report report.html".to_owned(),
        environment: vec![("machine".to_owned(), "a machine".to_owned())],
        cases: cases.collect(),
    }
    .render()
}

#[test]
fn the_page_says_everything_and_needs_nothing() {
    let reports = reports();
    let page = page(&reports);
    for needed in [
        "1 of 3 are wrong",
        "only the tail",
        "rows 50 to 63 of 64",
        "Usually a last tile",
        "accumulation &lt;in&gt; f16 &amp; &quot;more&quot;",
        "can mark incorrect kernels as PASS",
        "cargo xtask kernel test a_kernel --case n=4097 --seed 1",
        "a machine",
        "prefers-color-scheme: dark",
        "@media print",
    ] {
        assert!(page.contains(needed), "`{needed}` is missing");
    }
    for foreign in ["http://", "https://", "<script", "<link", "url(", "@import"] {
        assert!(!page.contains(foreign), "`{foreign}` is there");
    }
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
    assert_eq!(page.matches("<figure>").count(), 5, "three for the wrong one, a histogram for each that is right");
}

#[test]
fn pictures_of_their_own_are_svg_files() {
    let reports = reports();
    assert!(heat_map(&reports[0]).is_none() && scatter(&reports[0]).is_none());
    for svg in [heat_map(&reports[1]), error_histogram(&reports[1]), scatter(&reports[1])] {
        let svg = svg.unwrap();
        assert!(svg.starts_with("<svg xmlns=") && svg.trim_end().ends_with("</svg>"));
    }
    let map = &reports[1].map;
    assert_eq!((map.len(), map[0].len()), (32, 64));
    assert!(map[..25].iter().all(|line| line.chars().all(|c| c == '0')));
    assert!(map[25..].iter().all(|line| line.chars().all(|c| c > '7')));
}

#[expect(clippy::disallowed_methods, reason = "a test looks through another program; pto-process is a sibling crate")]
fn chromium(args: &[String]) -> Option<std::process::Output> {
    let start = |program: &&str| {
        let flags =
            ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1"];
        std::process::Command::new(program).args(flags).args(args).output().ok()
    };
    ["chromium", "chromium-browser", "google-chrome"].iter().find_map(start)
}

/// Width, height and how many kinds of bytes: a blank picture has few.
fn looked_at(page: &Path, width: u32, scheme: &str) -> Option<(u32, u32, usize)> {
    let picture: PathBuf = page.with_extension(format!("{width}.{scheme}.png"));
    let dark = if scheme == "dark" {
        "--blink-settings=preferredColorScheme=0"
    } else {
        "--blink-settings=preferredColorScheme=1"
    };
    chromium(&[
        dark.to_owned(),
        format!("--window-size={width},2400"),
        format!("--screenshot={}", picture.display()),
        format!("file://{}", page.display()),
    ])?;
    let png = std::fs::read(&picture).expect("the browser wrote a picture");
    assert!(png.starts_with(b"\x89PNG"));
    let number = |at: usize| u32::from_be_bytes([png[at], png[at + 1], png[at + 2], png[at + 3]]);
    Some((number(16), number(20), png.len()))
}

#[test]
fn a_browser_shows_it_at_both_widths() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("report.html");
    std::fs::write(&file, page(&reports())).unwrap();
    let measuring = dir.path().join("measured.html");
    let script = "<script>document.title = document.documentElement.scrollWidth + ' of ' + innerWidth</script>";
    std::fs::write(&measuring, page(&reports()).replace("</body>", &format!("{script}</body>"))).unwrap();
    for width in [1280, 390] {
        let Some((w, _, bytes)) = looked_at(&file, width, "light") else {
            eprintln!("skipped: there is no Chromium");
            return;
        };
        assert_eq!(w, width);
        assert!(bytes > 20_000, "a picture of {bytes} bytes shows nothing");
        let (_, _, dark) = looked_at(&file, width, "dark").unwrap();
        assert!(dark > 20_000);
        let size = format!("--window-size={width},2400");
        let dom = chromium(&[size, "--dump-dom".to_owned(), format!("file://{}", measuring.display())]).unwrap();
        let dom = String::from_utf8_lossy(&dom.stdout).into_owned();
        let title = dom.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next()).unwrap_or_default();
        let (needed, there) = title.split_once(" of ").unwrap_or_else(|| panic!("no sizes in `{title}`"));
        let (needed, there): (u32, u32) = (needed.parse().unwrap(), there.parse().unwrap());
        assert!(needed <= there, "at {width} the page is {needed} wide in a window of {there}");
    }
}
