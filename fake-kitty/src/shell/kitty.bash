# Shell integration of the emulator for bash: started with --posix, this file comes through ENV. It takes
# the place of bash's own start-up files, reads them, and then adds the marks.
if [[ "$-" == *i* && -n "$KITTY_BASH_INJECT" ]]; then
    __fk_inject=" $KITTY_BASH_INJECT "
    builtin unset KITTY_BASH_INJECT ENV
    [[ -n "$KITTY_BASH_POSIX_ENV" ]] && builtin export ENV="$KITTY_BASH_POSIX_ENV"
    builtin unset KITTY_BASH_POSIX_ENV
    if [[ -n "$KITTY_BASH_UNEXPORT_HISTFILE" ]]; then
        builtin export -n HISTFILE
        builtin unset KITTY_BASH_UNEXPORT_HISTFILE
    fi
    __fk_rcfile="$KITTY_BASH_RCFILE"
    builtin unset KITTY_BASH_RCFILE
    if [[ "$__fk_inject" != *" posix "* ]]; then
        builtin set +o posix
        builtin shopt -u inherit_errexit
        if builtin shopt -q login_shell; then
            if [[ "$__fk_inject" != *" no-profile "* ]]; then
                [[ -r /etc/profile ]] && builtin source /etc/profile
                for __fk_file in ~/.bash_profile ~/.bash_login ~/.profile; do
                    if [[ -r "$__fk_file" ]]; then
                        builtin source "$__fk_file"
                        break
                    fi
                done
            fi
        elif [[ "$__fk_inject" != *" no-rc "* ]]; then
            [[ -r /etc/bash.bashrc ]] && builtin source /etc/bash.bashrc
            [[ -n "$__fk_rcfile" ]] || __fk_rcfile=~/.bashrc
            [[ -r "$__fk_rcfile" ]] && builtin source "$__fk_rcfile"
        fi
    fi
    builtin unset __fk_inject __fk_rcfile __fk_file
fi

if [[ "$-" == *i* && -z "$__fk_ready" ]]; then
    __fk_ready=1

    # The command line is taken from the history, so a line that is not put there (HISTCONTROL) is reported
    # as the one before it: kitty's own fault.
    __fk_command() {
        builtin local line
        line=$(HISTTIMEFORMAT='' builtin history 1)
        line="${line#*[[:digit:]]*[[:space:]]}"
        line="${line#"${line%%[![:space:]]*}"}"
        builtin printf '\e]133;C;cmdline=%q\a\e]2;%s\a' "$line" "${line//[[:cntrl:]]/ }"
    }

    __fk_precmd() {
        builtin local status="$?" dir="$PWD"
        [[ "$dir" == "$HOME"* ]] && dir="~${dir#"$HOME"}"
        builtin printf '\e]133;D;%s\a\e]7;kitty-shell-cwd://%s%s\a\e]2;%s\a' "$status" "$HOSTNAME" "$PWD" "$dir"
        if [[ "$PS1" != *'133;A'* ]]; then PS1='\[\e]133;A\a\]'"$PS1"; fi
        if [[ "$PS0" != *__fk_command* ]]; then PS0="$PS0"'$(__fk_command)'; fi
        return "$status"
    }

    if [[ -z "${PROMPT_COMMAND[*]}" ]]; then
        PROMPT_COMMAND=(__fk_precmd)
    elif [[ "$(builtin declare -p PROMPT_COMMAND 2>/dev/null)" == 'declare -a'* ]]; then
        PROMPT_COMMAND+=(__fk_precmd)
    else
        PROMPT_COMMAND="${PROMPT_COMMAND%;}"$'\n'"__fk_precmd"
    fi

    if [[ -n "$KITTY_SI_RUN_COMMAND_AT_STARTUP" ]]; then
        __fk_start="$KITTY_SI_RUN_COMMAND_AT_STARTUP"
        builtin unset KITTY_SI_RUN_COMMAND_AT_STARTUP
        builtin printf '\e]2;%s\a' "${__fk_start//[[:cntrl:]]/ }"
        builtin eval "$__fk_start"
        builtin unset __fk_start
    fi
fi
