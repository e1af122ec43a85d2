//! Templates: session files with marks, each filled in as the place where it stands needs it.

use crate::kitty::session_file::{Item, Line, Origin, SessionFile};
use crate::kitty::words::{can_stand, double_dollars};

/// The marks, in the order of [`Values`].
pub const MARKS: [&str; 5] = ["@NAME@", "@CWD@", "@AGENT@", "@AGENT2@", "@SHELL@"];

/// What the marks stand for.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    /// The session's name.
    pub name: &'a str,
    /// Its directory, absolute.
    pub cwd: &'a str,
    /// The agent's program.
    pub agent: &'a str,
    /// The second agent's.
    pub agent2: &'a str,
    /// The person's shell.
    pub shell: &'a str,
}

impl Values<'_> {
    fn all(&self) -> [&str; 5] {
        [self.name, self.cwd, self.agent, self.agent2, self.shell]
    }

    fn fill(&self, text: &str) -> String {
        // The longer mark first: the other one is not its beginning, but a reader may think so.
        MARKS
            .iter()
            .zip(self.all())
            .fold(text.to_owned(), |text, (mark, value)| {
                text.replace(mark, value)
            })
    }
}

/// The marks that a template uses, outside its comments.
#[must_use]
pub fn marks(text: &str) -> Vec<&'static str> {
    let lines: Vec<&str> = text
        .lines()
        .filter(|l| !l.trim_start().starts_with('#'))
        .collect();
    let uses = |mark: &&'static str| lines.iter().any(|l| l.contains(*mark));
    MARKS.iter().copied().filter(uses).collect()
}

/// Fills a template in.
///
/// # Errors
/// What cannot stand where it is wanted, or a mark that is none.
pub fn render(template: &str, values: Values<'_>) -> Result<String, String> {
    for (mark, value) in MARKS.iter().zip(values.all()) {
        if template.contains(mark) && !can_stand(value) {
            return Err(format!(
                "{mark} would be {}, which a session file cannot hold",
                crate::sys::out::visible(value)
            ));
        }
    }
    let mut file = SessionFile::read(template, Origin::Person, &[]);
    for line in &mut file.lines {
        let whole = line.text();
        let filled = match &mut line.item {
            Item::Launch(launch) => {
                launch.change_options(|_, value| {
                    // What stands in the template is kitty's to expand; what we put in is not.
                    value.contains('@').then(|| fill_expanded(&values, value))
                });
                let words: Vec<String> = launch.program().iter().map(|w| values.fill(w)).collect();
                launch.set_program(&words);
                continue;
            }
            Item::Cd(_) | Item::NewTab(_) => fill_expanded(&values, &whole),
            Item::Comment(_) => continue,
            Item::Other(..) if whole.contains('@') => fill_expanded(&values, &whole),
            _ => continue,
        };
        *line = Line::new(&filled);
    }
    let text = file.text();
    let left = text
        .lines()
        .filter(|l| !l.trim_start().starts_with('#'))
        .find_map(unknown_mark);
    if let Some(mark) = left {
        return Err(format!(
            "there is no mark {mark}; there are {}",
            MARKS.join(" ")
        ));
    }
    match SessionFile::read(&text, Origin::Person, &[]).refusal() {
        Some((line, why)) => Err(format!("kitty would refuse it for line {line}: {why}")),
        None => Ok(text),
    }
}

/// Filled in where kitty expands `$NAME`.
fn fill_expanded(values: &Values<'_>, text: &str) -> String {
    let doubled = values.all().map(double_dollars);
    Values {
        name: &doubled[0],
        cwd: &doubled[1],
        agent: &doubled[2],
        agent2: &doubled[3],
        shell: &doubled[4],
    }
    .fill(text)
}

/// A mark in capitals that was not filled in.
fn unknown_mark(line: &str) -> Option<String> {
    let mut rest = line;
    while let Some(at) = rest.find('@') {
        let after = &rest[at + 1..];
        let end = after.find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit()))?;
        if end > 0 && after[end..].starts_with('@') {
            return Some(format!("@{}@", &after[..end]));
        }
        rest = after;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const REVIEW: &str = include_str!("../../assets/templates/review.kitty-session");

    fn values(cwd: &str) -> Values<'_> {
        Values {
            name: "my $work",
            cwd,
            agent: "claude",
            agent2: "codex",
            shell: "/bin/my sh",
        }
    }

    #[test]
    fn each_value_is_written_as_its_place_needs_it() {
        let text = render(REVIEW, values("/p/it's $HOME")).expect("filled in");
        expect_test::expect![[r#"
            # review: an agent, the changes of the working tree, and a shell
            new_tab my $$work
            layout splits
            cd /p/it's $$HOME
            launch claude
            focus
            launch --location=vsplit --title=changes '/bin/my sh' -c 'git diff; exec "$0"' '/bin/my sh'
            launch --location=hsplit
            focus_tab 0
        "#]]
        .assert_eq(&text);
        assert_eq!(marks(REVIEW), ["@NAME@", "@CWD@", "@AGENT@", "@SHELL@"]);
    }

    #[test]
    fn what_cannot_stand_and_marks_that_are_none_are_refused() {
        assert!(render(REVIEW, values("/p\n launch evil")).is_err());
        let odd = REVIEW.replace("@CWD@", "@PLACE@");
        assert_eq!(
            render(&odd, values("/p")),
            Err("there is no mark @PLACE@; there are @NAME@ @CWD@ @AGENT@ @AGENT2@ @SHELL@".into())
        );
        assert!(render("new_tab\nlaunch --bogus\n", values("/p")).is_err());
        assert!(render("# @PLACE@ is a comment\nlaunch me@host\n", values("/p")).is_ok());
    }
}
