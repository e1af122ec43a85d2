//! Which shell a window's process is, or will be.

use expect_test::expect;

use super::table;
use crate::agents::definitions::Definitions;
use crate::agents::window::judge;

#[test]
fn the_shell_a_window_has_or_will_have() {
    let shell = |row: &str| {
        let processes = table(&format!("100 1 S 100 * | {row}"));
        let judged = judge(&Definitions::shipped(), 100, None, &processes);
        let shown = judged.shell.map_or("no shell".to_owned(), |s| {
            let how = if s.interactive { "" } else { ", script" };
            let login = if s.login { ", login" } else { "" };
            format!("{:?} {:?}{how}{login} {:?}", s.kind, s.exe, s.options())
        });
        format!("{row}\n  {shown}")
    };
    let rows = [
        "kitten run-shell --shell=/bin/dash /km resume-prompt @ /usr/bin/kitten",
        "/usr/bin/kitten run-shell --shell '/my shells/nu' --env=A=1 /km @ /usr/bin/kitten",
        "kitten run-shell '--shell=\"/my shells/nu\" --config c' --cwd / -- /km @ /usr/bin/kitten",
        "kitty +kitten run-shell --shell=zsh /km @ /usr/bin/kitty",
        "kitten run-shell /km --shell=/bin/zsh @ /usr/bin/kitten",
        "kitten run-shell --shell=. /km @ /usr/bin/kitten",
        "kitten ssh host @ /usr/bin/kitten",
        "/usr/bin/kitten run-shell --shell=/bin/elvish /km @ /bin/bash",
        "elvish -norc @ /usr/bin/elvish",
        "elvish -rc /x/rc.elv @ /usr/bin/elvish",
        "elvish -c nop @ /usr/bin/elvish",
        "elvish x.elv @ /usr/bin/elvish",
        "nu --config c.nu --login @ /usr/bin/nu",
        "nu -e 'claude deploy' @ /usr/bin/nu",
        "nu -c ls @ /usr/bin/nu",
        "nu x.nu @ /usr/bin/nu",
        "fish -C 'claude deploy' @ /usr/bin/fish",
        "pwsh -NoLogo @ /opt/pwsh",
        "pwsh -Command ls @ /opt/pwsh",
        "python3 /usr/bin/xonsh --no-rc @ /usr/bin/python3.13",
        "/bin/bash /home/u/bin/nu @ /bin/bash",
        "-sh @ /bin/busybox",
        "/bin/bash --posix --norc @ /bin/bash",
        "vim zsh @ /usr/bin/vim",
        "zsh",
    ];
    expect![[r#"
        kitten run-shell --shell=/bin/dash /km resume-prompt @ /usr/bin/kitten
          Other("dash") Some("/bin/dash") []
        /usr/bin/kitten run-shell --shell '/my shells/nu' --env=A=1 /km @ /usr/bin/kitten
          Other("my") Some("/my") []
        kitten run-shell '--shell="/my shells/nu" --config c' --cwd / -- /km @ /usr/bin/kitten
          Other("nu") Some("/my shells/nu") ["--config", "c"]
        kitty +kitten run-shell --shell=zsh /km @ /usr/bin/kitty
          Zsh Some("zsh") []
        kitten run-shell /km --shell=/bin/zsh @ /usr/bin/kitten
          Other("") None []
        kitten run-shell --shell=. /km @ /usr/bin/kitten
          Other("") None []
        kitten ssh host @ /usr/bin/kitten
          no shell
        /usr/bin/kitten run-shell --shell=/bin/elvish /km @ /bin/bash
          Other("elvish") Some("/bin/elvish") []
        elvish -norc @ /usr/bin/elvish
          Other("elvish") Some("/usr/bin/elvish") ["-norc"]
        elvish -rc /x/rc.elv @ /usr/bin/elvish
          Other("elvish") Some("/usr/bin/elvish") ["-rc", "/x/rc.elv"]
        elvish -c nop @ /usr/bin/elvish
          Other("elvish") Some("/usr/bin/elvish"), script []
        elvish x.elv @ /usr/bin/elvish
          Other("elvish") Some("/usr/bin/elvish"), script []
        nu --config c.nu --login @ /usr/bin/nu
          Other("nu") Some("/usr/bin/nu"), login ["--config", "c.nu", "--login"]
        nu -e 'claude deploy' @ /usr/bin/nu
          Other("nu") Some("/usr/bin/nu") []
        nu -c ls @ /usr/bin/nu
          Other("nu") Some("/usr/bin/nu"), script []
        nu x.nu @ /usr/bin/nu
          Other("nu") Some("/usr/bin/nu"), script []
        fish -C 'claude deploy' @ /usr/bin/fish
          Fish Some("/usr/bin/fish") []
        pwsh -NoLogo @ /opt/pwsh
          Other("pwsh") Some("/opt/pwsh") ["-NoLogo"]
        pwsh -Command ls @ /opt/pwsh
          Other("pwsh") Some("/opt/pwsh"), script []
        python3 /usr/bin/xonsh --no-rc @ /usr/bin/python3.13
          Other("xonsh") Some("/usr/bin/xonsh") ["--no-rc"]
        /bin/bash /home/u/bin/nu @ /bin/bash
          Other("nu") Some("/home/u/bin/nu") []
        -sh @ /bin/busybox
          Other("sh") Some("sh"), login []
        /bin/bash --posix --norc @ /bin/bash
          Bash Some("/bin/bash") ["--norc"]
        vim zsh @ /usr/bin/vim
          no shell
        zsh
          Zsh Some("zsh") []"#]]
    .assert_eq(&rows.map(shell).join("\n"));
}
