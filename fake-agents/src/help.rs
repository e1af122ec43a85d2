//! The help texts: our own words in the grammar of each agent's option parser.

/// commander's style.
pub const CLAUDE: &str = include_str!("../help/claude.txt");
/// clap's style.
pub const CODEX: &str = include_str!("../help/codex.txt");
/// clap's style, of the sub-command.
pub const CODEX_RESUME: &str = include_str!("../help/codex-resume.txt");
/// yargs' style.
pub const OPENCODE: &str = include_str!("../help/opencode.txt");
