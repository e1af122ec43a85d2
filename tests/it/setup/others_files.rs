//! Files of others in the way of `setup`: links, copies of the person's own, directories they share.

use std::os::unix::fs::symlink;
use std::path::Path;

use super::files;
use crate::rig::Rig;

/// A home of bash alone with these agents on PATH.
fn home(agents: &[&str]) -> Rig {
    let rig = Rig::new("/bin/bash", true);
    for file in [".zshrc", ".config/fish/config.fish"] {
        std::fs::remove_file(rig.home().join(file)).expect("of bash alone");
    }
    for name in agents {
        let program = rig.home().join("bin/claude");
        std::fs::hard_link(program, rig.tool(name)).expect("on PATH");
    }
    rig
}

/// Sets up, once more, and takes all away; what is outside the state directory then.
fn there_and_back(rig: &Rig) {
    let outside = || {
        let mut all = files(&rig.home());
        all.retain(|path, _| !path.starts_with(rig.state()));
        all
    };
    let before = outside();
    rig.kittymux(None, &["setup", "--yes"]);
    let after = outside();
    rig.kittymux(None, &["setup", "--yes"]);
    assert_eq!(outside(), after, "twice changes nothing");
    rig.kittymux_ok(None, &["setup", "--remove", "--yes"]);
    assert_eq!(outside(), before, "given back to the byte");
}

#[test]
fn a_linked_kitty_conf_and_a_copy_of_the_persons_own_stay() {
    let rig = home(&[]);
    rig.file("dot/k.conf", "font_size 11\n");
    let dir = rig.dir(".config/kitty");
    let conf = dir.join("kitty.conf");
    let _ = std::fs::remove_file(&conf);
    symlink("../../dot/k.conf", &conf).expect("a link");
    there_and_back(&rig);
    assert!(conf.is_symlink());
    // A link to nothing is left alone, and stays.
    std::fs::remove_file(rig.home().join("dot/k.conf")).expect("removed");
    let said = rig.kittymux(None, &["setup", "--yes"]);
    let wrong = String::from_utf8_lossy(&said.stderr);
    assert!(wrong.contains("leads nowhere"), "{wrong}");
    rig.kittymux_ok(None, &["setup", "--remove", "--yes"]);
    assert!(conf.is_symlink() && !conf.exists());
    // A copy that the person made is theirs.
    std::fs::remove_file(&conf).expect("removed");
    for name in ["kitty.conf", "kitty.conf.bak"] {
        std::fs::write(dir.join(name), "font_size 11\n").expect("written");
    }
    there_and_back(&rig);
}

#[test]
fn a_link_where_completions_go_is_neither_written_through_nor_removed() {
    let rig = home(&[]);
    let dir = rig.dir(".local/share/bash-completion/completions");
    let link = dir.join("kittymux");
    symlink(rig.home().join("elsewhere"), &link).expect("a link");
    there_and_back(&rig);
    assert!(link.is_symlink() && !rig.home().join("elsewhere").exists());
    let text = include_str!("../../../assets/completions/kittymux.bash");
    rig.file("elsewhere", text);
    there_and_back(&rig);
    assert!(link.is_symlink());
}

#[test]
fn what_others_have_in_a_shared_state_directory_stays() {
    let rig = home(&[]);
    rig.file("docs/thesis.txt", "years of work");
    let docs = rig.home().join("docs");
    let text = docs.display().to_string();
    let run = |words: &[&str]| {
        let done = rig.kittymux_with(None, words, &[("KITTYMUX_STATE_DIR", &text)]);
        assert!(done.status.success(), "{done:?}");
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    run(&["setup", "--yes"]);
    let said = run(&["setup", "--remove", "--yes"]);
    assert!(
        said.contains("are not ours and stay:\n    thesis.txt\n"),
        "{said}"
    );
    assert!(docs.join("thesis.txt").exists() && !docs.join("kitty").exists());
    assert_eq!(run(&["setup", "--remove"]), "nothing is set up\n");
}

#[test]
fn a_faulty_file_of_one_agent_keeps_no_other_from_being_told() {
    let rig = home(&["claude", "grok", "hermes"]);
    // Nothing can be made below it.
    symlink("/proc", rig.home().join(".claude")).expect("a link");
    rig.file(".hermes/plugins/kittymux/__init__.py", "# mine\n");
    let done = rig.kittymux(None, &["setup", "--yes"]);
    let wrong = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(1));
    assert!(
        wrong.contains("claude: ") && wrong.contains("that is not ours"),
        "{wrong}"
    );
    assert!(rig.home().join(".grok/hooks/kittymux.json").exists());
    let manifest = rig.home().join(".hermes/plugins/kittymux/plugin.yaml");
    assert!(!manifest.exists(), "somebody else's plugin is not ours");
    rig.kittymux(None, &["hooks", "setup", "hermes"]);
    assert!(!manifest.exists());
    std::fs::remove_file(rig.home().join(".claude")).expect("removed");
}

