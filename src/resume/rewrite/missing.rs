//! Shells that are not there when a save is restored: kitty would show an error in place of the
//! window (facts 9.6 and 9.9).

use super::super::window::shell_by_path;
use super::{
    ENV_BIN, ENV_LOGIN, ENV_RECORD, ENV_ZDOTDIR, Form, Setting, Shell, info_of, is_our_zdotdir, put,
};
use crate::agents::window::is_plain_start;
use crate::kitty::launch_line::{LaunchLine, Startup};
use crate::kitty::words::{quote, split};

/// The shells of the machine on which a save is restored.
#[derive(Clone, Copy)]
pub struct Shells<'a> {
    /// The file of a program by its path or name, if it can be started.
    pub find: &'a dyn Fn(&str) -> Option<String>,
    /// The shell for windows whose own is gone: one that can be started.
    pub own: &'a str,
    /// Whether that is the one kitty starts by itself.
    pub is_kittys: bool,
}

/// A shell that was replaced.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Replaced {
    /// The shell that is not there.
    pub gone: String,
    /// The one in its place.
    pub by: String,
    /// A typed line that is not run again: it is in another shell's language.
    pub lost_line: bool,
}

/// Gives a window whose shell is not there another one: of the same name where there is one, else the
/// person's. Its question stays.
pub fn replace_missing(
    launch: &mut LaunchLine,
    shells: Shells<'_>,
    setting: Setting<'_>,
) -> Option<Replaced> {
    let words: Vec<String> = launch.program().into_iter().map(str::to_owned).collect();
    let views: Vec<&str> = words.iter().map(String::as_str).collect();
    if let Some(text) = launch.env(ENV_RECORD).map(str::to_owned) {
        let gone = match words.first() {
            Some(shell) if (shells.find)(shell).is_some() => return None,
            Some(shell) => shell.clone(),
            // Made for kitty's own zsh.
            None if base(shells.own) == "zsh" => return None,
            None => "zsh".to_owned(),
        };
        let by = instead(&gone, shells);
        let login = launch.env(ENV_LOGIN).is_some();
        let zdotdir = launch.env(ENV_ZDOTDIR).map(|dir| dir.replace("$$", "$"));
        take_start_up(launch);
        let shell = match shell_by_path(&by, zdotdir.map(|dir| dir.replace("$$", "$"))) {
            Shell::Bash { path, .. } => Shell::Bash { path, login },
            other => other,
        };
        put(launch, &text, &Form::Shell(shell), setting);
        return Some(Replaced {
            gone,
            by,
            lost_line: false,
        });
    }
    if let Some(text) = info_of(&views).map(str::to_owned) {
        let option = words.iter().find_map(|w| w.strip_prefix("--shell="))?;
        let shell: Vec<String> = split(option).ok()?.into_iter().map(|w| w.text).collect();
        let gone = shell
            .first()
            .filter(|s| (shells.find)(s).is_none())?
            .clone();
        let by = instead(&gone, shells);
        if base(&by) == base(&gone) {
            let line: Vec<String> = std::iter::once(by.as_str())
                .chain(shell.iter().skip(1).map(String::as_str))
                .map(quote)
                .collect();
            let now = format!("--shell={}", line.join(" "));
            let old = format!("--shell={option}");
            let words: Vec<&String> = words
                .iter()
                .map(|w| if *w == old { &now } else { w })
                .collect();
            launch.set_program(&words);
        } else {
            put(
                launch,
                &text,
                &Form::Shell(shell_by_path(&by, None)),
                setting,
            );
        }
        return Some(Replaced {
            gone,
            by,
            lost_line: false,
        });
    }
    let gone = words.first().filter(|_| is_plain_start(&views))?;
    if (shells.find)(gone).is_some() {
        return None;
    }
    let by = instead(gone, shells);
    let same = base(&by) == base(gone);
    let lost_line =
        !same && !is_like_sh(gone, &by) && matches!(launch.startup(), Some(Startup::Line(_)));
    if lost_line {
        launch.set_startup(None);
    }
    if same {
        let mut words = words.clone();
        words[0].clone_from(&by);
        launch.set_program(&words);
    } else if shells.is_kittys {
        launch.set_program::<&str>(&[]);
    } else {
        launch.set_program(&[&by]);
    }
    Some(Replaced {
        gone: gone.clone(),
        by,
        lost_line,
    })
}

