# Shell integration of the emulator for zsh. Set up at the first prompt, after all start-up files.
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

__fk_preexec() {
    builtin local REPLY
    __fk_percent "$1"
    builtin print -rn -- $'\e]133;C;cmdline_url='"$REPLY"$'\a'
    __fk_title "$1"
}

__fk_precmd() {
    builtin local last=$?
    builtin print -rn -- $'\e]133;D;'"$last"$'\a\e]7;kitty-shell-cwd://'"$HOST$PWD"$'\a'
    __fk_title "${(%):-%~}"
    if [[ $PS1 != *'133;A'* ]]; then
        PS1=$'%{\e]133;A\a%}'"$PS1"
    fi
    return last
}

__fk_first() {
    builtin local last=$?
    precmd_functions=(${precmd_functions:#__fk_first} __fk_precmd)
    preexec_functions+=(__fk_preexec)
    if [[ -n $KITTY_SI_RUN_COMMAND_AT_STARTUP ]]; then
        builtin local line=$KITTY_SI_RUN_COMMAND_AT_STARTUP
        builtin unset KITTY_SI_RUN_COMMAND_AT_STARTUP
        __fk_title "$line"
        builtin eval "$line"
    fi
    # This round of hooks began before our own was there.
    __fk_precmd
    return last
}

builtin typeset -ga precmd_functions preexec_functions
precmd_functions+=(__fk_first)
