//! The paths of definitions: `projects/{dashed}/chats/{id}.jsonl` and the like.

use crate::sys::bytes::stood_for;

/// How a project's directory is written in a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Every character but ASCII letters and digits is a dash (claude, qwen).
    Letters,
    /// Every `/` is a dash. What becomes of other characters is not known, so both forms count.
    Dashed,
    /// Every `/`, `\` and `:` is a dash, without the first one (pi).
    Bare,
    /// The same with one dash for several, and none at the end (codebuddy).
    Short,
    /// A dash and the way from home; `-tmp-…` and `--…--` elsewhere (omp).
    Home,
}

const FORMS: [(&str, Form); 5] = [
    ("{letters}", Form::Letters),
    ("{dashed}", Form::Dashed),
    ("{bare}", Form::Bare),
    ("{short}", Form::Short),
    ("{home}", Form::Home),
];

/// A path with a project's directory in one of its components and an id in the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern<'a> {
    /// What stands before the project's directory: `projects`.
    pub top: &'a str,
    before: &'a str,
    form: Form,
    after: &'a str,
    /// What stands between it and the file: `chats`, or nothing.
    inside: Option<&'a str>,
    name: &'a str,
}

impl<'a> Pattern<'a> {
    /// Takes a path apart; `None` when no component is a project's directory.
    #[must_use]
    pub fn read(path: &'a str) -> Option<Self> {
        let (mark, form) = FORMS.iter().find(|(mark, _)| path.contains(mark))?;
        let (before, after) = path.split_once(mark)?;
        let (top, before) = before.rsplit_once('/')?;
        let (after, rest) = after.split_once('/')?;
        let (inside, name) = match rest.rsplit_once('/') {
            Some((inside, name)) => (Some(inside), name),
            None => (None, rest),
        };
        Some(Self {
            top,
            before,
            form: *form,
            after,
            inside,
            name,
        })
    }

    /// The names that the directory `cwd` may have.
    #[must_use]
    pub fn dirs(&self, cwd: &str, home: &str) -> Vec<String> {
        let bare = |path: &str| path.trim_start_matches('/').replace(['/', '\\', ':'], "-");
        let below = |top: &str| {
            let rest = cwd.strip_prefix(top.trim_end_matches('/'))?;
            (rest.is_empty() || rest.starts_with('/')).then_some(rest)
        };
        let mut names = match self.form {
            Form::Letters => vec![project_name(cwd)],
            Form::Dashed => vec![cwd.replace('/', "-"), project_name(cwd)],
            Form::Bare => vec![bare(cwd)],
            Form::Short => {
                let dashed = bare(cwd);
                let pieces: Vec<&str> = dashed.split('-').filter(|p| !p.is_empty()).collect();
                vec![pieces.join("-")]
            }
            Form::Home => match below(home) {
                Some(rest) => vec![format!("-{}", bare(rest))],
                None => {
                    let elsewhere = format!("--{}--", bare(cwd));
                    let tmp = below("/tmp").map(|rest| match bare(rest).as_str() {
                        "" => "-tmp".to_owned(),
                        rest => format!("-tmp-{rest}"),
                    });
                    tmp.into_iter().chain([elsewhere]).collect()
                }
            },
        };
        names.dedup();
        let wrap = |name: String| format!("{}{name}{}", self.before, self.after);
        names.into_iter().map(wrap).collect()
    }

    /// A path below a project's directory.
    #[must_use]
    pub fn below(&self, project: &std::path::Path) -> std::path::PathBuf {
        match self.inside {
            Some(inside) => project.join(inside),
            None => project.to_owned(),
        }
    }

    /// The id in the name of a file.
    #[must_use]
    pub fn id_in<'n>(&self, name: &'n str) -> Option<&'n str> {
        id_in(self.name, name)
    }

    /// The name of the file of an id, where it holds nothing else.
    #[must_use]
    pub fn name_of(&self, id: &str) -> Option<String> {
        (!self.name.contains("{any}")).then(|| self.name.replace("{id}", id))
    }
}

/// The id in one component of a path; `{any}` may stand before it, up to the next character.
fn id_in<'n>(pattern: &str, text: &'n str) -> Option<&'n str> {
    let (before, after) = pattern.split_once("{id}")?;
    let text = text.strip_suffix(after)?;
    match before.strip_prefix("{any}") {
        Some(between) => text.split_once(between).map(|(_, id)| id),
        None => text.strip_prefix(before),
    }
}