/// The shell for one that is gone.
fn instead(gone: &str, shells: Shells<'_>) -> String {
    (shells.find)(base(gone)).unwrap_or_else(|| shells.own.to_owned())
}

/// Takes away the environment of our start-up files.
fn take_start_up(launch: &mut LaunchLine) {
    launch.remove_options(|option, value| {
        let value = value.unwrap_or("");
        let name = value.split('=').next().unwrap_or("");
        option == "--env"
            && ([ENV_RECORD, ENV_BIN, ENV_LOGIN, ENV_ZDOTDIR].contains(&name)
                || (name == "ZDOTDIR" && is_our_zdotdir(value)))
    });
}

/// Whether both read a typed line alike.
fn is_like_sh(a: &str, b: &str) -> bool {
    let like = |s: &str| matches!(base(s), "sh" | "bash" | "dash" | "zsh" | "ksh" | "mksh");
    like(a) && like(b)
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::Setting;
    use super::{Shells, replace_missing};
    use crate::kitty::launch_line::LaunchLine;

    fn replaced(line: &str, there: &[&str], own: &str) -> String {
        let mut launch = LaunchLine::parse(line).expect("a line");
        let find = |word: &str| {
            there
                .iter()
                .find(|p| **p == word || p.rsplit('/').next() == Some(word))
                .map(|p| (*p).to_owned())
        };
        let shells = Shells {
            find: &find,
            own,
            is_kittys: own != "/bin/sh",
        };
        let setting = Setting {
            kittymux: "/km/kittymux",
            state: "/s",
            save: "S",
            fish: "FISH",
        };
        match replace_missing(&mut launch, shells, setting) {
            Some(said) => format!(
                "{}\n  {} -> {}{}",
                launch.text(),
                said.gone,
                said.by,
                if said.lost_line { ", line lost" } else { "" }
            ),
            None => "as it was".to_owned(),
        }
    }

    #[test]
    fn a_shell_that_is_gone_is_another_one_that_asks() {
        let lines = [
            "launch --env=KITTYMUX_RECORD={} --env=KITTYMUX_BIN=/k --env=ZDOTDIR=/s/kittymux/shell/zsh --env=KITTYMUX_ZDOTDIR=/z --env=X=1 /usr/bin/zsh",
            "launch --env=KITTYMUX_RECORD={} --env=KITTYMUX_BIN=/k /usr/bin/fish -C OLD",
            "launch --env=KITTYMUX_RECORD={} --env=KITTYMUX_LOGIN=1 /opt/bash --rcfile /s/shell/kittymux.bash",
            "launch --env=KITTYMUX_RECORD={} --env=ZDOTDIR=/s/kittymux/shell/zsh",
            "launch kitten run-shell '--shell=/opt/nu --config c' /km/kittymux resume-prompt --info {}",
            "launch /usr/bin/zsh -l",
            "launch 'kitty-unserialize-data={\"id\": 1, \"cmd_at_shell_startup\": \"make (nproc)\"}' /usr/bin/fish",
            "launch 'kitty-unserialize-data={\"id\": 1, \"cmd_at_shell_startup\": \"make -j2\"}' /usr/bin/zsh",
            "launch 'kitty-unserialize-data={\"id\": 1, \"cmd_at_shell_startup\": [\"vim\"]}' /usr/bin/fish",
            "launch /usr/bin/zsh -c 'echo x'",
            "launch /usr/bin/missing",
            "launch",
        ];
        let on =
            |there: &[&str], own: &str| lines.map(|line| replaced(line, there, own)).join("\n");
        expect![[r#"
            launch --env=X=1 '--env=KITTYMUX_RECORD={}' --env=KITTYMUX_BIN=/km/kittymux /bin/bash --rcfile /s/shell/kittymux.bash
              /usr/bin/zsh -> /bin/bash
            launch '--env=KITTYMUX_RECORD={}' --env=KITTYMUX_BIN=/km/kittymux /bin/bash --rcfile /s/shell/kittymux.bash
              /usr/bin/fish -> /bin/bash
            launch '--env=KITTYMUX_RECORD={}' --env=KITTYMUX_BIN=/km/kittymux --env=KITTYMUX_LOGIN=1 /bin/bash --rcfile /s/shell/kittymux.bash
              /opt/bash -> /bin/bash
            launch '--env=KITTYMUX_RECORD={}' --env=KITTYMUX_BIN=/km/kittymux /bin/bash --rcfile /s/shell/kittymux.bash
              zsh -> /bin/bash
            launch '--env=KITTYMUX_RECORD={}' --env=KITTYMUX_BIN=/km/kittymux /bin/bash --rcfile /s/shell/kittymux.bash
              /opt/nu -> /bin/bash
            launch
              /usr/bin/zsh -> /bin/bash
            launch 'kitty-unserialize-data={"id": 1}'
              /usr/bin/fish -> /bin/bash, line lost
            launch 'kitty-unserialize-data={"id": 1, "cmd_at_shell_startup": "make -j2"}'
              /usr/bin/zsh -> /bin/bash
            launch 'kitty-unserialize-data={"id": 1, "cmd_at_shell_startup": ["vim"]}'
              /usr/bin/fish -> /bin/bash
            as it was
            as it was
            as it was"#]].assert_eq(&on(&["/bin/bash"], "/bin/bash"));
        expect![[r#"
            launch --env=X=1 '--env=KITTYMUX_RECORD={}' --env=KITTYMUX_BIN=/km/kittymux --env=ZDOTDIR=/s/shell/zsh --env=KITTYMUX_ZDOTDIR=/z /new/zsh
              /usr/bin/zsh -> /new/zsh
            launch '--env=KITTYMUX_RECORD={}' --env=KITTYMUX_BIN=/km/kittymux /new/fish -C FISH
              /usr/bin/fish -> /new/fish
            launch '--env=KITTYMUX_RECORD={}' --env=KITTYMUX_BIN=/km/kittymux --env=KITTYMUX_LOGIN=1 /new/bash --rcfile /s/shell/kittymux.bash
              /opt/bash -> /new/bash
            as it was
            launch kitten run-shell '--shell=/new/nu --config c' /km/kittymux resume-prompt --info {}
              /opt/nu -> /new/nu
            launch /new/zsh -l
              /usr/bin/zsh -> /new/zsh
            launch 'kitty-unserialize-data={"id": 1, "cmd_at_shell_startup": "make (nproc)"}' /new/fish
              /usr/bin/fish -> /new/fish
            launch 'kitty-unserialize-data={"id": 1, "cmd_at_shell_startup": "make -j2"}' /new/zsh
              /usr/bin/zsh -> /new/zsh
            launch 'kitty-unserialize-data={"id": 1, "cmd_at_shell_startup": ["vim"]}' /new/fish
              /usr/bin/fish -> /new/fish
            as it was
            as it was
            as it was"#]].assert_eq(&on(
            &["/new/zsh", "/new/bash", "/new/nu", "/new/fish"],
            "/new/zsh",
        ));
        expect![[r#"
            launch --env=X=1 kitten run-shell --shell=/bin/sh /km/kittymux resume-prompt --info '{}'
              /usr/bin/zsh -> /bin/sh
            launch kitten run-shell --shell=/bin/sh /km/kittymux resume-prompt --info '{}'
              /usr/bin/fish -> /bin/sh
            launch kitten run-shell --shell=/bin/sh /km/kittymux resume-prompt --info '{}'
              /opt/bash -> /bin/sh
            launch kitten run-shell --shell=/bin/sh /km/kittymux resume-prompt --info '{}'
              zsh -> /bin/sh
            launch kitten run-shell --shell=/bin/sh /km/kittymux resume-prompt --info {}
              /opt/nu -> /bin/sh
            launch /bin/sh
              /usr/bin/zsh -> /bin/sh
            launch 'kitty-unserialize-data={"id": 1}' /bin/sh
              /usr/bin/fish -> /bin/sh, line lost
            launch 'kitty-unserialize-data={"id": 1, "cmd_at_shell_startup": "make -j2"}' /bin/sh
              /usr/bin/zsh -> /bin/sh
            launch 'kitty-unserialize-data={"id": 1, "cmd_at_shell_startup": ["vim"]}' /bin/sh
              /usr/bin/fish -> /bin/sh
            as it was
            as it was
            as it was"#]]
        .assert_eq(&on(&["/bin/sh"], "/bin/sh"));
    }
}
