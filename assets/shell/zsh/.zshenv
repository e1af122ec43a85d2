# .zshenv: how a restored zsh window starts, with ZDOTDIR at this directory.
#
# The person's own start-up follows as if ZDOTDIR had never been here; the first prompt then asks once about the agent
# that ran here, as a real job. From the launch line: KITTYMUX_RECORD (what ran here, JSON), KITTYMUX_BIN (kittymux),
# KITTYMUX_ZDOTDIR (the person's own ZDOTDIR, absent when they have none).
# It works without kittymux: then this is a plain zsh. Quoted words are safe from aliases of the system's zshenv.

# once, before the first prompt is drawn
'__kittymux_ask'() {
    'builtin' 'emulate' '-L' 'zsh' '-o' 'no_aliases' '-o' 'no_warn_create_global'
    'builtin' 'local' kittymux_record="${KITTYMUX_RECORD-}" kittymux_bin="${KITTYMUX_BIN-}"
    'builtin' 'local' -i kittymux_status=0
    # Tidied up before anything runs: ^C ends this function where it stands.
    'builtin' 'unset' KITTYMUX_RECORD KITTYMUX_BIN
    'builtin' 'unfunction' '__kittymux_ask'
    periodic_functions=("${(@)periodic_functions:#__kittymux_ask}")
    (( ${#periodic_functions} )) || 'builtin' 'unset' periodic_functions
    if [[ "${PERIOD-}" == "1" ]]; then 'builtin' 'unset' PERIOD; fi
    if [[ "$kittymux_bin" != /* || ! -f "$kittymux_bin" || ! -x "$kittymux_bin" ]]; then 'builtin' 'return' 0; fi
    # kitty's integration may have marked a prompt already: tell it of a command, and of the prompt after that.
    if (( ${+functions[_ksi_precmd]} )); then 'builtin' 'printf' '\e]133;C\a' >'/dev/tty' && _ksi_state=1; fi
    {
        "$kittymux_bin" resume-prompt --info "$kittymux_record" || kittymux_status=$?
        # Stopped is not failed: it waits for fg, and what follows in here then runs in a copy of the shell.
        if (( kittymux_status != 0 && kittymux_status != 126 && kittymux_status != 127 && ! ZSH_SUBSHELL )) &&
            [[ "${(v)jobstates}" != *suspended* ]]; then
            "$kittymux_bin" resume-prompt --after "$kittymux_status" --info "$kittymux_record" || 'builtin' 'true'
        fi
    } always {
        if (( ${+functions[_ksi_precmd]} && ! ZSH_SUBSHELL )); then '_ksi_precmd'; fi
    }
}

if [[ -n "${KITTYMUX_ZDOTDIR+X}" ]]; then
    'builtin' 'export' ZDOTDIR="$KITTYMUX_ZDOTDIR"
    'builtin' 'unset' KITTYMUX_ZDOTDIR
else
    'builtin' 'unset' ZDOTDIR
fi

if [[ -o 'interactive' && -n "${KITTYMUX_RECORD-}" ]]; then
    # Not for the programs that the person's files start.
    'builtin' 'typeset' '-g' +x KITTYMUX_RECORD KITTYMUX_BIN
    # zsh calls `periodic` right after every precmd function: prompt hooks and kitty's integration are done by then.
    # A PERIOD of the person's own is as good, since the first prompt is always due.
    'builtin' 'typeset' '-ga' periodic_functions
    periodic_functions+=('__kittymux_ask')
    'builtin' 'typeset' '-g' PERIOD="${PERIOD:-1}"
else
    'builtin' 'unset' KITTYMUX_RECORD KITTYMUX_BIN
    'builtin' 'unfunction' '__kittymux_ask'
fi

# As zsh does: an empty ZDOTDIR is the root directory, files that cannot be read are passed over.
if [[ -r "${ZDOTDIR-$HOME}/.zshenv" ]]; then
    'builtin' 'source' '--' "${ZDOTDIR-$HOME}/.zshenv"
fi