#[test]
fn what_cannot_be_taken_out_of_kitty_conf_keeps_nothing_else() {
    let rig = home(&["grok"]);
    rig.file(".config/kitty/kitty.conf", "font_size 11\n");
    rig.kittymux_ok(None, &["setup", "--yes"]);
    let env = [("KITTYMUX_FAULT_AT", "0")];
    let done = rig.kittymux_with(None, &["setup", "--remove", "--yes"], &env);
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    assert!(!rig.home().join(".grok/hooks/kittymux.json").exists());
    let bash = ".local/share/bash-completion/completions/kittymux";
    assert!(!rig.home().join(bash).exists());
    rig.kittymux_ok(None, &["setup", "--remove", "--yes"]);
    let conf = std::fs::read_to_string(rig.home().join(".config/kitty/kitty.conf"));
    assert_eq!(conf.expect("there"), "font_size 11\n");
}

#[test]
fn a_completion_file_that_could_not_be_written_is_tried_again() {
    let rig = home(&[]);
    let path = rig
        .home()
        .join(".local/share/bash-completion/completions/kittymux");
    let text = include_str!("../../../assets/completions/kittymux.bash");
    let mut failed = 0;
    for at in 0..40 {
        let at = at.to_string();
        let env = [("KITTYMUX_FAULT_AT", at.as_str())];
        let done = rig.kittymux_with(None, &["setup", "--yes", "--keep-conf"], &env);
        let now = std::fs::read_to_string(&path).ok();
        assert!(now.is_none() || now.as_deref() == Some(text));
        failed += i32::from(!done.status.success() && now.is_none());
        rig.kittymux_ok(None, &["setup", "--yes", "--keep-conf"]);
        assert_eq!(std::fs::read_to_string(&path).expect("there"), text);
        rig.kittymux_ok(None, &["setup", "--remove", "--yes"]);
    }
    assert!(failed > 0, "it never failed there");
}

#[test]
fn lines_for_a_shell_are_quoted() {
    let rig = Rig::new("/bin/zsh", true);
    rig.file(".zshrc", "");
    let data = rig.dir("my data").display().to_string();
    let km = rig.dir("my programs").join("kittymux");
    symlink(rig.tool("kittymux"), &km).expect("a link");
    let mut command = rig.command(Path::new(&km));
    command
        .args(["setup", "--yes"])
        .env("XDG_DATA_HOME", &data)
        .env("PATH", "/usr/bin:/bin");
    let said = String::from_utf8_lossy(&command.output().expect("run").stdout).into_owned();
    assert!(said.contains("PATH=~/'my programs':$PATH"), "{said}");
    if said.contains("_kittymux") {
        let line = "fpath=(~/'my data/zsh/site-functions' $fpath)";
        assert!(said.contains(line), "{said}");
    } else {
        println!("left out: the line for zsh, which is not here");
    }
}

#[test]
fn a_masked_timer_stays_masked() {
    let rig = home(&[]);
    if cfg!(target_os = "macos") {
        return;
    }
    let masked = rig.dir(".config/systemd/user").join("kittymux.timer");
    symlink("/dev/null", &masked).expect("a link");
    let said = rig.kittymux_ok(None, &["setup", "--print"]);
    assert!(said.contains("masked"), "{said}");
    rig.kittymux_ok(None, &["setup", "--yes"]);
    rig.kittymux_ok(None, &["setup", "--remove", "--yes"]);
    let target = std::fs::read_link(&masked).expect("still a link");
    assert_eq!(target, Path::new("/dev/null"));
}
