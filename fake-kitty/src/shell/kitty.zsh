# Shell integration of the emulator for zsh. Set up at the first prompt, after all start-up files. Two names
# are those of kitty's own integration, because other people's start-up files look for them: the function
# _ksi_precmd, and _ksi_state, which is 1 while a command is marked as running.
builtin typeset -gi _ksi_state

__fk_percent() {
    builtin emulate -L zsh -o no_multibyte
    builtin local out='' c
    for c in ${(s::)1}; do
        case $c in
            ([a-zA-Z0-9/._~-]) out+=$c ;;
            (*) out+=$(builtin printf '%%%02X' "'$c") ;;
        esac
    done
    REPLY=$out
}

__fk_title() {
    builtin print -rn -- $'\e]2;'"${(V)1}"$'\a'
}

_ksi_preexec() {
    builtin emulate -L zsh
    builtin local REPLY
    __fk_percent "$1"
    builtin print -rn -- $'\e]133;C;cmdline_url='"$REPLY"$'\a'
    _ksi_state=1
    __fk_title "$1"
}

_ksi_precmd() {
    builtin local -i last=$?
    builtin emulate -L zsh
    if (( _ksi_state == 1 )); then
        builtin print -rn -- $'\e]133;D;'"$last"$'\a'
        _ksi_state=2
    fi
    builtin print -rn -- $'\e]7;kitty-shell-cwd://'"$HOST$PWD"$'\a'
    __fk_title "${(%):-%~}"
    if [[ $PS1 != *'133;A'* ]]; then
        PS1=$'%{\e]133;A\a%}'"$PS1"
    fi
    return last
}

__fk_first() {
    builtin local -i last=$?
    builtin emulate -L zsh
    precmd_functions=(${precmd_functions:#__fk_first} _ksi_precmd)
    preexec_functions+=(_ksi_preexec)
    if [[ -n $KITTY_SI_RUN_COMMAND_AT_STARTUP ]]; then
        builtin local line=$KITTY_SI_RUN_COMMAND_AT_STARTUP
        builtin unset KITTY_SI_RUN_COMMAND_AT_STARTUP
        __fk_title "$line"
        builtin eval "$line"
    fi
    # This round of hooks began before our own was there.
    _ksi_precmd
    return last
}

builtin typeset -ga precmd_functions preexec_functions
precmd_functions+=(__fk_first)
