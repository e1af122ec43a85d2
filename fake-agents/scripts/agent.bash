# Shared by the scripts beside it: $agent is the name, $help_file the help text.
# It keeps known ids in $HOME/.fake-ids-$agent, one a line.

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
ids=$HOME/.fake-ids-$agent

json() {
    local text=${1//\\/\\\\}
    text=${text//\"/\\\"}
    text=${text//$'\n'/\\n}
    text=${text//$'\t'/\\t}
    printf '"%s"' "$text"
}

record() {
    [ -n "$FAKE_AGENT_LOG" ] || return
    local line="{\"agent\":\"$agent\",\"argv\":[$(json "$0")" word name
    for word; do line+=",$(json "$word")"; done
    line+="],\"cwd\":$(json "$PWD"),\"pid\":$$,\"ppid\":$PPID,\"env\":{"
    local comma=
    for name in FOO DENV CLAUDE_CONFIG_DIR CODEX_HOME KITTY_WINDOW_ID KITTYMUX_RECORD KITTYMUX_BIN PATH; do
        [ -n "${!name+x}" ] || continue
        line+="$comma$(json "$name"):$(json "${!name}")"
        comma=,
    done
    printf '%s\n' "$line}}" >>"$FAKE_AGENT_LOG"
}

known() { [ -f "$ids" ] && grep -qxF -- "$1" "$ids"; }

record "$@"
id= how=new next=
for word; do
    if [ -n "$next" ]; then
        id=$word next= how=resumed
        continue
    fi
    case $word in
    --help | -h)
        # opencode prints its help to standard error.
        if [ "$agent" = opencode ]; then cat "$here/../help/$help_file" >&2; else cat "$here/../help/$help_file"; fi
        exit 0
        ;;
    --version) echo "0.0.0 (a stand-in)"; exit 0 ;;
    --resume=* | --session=*) id=${word#*=} how=resumed ;;
    --resume | -r) [ "$agent" = claude ] && next=1 ;;
    --session) [ "$agent" = opencode ] && next=1 ;;
    -s) [ "$agent" = opencode ] && next=1 ;;
    resume) [ "$agent" = codex ] && next=1 ;;
    --last | --continue) [ -f "$ids" ] && id=$(tail -n 1 "$ids") how=resumed next= ;;
    esac
done
if [ "$how" = resumed ] && ! known "$id"; then
    echo "$agent: no conversation with the id $id" >&2
    exit 1
fi
if [ -z "$id" ]; then
    id=$(cat /proc/sys/kernel/random/uuid)
    printf '%s\n' "$id" >>"$ids"
fi
echo "$agent: conversation $id ($how) in $PWD"
while IFS= read -r line; do
    case $line in
    /exit) exit 0 ;;
    /fail) exit 1 ;;
    /clear)
        id=$(cat /proc/sys/kernel/random/uuid)
        printf '%s\n' "$id" >>"$ids"
        echo "$agent: conversation $id (new) in $PWD"
        ;;
    ?*) echo "$agent: heard $line" ;;
    esac
done