/// The id in a path that ends as `pattern` says: `session_locks/{id}.lock`.
#[must_use]
pub fn id_at_end<'p>(pattern: &str, path: &'p str) -> Option<&'p str> {
    let mut id = None;
    let mut parts = path.rsplit('/');
    for wanted in pattern.rsplit('/') {
        let part = parts.next().filter(|p| !p.is_empty())?;
        if wanted.contains("{id}") {
            id = Some(id_in(wanted, part)?);
        } else if wanted != "{any}" && wanted != part {
            return None;
        }
    }
    id
}

/// `cwd` with every character but ASCII letters and digits as `-`. JavaScript counts UTF-16 units: a
/// character beyond U+FFFF gives two dashes.
#[must_use]
pub fn project_name(cwd: &str) -> String {
    let mut name = String::with_capacity(cwd.len());
    for c in cwd.chars() {
        if c.is_ascii_alphanumeric() {
            name.push(c);
        } else {
            let units = if stood_for(c).is_some() {
                1
            } else {
                c.len_utf16()
            };
            name.extend(std::iter::repeat_n('-', units));
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_in_every_form() {
        let dirs = |path: &str, cwd: &str| {
            let pattern = Pattern::read(path).expect("a pattern");
            pattern.dirs(cwd, "/home/u").join(" ")
        };
        for (path, cwd, expected) in [
            ("projects/{letters}/{id}.jsonl", "/h/a.b", "-h-a-b"),
            ("s/{dashed}/{id}.jsonl", "/h/proj", "-h-proj"),
            ("s/{dashed}/{id}.jsonl", "/h/a.b", "-h-a.b -h-a-b"),
            ("s/{short}/chats/{id}.jsonl", "/h/proj", "h-proj"),
            ("s/{short}/chats/{id}.jsonl", "/h/a--b/c-", "h-a-b-c"),
            (
                "s/--{bare}--/{any}_{id}.jsonl",
                "/h/u/a.b--c:d",
                "--h-u-a.b--c-d--",
            ),
            ("s/{home}/{any}_{id}.jsonl", "/home/u/proj", "-proj"),
            ("s/{home}/{any}_{id}.jsonl", "/home/u", "-"),
            (
                "s/{home}/{any}_{id}.jsonl",
                "/tmp/x/y",
                "-tmp-x-y --tmp-x-y--",
            ),
            ("s/{home}/{any}_{id}.jsonl", "/tmp", "-tmp --tmp--"),
            ("s/{home}/{any}_{id}.jsonl", "/srv/x", "--srv-x--"),
            (
                "s/{home}/{any}_{id}.jsonl",
                "/home/user/x",
                "--home-user-x--",
            ),
        ] {
            assert_eq!(dirs(path, cwd), expected, "{path}");
        }
        assert_eq!(Pattern::read("sessions/{id}.jsonl"), None);
        assert_eq!(Pattern::read("{dashed}/{id}"), None);
    }

    #[test]
    fn ids_in_names_and_paths() {
        let id = |path: &str, name: &'static str| Pattern::read(path).expect("one").id_in(name);
        assert_eq!(id("s/{bare}/{id}.jsonl", "x.jsonl"), Some("x"));
        assert_eq!(id("s/{bare}/{id}.jsonl", "x.json"), None);
        assert_eq!(
            id("s/{bare}/{any}_{id}.jsonl", "2026-01-01_my_id.jsonl"),
            Some("my_id")
        );
        for (pattern, path, expected) in [
            (
                "session_locks/{id}.lock",
                "/x/session_locks/tall-yogurt.lock",
                Some("tall-yogurt"),
            ),
            ("session_locks/{id}.lock", "/x/session_locks/a/b.lock", None),
            ("session_locks/{id}.lock", "/x/other/b.lock", None),
            (
                "logs/sessions/{any}/{id}/segments/{any}",
                "/h/.qoder/logs/sessions/-p/ID/segments/t-p1.jsonl",
                Some("ID"),
            ),
            (
                "logs/sessions/{any}/{id}/segments/{any}",
                "logs/sessions/ID/segments/t",
                None,
            ),
        ] {
            assert_eq!(id_at_end(pattern, path), expected, "{path}");
        }
    }

    #[test]
    fn project_names_are_claudes() {
        for (cwd, name) in [
            ("/home/u/claude5/pr.oj_é x", "-home-u-claude5-pr-oj---x"),
            ("/p/日本", "-p---"),
            ("/p/😀", "-p---"),
            ("/", "-"),
        ] {
            assert_eq!(project_name(cwd), name);
        }
    }
}
