//! Processes and the agent that each of them is: `words => agent N words kind`, one case a line;
//! `-` is none. `N` is the word that is the program.

use super::argv_cases::{line, words};
use super::definitions::Definitions;
use super::program::{Kind, plain, recognise};

/// Each line: the arguments, optionally ` @ exe` and ` # comm`.
fn check(table: &str) {
    let defs = Definitions::shipped();
    let mut wrong = String::new();
    for case in table.lines().filter(|l| !l.trim().is_empty()) {
        let (given, expected) = case.split_once("=>").expect("given => expected");
        let (given, comm) = given.split_once(" # ").unwrap_or((given, ""));
        let (given, exe) = given.split_once(" @ ").unwrap_or((given, ""));
        let exe = Some(exe.trim()).filter(|e| !e.is_empty());
        let shown = match recognise(&defs, &words(given), exe, comm.trim()) {
            None => "-".to_owned(),
            Some(call) => {
                let kind = match call.kind {
                    Kind::Interactive => "",
                    Kind::Helper => " (helper)",
                    Kind::Headless => " (headless)",
                };
                let program = if call.words[0] == call.agent {
                    ""
                } else {
                    "as "
                };
                format!(
                    "{}{} {program}{}{kind}",
                    call.agent,
                    call.at,
                    line(&call.words)
                )
            }
        };
        if shown != expected.trim() {
            wrong.push_str(&format!("{}\n    gave {shown}\n", case.trim()));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn agents_by_name() {
    check(
        "
        claude => claude0 claude
        claude --model opus => claude0 claude --model opus
        /usr/local/bin/claude -c => claude0 as /usr/local/bin/claude -c
        ./claude => claude0 as ./claude
        claude.exe --x => claude0 claude --x
        CLAUDE => claude0 claude
        .opencode /p => opencode0 opencode /p
        /nix/store/abc-codex-0.1/bin/.codex-wrapped -m o3 => codex0 codex -m o3
        /nix/store/abc/bin/.claude-wrapped_ => -
        /nix/store/abc/bin/claude => claude0 claude
        /n/lib/node_modules/@openai/codex/vendor/x86_64/bin/codex resume X => codex0 codex resume X
        opencode.exe => opencode0 opencode
    ",
    );
}

#[test]
fn agents_behind_an_interpreter() {
    check("
        node /usr/lib/node_modules/@openai/codex/bin/codex.js --model o3 => codex1 codex --model o3
        node /usr/bin/codex resume X => codex1 codex resume X
        /usr/bin/env node /x/codex -m o3 => codex2 codex -m o3
        env A=b C=d claude --x => claude3 claude --x
        env -i -u HOME claude => claude4 claude
        env -S 'node claude' => -
        node --max-old-space-size=8192 /h/bin/claude -c => claude2 claude -c
        node --require /x/hook.js /h/bin/claude => claude3 claude
        node --expose-gc -r /x/y /h/bin/codex => codex4 codex
        node -- /h/bin/codex => codex2 codex
        nodejs /h/bin/claude => claude1 claude
        node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js --resume => claude1 claude --resume
        node /opt/@anthropic-ai/claude-code/cli.js => claude1 claude
        /usr/bin/node /x/.pnpm/a/node_modules/@openai/codex/bin/codex.js => codex1 codex
        node /x/node_modules/@anthropic-ai/claude-code/node_modules/mcp/cli.js => -
        node /x/node_modules/@anthropic-ai/claude-code/vendor/hook.js => -
        bun /h/bin/opencode -s X => opencode1 opencode -s X
        bun run /h/bin/opencode => opencode2 opencode
        bun --cwd /p /h/bin/opencode => opencode3 opencode
        bunx opencode-ai => opencode1 opencode
        bunx --bun @openai/codex -m o3 => codex2 codex -m o3
        bun x @openai/codex@latest => codex2 codex
        deno run -A npm:@openai/codex => codex3 codex
        npx @openai/codex => codex1 codex
        npx -y @anthropic-ai/claude-code@2.1.0 --model x => claude2 claude --model x
        npx --yes -- claude => claude3 claude
        npx -p x claude => -
        python3.12 /h/bin/claude --x => claude1 claude --x
        python3 -X utf8 /h/bin/claude => claude3 claude
        python3 -m claude => claude2 claude
        python3 -c claude => -
        /bin/bash /h/bin/claude --model x => claude1 claude --model x
        /bin/sh -e /h/bin/opencode => opencode2 opencode
        bash --posix /h/bin/codex => codex2 codex
        bash -lc claude => -
        bash -c claude => -
        bash => -
        bash --rcfile claude => -
    ");
}

#[test]
fn what_is_no_agent() {
    check(
        "
        node server.js claude => -
        node /x/claude.js => -
        node -e claude => -
        node => -
        zsh => -
        -fish => -
        -claude => -
        ssh host claude => -
        docker exec -it c claude => -
        sudo -u bob claude => -
        tmux new claude => -
        timeout 9 claude => -
        script -qc claude x => -
        vim claude => -
        python3 not_an_agent.py => -
        /home/u/claude/run.sh => -
        claude-monitor => -
        node /x/node_modules/@openai/codex-sdk/cli.js => -
        kittymux resume-prompt --info claude => -
        '' => -
    ",
    );
    assert!(recognise(&Definitions::shipped(), &[], Some("/x/claude"), "claude").is_none());
}

#[test]
fn odd_names_by_the_programs_file() {
    check("
        2.1.44 --model x @ /h/.local/share/claude/versions/2.1.44 # 2.1.44 => claude0 claude --model x
        /h/.local/share/claude/versions/2.1.44 @ /h/.local/share/claude/versions/2.1.44 # 2.1.44 => claude0 claude
        claude @ /h/.local/share/claude/versions/2.1.44 # 2.1.44 => claude0 claude
        3.12 @ /usr/lib/python/3.12 => -
        c --model x @ /n/@anthropic-ai/claude-code/bin/claude.exe # c => claude0 claude --model x
        renamed @ /usr/bin/node # renamed => -
        bash x @ /opt/claude => -
        -zsh @ /opt/claude => -
        rg --files x @ /n/@anthropic-ai/claude-code/bin/claude.exe => -
        node server.js @ /n/@anthropic-ai/claude-code/bin/claude.exe => -
    ");
}

#[test]
fn a_title_over_the_arguments_leaves_the_bare_name() {
    check(
        "
        claude '' '' '' => claude0 claude
        codex '' => codex0 codex
        claude --model '' => claude0 claude --model ''
    ",
    );
}

#[test]
fn the_kind_of_run() {
    check("
        claude mcp serve => claude0 claude mcp serve (helper)
        claude -p hi => claude0 claude -p hi (headless)
        claude --bg-spare /s => claude0 claude --bg-spare /s (headless)
        claude daemon run --origin transient => claude0 claude daemon run --origin transient (helper)
        claude attach X => claude0 claude attach X (helper)
        codex app-server daemon pid-update-loop => codex0 codex app-server daemon pid-update-loop (helper)
        codex -m gpt exec x => codex0 codex -m gpt exec x (headless)
        codex -p fast => codex0 codex -p fast
        codex exec-server => codex0 codex exec-server (helper)
        opencode -p x => opencode0 opencode -p x
        opencode run x => opencode0 opencode run x (headless)
        claude 'explain mcp' => claude0 claude 'explain mcp'
        claude -- mcp => claude0 claude -- mcp
    ");
}

#[test]
fn the_other_agents_in_their_shapes() {
    check("
        node /n/bin/gemini -m x => gemini1 gemini -m x
        /n/bin/node --max-old-space-size=12052 /n/bin/gemini -m x # MainThread => gemini2 gemini -m x
        node /n/lib/node_modules/@qwen-code/qwen-code/cli.js -y => qwen1 qwen -y
        /n/bin/node --expose-gc /n/lib/node_modules/@qwen-code/qwen-code/dist/cli.js -y => qwen2 qwen -y
        /n/lib/node_modules/@github/copilot-linux-x64/copilot --banner => copilot0 copilot --banner
        bun /h/bin/omp -c => omp1 omp -c
        /usr/bin/python3 /h/bin/hermes --tui => hermes1 hermes --tui
        /h/lib/python3.12/site-packages/vibe/_bin/vibe-rs --trust => vibe0 vibe --trust
        vibe-app-server '' '' => -
        pi '' '' '' @ /usr/bin/node => pi0 pi
        cursor --resume => cursor-agent0 as cursor --resume
        antigravity => agy0 as antigravity
        cbc -c => codebuddy0 as cbc -c
        npx @google/gemini-cli -m x => gemini1 gemini -m x
        npx -y @sourcegraph/amp => amp2 amp
        node /home/u/cline/index.js => -
        python3 -m aider a.py => aider2 aider a.py
    ");
}

#[test]
fn the_kind_of_run_of_the_others() {
    check("
        grok doctor => grok0 grok doctor (helper)
        devin acp => devin0 devin acp (helper)
        droid exec --input-format stream-jsonrpc => droid0 droid exec --input-format stream-jsonrpc (headless)
        qwen 'fix it' => qwen0 qwen 'fix it' (headless)
        qwen -i 'fix it' => qwen0 qwen -i 'fix it'
        gemini -p x => gemini0 gemini -p x (headless)
        acli rovodev run => acli0 acli rovodev run
        acli jira board list => acli0 acli jira board list (helper)
        acli => acli0 acli (helper)
        hermes => hermes0 hermes
        hermes chat => hermes0 hermes chat
        hermes gateway run => hermes0 hermes gateway run (helper)
        amp threads continue T-1 => amp0 amp threads continue T-1
        amp threads list => amp0 amp threads list (helper)
        amp t c T-1 => amp0 amp t c T-1
        cline --cline-hub-daemon => cline0 cline --cline-hub-daemon (headless)
        cline -p => cline0 cline -p
        kilo run x => kilo0 kilo run x (headless)
        codebuddy -p x => codebuddy0 codebuddy -p x (headless)
    ");
}

#[test]
fn plain_names() {
    for (word, name) in [
        ("/a/b/Claude.EXE", "claude"),
        (".claude-wrapped", "claude"),
        ("..x", "..x"),
        (".", "."),
        ("", ""),
        ("-fish", "-fish"),
        ("/a/", ""),
        (".exe", ".exe"),
        ("-wrapped", "-wrapped"),
    ] {
        assert_eq!(plain(word), name, "{word}");
    }
}
