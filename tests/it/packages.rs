//! What packagers and contributors rely on: `make install`, the packages' files, the pages for them.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kittymux::cmd::man::page;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn file(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// `make` with the binary under test as the one that was built.
fn make(words: &[&str]) -> Output {
    Command::new("make")
        .arg("-s")
        .args(words)
        .arg(format!("BINARY={}", env!("CARGO_BIN_EXE_kittymux")))
        .current_dir(root())
        .output()
        .expect("make runs")
}

fn ok(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// All files below `top` with their modes.
fn files(top: &Path) -> BTreeMap<String, u32> {
    fn collect(top: &Path, dir: &Path, found: &mut BTreeMap<String, u32>) {
        for entry in std::fs::read_dir(dir).expect("a directory").flatten() {
            let path = entry.path();
            let meta = entry.metadata().expect("what it is");
            if meta.is_dir() {
                collect(top, &path, found);
            } else {
                let name = path.strip_prefix(top).expect("below").display().to_string();
                found.insert(name, meta.permissions().mode() & 0o7777);
            }
        }
    }
    let mut found = BTreeMap::new();
    collect(top, top, &mut found);
    found
}

/// What is installed below the prefix.
const INSTALLED: [(&str, u32); 14] = [
    ("bin/kittymux", 0o755),
    ("lib/systemd/user/kittymux.service", 0o644),
    ("lib/systemd/user/kittymux.timer", 0o644),
    ("share/bash-completion/completions/kittymux", 0o644),
    ("share/doc/kittymux/CHANGELOG.md", 0o644),
    ("share/doc/kittymux/README.md", 0o644),
    ("share/fish/vendor_completions.d/kittymux.fish", 0o644),
    (
        "share/kittymux/launchd/io.github.kittymux.tick.plist",
        0o644,
    ),
    ("share/licenses/kittymux/LICENSE-APACHE", 0o644),
    ("share/licenses/kittymux/LICENSE-MIT", 0o644),
    ("share/man/man1/kittymux.1", 0o644),
    ("share/zsh/site-functions/_kittymux", 0o644),
    ("share/doc/kittymux/how-it-decides.md", 0o644),
    ("share/doc/kittymux/privacy.md", 0o644),
];

#[test]
fn make_install_puts_everything_in_its_place_and_uninstall_takes_just_that_away() {
    let home = tempfile::tempdir().expect("a directory");
    // A prefix that a unit and a property list must quote, not the shell's.
    let stage = home.path().join("stage");
    let prefix = "/opt/100%&co";
    let dest = format!("DESTDIR={}", stage.display());
    let prefix_is = format!("PREFIX={prefix}");
    let words = [dest.as_str(), prefix_is.as_str(), "UNITS=systemd launchd"];
    // Others' files in the same directories.
    let top = stage.join("opt/100%&co");
    std::fs::create_dir_all(top.join("share/man/man1")).expect("a directory");
    std::fs::write(top.join("share/man/man1/other.1"), "").expect("a file");
    ok(&make(&[&["install"][..], &words].concat()));
    let mut there = files(&top);
    assert!(there.remove("share/man/man1/other.1").is_some());
    for (name, mode) in INSTALLED {
        assert_eq!(there.get(name), Some(&mode), "{name}: {there:?}");
    }
    for name in there.keys() {
        let doc = name.strip_prefix("share/doc/kittymux/");
        let known = INSTALLED.iter().any(|(n, _)| n == name)
            || doc.is_some_and(|d| root().join("docs").join(d).exists());
        assert!(known, "{name} is installed");
    }
    let read = |name: &str| std::fs::read_to_string(top.join(name)).expect("a text");
    assert_eq!(read("share/man/man1/kittymux.1"), page());
    for (name, asset) in [
        (
            "share/bash-completion/completions/kittymux",
            "kittymux.bash",
        ),
        ("share/zsh/site-functions/_kittymux", "_kittymux"),
        (
            "share/fish/vendor_completions.d/kittymux.fish",
            "kittymux.fish",
        ),
    ] {
        assert_eq!(read(name), file(&format!("assets/completions/{asset}")));
    }
    let program = format!("{prefix}/bin/kittymux");
    let unit = kittymux::keep::units::service(Path::new(&program));
    assert_eq!(read("lib/systemd/user/kittymux.service"), unit);
    let agent = kittymux::keep::units::launch_agent(Path::new(&program)).expect("a text");
    let plist = "share/kittymux/launchd/io.github.kittymux.tick.plist";
    assert_eq!(read(plist), agent);
    // It starts where it lies.
    let started = Command::new(top.join("bin/kittymux"))
        .arg("--version")
        .output()
        .expect("it starts");
    assert!(started.status.success());
    // A second time does no harm, and what is taken away is what was put there.
    ok(&make(&[&["install"][..], &words].concat()));
    ok(&make(&[&["uninstall"][..], &words].concat()));
    let left: Vec<String> = files(&top).into_keys().collect();
    assert_eq!(left, ["share/man/man1/other.1"]);
    for gone in [
        "share/doc/kittymux",
        "share/kittymux",
        "share/licenses/kittymux",
    ] {
        assert!(!top.join(gone).exists(), "{gone} is ours and empty");
    }
    ok(&make(&[&["uninstall"][..], &words].concat()));
}

/// Runs the tool that reads such a file; says so where it is not installed.
fn reads(tool: &str, words: &[&str]) {
    let output = Command::new(tool).args(words).current_dir(root()).output();
    let Ok(output) = output else {
        println!("left out: {tool} is not installed here");
        return;
    };
    assert!(
        output.status.success(),
        "{tool} {words:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn the_packages_files_are_read_by_their_own_tools() {
    reads("bash", &["-n", "packaging/arch/PKGBUILD"]);
    reads(
        "shellcheck",
        &[
            "-s",
            "bash",
            "-e",
            "SC2034,SC2154,SC2164",
            "packaging/arch/PKGBUILD",
        ],
    );
    reads("ruby", &["-c", "packaging/homebrew/kittymux.rb"]);
    reads("nix-instantiate", &["--parse", "packaging/nix/package.nix"]);
    for script in [
        "packaging/debian/build.sh",
        "packaging/dist.sh",
        "packaging/source.sh",
    ] {
        reads("sh", &["-n", script]);
        reads("shellcheck", &["-x", script]);
    }
    reads(
        "shellcheck",
        &["-s", "bash", "assets/completions/kittymux.bash"],
    );
}

#[test]
fn the_packages_have_the_version_and_the_words_of_the_product() {
    let cargo = file("Cargo.toml");
    let value = |key: &str| {
        let start = format!("{key} = \"");
        let line = cargo.lines().find_map(|l| l.strip_prefix(start.as_str()));
        line.unwrap_or_else(|| panic!("{key}"))
            .trim_end_matches('"')
            .to_owned()
    };
    let (version, about) = (value("version"), value("description"));
    for (name, line) in [
        ("packaging/arch/PKGBUILD", format!("pkgver={version}\n")),
        (
            "packaging/homebrew/kittymux.rb",
            format!("version \"{version}\"\n"),
        ),
        (
            "packaging/nix/package.nix",
            format!("version = \"{version}\";\n"),
        ),
    ] {
        let text = file(name);
        assert!(text.contains(&line), "{name}: {line}");
        assert!(text.contains(&about), "{name}: {about}");
        let addresses = text.matches("://").count() - text.matches("file://").count();
        assert_eq!(addresses, 0, "{name} names no address");
    }
}

#[test]
fn the_map_of_the_source_names_all_of_it() {
    let map = file("docs/architecture.md");
    let map = map.split("## The map of src/").nth(1).expect("the map");
    let map = map.split("\n## ").next().expect("its end");
    let mut seen = 0;
    for floor in ["sys", "kitty", "agents", "resume", "keep", "cmd"] {
        let part = map
            .split(&format!("\n**{floor}** — "))
            .nth(1)
            .unwrap_or_else(|| panic!("{floor}"));
        let part = part.split("\n**").next().expect("its end");
        let mut named: Vec<&str> = part.split('`').skip(1).step_by(2).collect();
        named.retain(|n| {
            ["docs/", "assets/", "tests/"]
                .iter()
                .all(|d| !n.starts_with(d))
        });
        for entry in std::fs::read_dir(root().join("src").join(floor)).expect("a directory") {
            let name = entry.expect("an entry").file_name();
            let name = name.to_string_lossy().into_owned();
            if name.ends_with("_tests.rs") || name.ends_with("_cases.rs") {
                continue;
            }
            seen += 1;
            assert!(named.contains(&name.as_str()), "{floor}: {name} is missing");
            named.retain(|n| *n != name);
        }
        named.retain(|n| !n.starts_with('…'));
        assert!(named.is_empty(), "{floor}: {named:?} is not there");
    }
    assert!(seen > 80, "{seen}");
    // Elsewhere on the page a file stands with its floor.
    let page = file("docs/architecture.md");
    for word in page.split('`').skip(1).step_by(2) {
        if word.contains('/') && word.contains('.') && !word.contains(' ') {
            let here = root().join(word).exists() || root().join("src").join(word).exists();
            assert!(here, "docs/architecture.md names {word}");
        }
    }
}
