//! What stays, and what never does: options, prompts, secrets.

use super::*;

#[test]
fn claude_keeps_every_other_option_in_order_with_its_values() {
    check(&shipped("claude"), Way::Exact, "
        claude --dangerously-skip-permissions --model opus => claude --dangerously-skip-permissions --model opus --resume ID
        claude --some-flag-of-next-year --dangerously-skip-permissions --model opus => claude --some-flag-of-next-year --dangerously-skip-permissions --model opus --resume ID
        claude --worktree feat --model opus => claude --worktree feat --model opus --resume ID
        claude -w feat => claude -w feat --resume ID
        claude -w => claude -w --resume ID
        claude -w --model opus => claude -w --model opus --resume ID
        claude --worktree=feat => claude --worktree=feat --resume ID
        claude --add-dir ../lib ../two --verbose => claude --add-dir ../lib ../two --verbose --resume ID
        claude --add-dir ../lib -r OLD => claude --add-dir ../lib --resume ID
        claude --allowedTools 'Bash(git *)' Edit => claude --allowedTools 'Bash(git *)' Edit --resume ID
        claude --model=opus --effort high => claude --model=opus --effort high --resume ID
        claude --append-system-prompt 'be brief' => claude --append-system-prompt 'be brief' --resume ID
        claude --append-system-prompt '- be brief' --ide => claude --append-system-prompt '- be brief' --ide --resume ID
        claude --append-system-prompt --resume => claude --append-system-prompt --resume --resume ID
        claude --system-prompt '' => claude --system-prompt '' --resume ID
        claude -n work --permission-mode plan => claude -n work --permission-mode plan --resume ID
        claude --debug api --debug-file /tmp/x => claude --debug api --debug-file /tmp/x --resume ID
        claude --remote-control --model x => claude --remote-control --model x --resume ID
        claude --settings file.json => claude --settings file.json --resume ID
        claude --mcp-config a.json b.json => claude --mcp-config a.json b.json --resume ID
        /opt/claude/claude --model x => /opt/claude/claude --model x --resume ID
        claude --model 'a b' --name 'é日本' => claude --model 'a b' --name é日本 --resume ID
    ");
}

#[test]
fn claude_prompts_are_never_sent_again() {
    check(&shipped("claude"), Way::Exact, "
        claude 'fix the bug' => claude --resume ID | prompt
        claude fix => claude --resume ID | prompt
        claude 'fix the bug' --model opus --add-dir ../lib => claude --model opus --add-dir ../lib --resume ID | prompt
        claude --model opus 'fix the bug' => claude --model opus --resume ID | prompt
        claude --resume OLD 'and now' => claude --resume ID | prompt
        claude 'and now' --resume OLD => claude --resume ID | prompt
        claude --verbose hello => claude --verbose --resume ID | prompt
        claude -- 'fix the bug' => claude --resume ID | prompt
        claude -- --resume => claude --resume ID | prompt
        claude --model opus -- -x y => claude --model opus --resume ID | prompt
        claude --model -- fix => claude --resume ID --model | prompt
        claude --model => claude --resume ID --model
        claude '' => claude --resume ID | prompt
        claude '- a list' => claude --resume ID | prompt
        claude - => claude --resume ID | prompt
        claude /init => claude --resume ID | prompt
        claude 'line one two' three => claude --resume ID | prompt
    ");
}

#[test]
fn an_unknown_option_keeps_a_value_but_never_a_prompt() {
    check(&shipped("claude"), Way::Exact, "
        claude --new-mode fast => claude --new-mode fast --resume ID
        claude --new-mode=fast --model x => claude --new-mode=fast --model x --resume ID
        claude --new-mode fast 'fix it now' => claude --new-mode fast --resume ID | prompt
        claude --new-flag 'fix the bug' => claude --resume ID --new-flag | prompt
        claude --new-flag 'fix the bug' --model opus => claude --model opus --resume ID --new-flag | prompt
        claude --new-flag /review => claude --resume ID --new-flag | prompt
        claude --new-dir /srv/www => claude --new-dir /srv/www --resume ID
        claude --no-new-thing hello => claude --resume ID --no-new-thing | prompt
        claude --new=a=b => claude --new=a=b --resume ID
        claude -Z => claude --resume ID -Z
        claude --model x --new => claude --model x --resume ID --new
        claude --new --model x => claude --new --model x --resume ID
        claude -Zx 'do it' => claude --resume ID -Zx | prompt
    ");
}

#[test]
fn secrets_go_with_their_values_and_are_named() {
    check(
        &shipped("claude"),
        Way::Exact,
        r#"
        claude --api-key sk-x => claude --resume ID | secret --api-key
        claude --api-key=sk-x --model opus => claude --model opus --resume ID | secret --api-key
        claude --api-key -dash => claude --resume ID | secret --api-key
        claude --auth-token x --token y => claude --resume ID | secret --auth-token | secret --token
        claude --mcp-config {"env":{"KEY":"x"}} => claude --resume ID | secret --mcp-config
        claude --mcp-config={"a":1} => claude --resume ID | secret --mcp-config
        claude --mcp-config a.json {"x":1} b.json => claude --mcp-config a.json b.json --resume ID | secret --mcp-config
        claude --settings {"env":{"A":"x"}} => claude --resume ID | secret --settings
        claude --settings {"apiKey":"x"} => claude --resume ID | secret --settings
        claude --settings={"x":{"authToken":"x"}} => claude --resume ID | secret --settings
        claude --settings {"model":"opus"} => claude --settings {"model":"opus"} --resume ID
        claude --settings {broken"token":1 => claude --resume ID | secret --settings
        claude --agents {"a":{"prompt":"x\ny"}} => claude --agents {"a":{"prompt":"x\ny"}} --resume ID
        claude --service-token abc => claude --resume ID | secret --service-token
        claude --service-token=abc => claude --resume ID | secret --service-token
        claude --service-token -abc fix => claude --resume ID | prompt | secret --service-token
        claude --service-token --model opus => claude --model opus --resume ID | secret --service-token
        claude --max-thinking-tokens 100 => claude --max-thinking-tokens 100 --resume ID
        claude --new-option sk-ant-0123456789 => claude --resume ID | secret --new-option
    "#,
    );
    check(
        &shipped("codex"),
        Way::Exact,
        r#"
        codex -c x.token="y" => codex resume ID | secret -c
        codex -cx.token="y" => codex resume ID | secret -c
        codex --config=api_key=z -m o3 => codex -m o3 resume ID | secret --config
        codex -c model="o3" => codex -c model="o3" resume ID
        codex -c shell_environment_policy.set={A="b"} => codex resume ID | secret -c
        codex -c mcp_servers.a.env.FOO="b" => codex resume ID | secret -c
        codex -c p={env_key="OPENAI"} => codex -c p={env_key="OPENAI"} resume ID
        codex -c p={x="1",api_key="k"} => codex resume ID | secret -c
        codex -c model_providers.x.env_key="OPENAI_API_KEY" => codex -c model_providers.x.env_key="OPENAI_API_KEY" resume ID
        codex --remote-auth-token-env NAME => codex --remote-auth-token-env NAME resume ID
    "#,
    );
}
