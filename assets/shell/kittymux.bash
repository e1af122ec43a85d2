# kittymux.bash: how a restored bash window starts, given with --rcfile.
#
# The person's own start-up runs first; the first prompt then asks once about the agent that ran here, as a real job.
# From the launch line: KITTYMUX_RECORD (what ran here, JSON), KITTYMUX_BIN (kittymux), KITTYMUX_LOGIN=1 for a login shell.
# It works without kittymux: then this is a plain bash. Needs nothing newer than bash 3.2.

# Defined before the person's files are read, so that their aliases do not change what is meant here.

# once, at the first prompt
__kittymux_prompt() {
    local kittymux_record=${KITTYMUX_RECORD-} kittymux_bin=${KITTYMUX_BIN-} kittymux_status=0
    # Tidied up before anything runs: ^C ends this function where it stands.
    __kittymux_forget
    unset -v KITTYMUX_RECORD KITTYMUX_BIN
    unset -f __kittymux_prompt __kittymux_forget
    [[ $kittymux_bin == /* && -f $kittymux_bin && -x $kittymux_bin ]] || return 0
    "$kittymux_bin" resume-prompt --info "$kittymux_record" || kittymux_status=$?
    case $kittymux_status in
    0 | 126 | 127) return 0 ;;
    esac
    # Stopped is not failed: it waits for fg.
    [[ -z $(\builtin jobs -s) ]] || return 0
    "$kittymux_bin" resume-prompt --after "$kittymux_status" --info "$kittymux_record" || return 0
}

# adds our entry to PROMPT_COMMAND, as the last one; without a record there is nothing to ask
__kittymux_remember() {
    unset -f __kittymux_remember
    if [[ -z ${KITTYMUX_RECORD-} ]]; then
        unset -v KITTYMUX_RECORD KITTYMUX_BIN
        unset -f __kittymux_prompt __kittymux_forget
        return 0
    fi
    local __kittymux_flags
    __kittymux_flags=$(\builtin declare -p PROMPT_COMMAND 2>/dev/null) || __kittymux_flags='declare --'
    __kittymux_flags=${__kittymux_flags#declare -}
    case ${__kittymux_flags%% *}$((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)) in
    # It cannot be added to, and these files end here.
    *r*) __kittymux_prompt ;;
    *a*1) PROMPT_COMMAND+=(__kittymux_prompt) ;;
    # Older ones run only the first element, which a plain assignment means. A line of its own stands any text before it.
    *) if [[ -n ${PROMPT_COMMAND-} ]]; then
        PROMPT_COMMAND=$PROMPT_COMMAND$'\n'__kittymux_prompt
    else
        PROMPT_COMMAND=__kittymux_prompt
    fi ;;
    esac
}

# takes it out again, wherever others have moved it meanwhile
__kittymux_forget() {
    local __kittymux_flags __kittymux_i __kittymux_text
    __kittymux_flags=$(\builtin declare -p PROMPT_COMMAND 2>/dev/null) || return 0
    __kittymux_flags=${__kittymux_flags#declare -}
    case ${__kittymux_flags%% *} in
    *r*) return 0 ;;
    esac
    for __kittymux_i in "${!PROMPT_COMMAND[@]}"; do
        __kittymux_text=${PROMPT_COMMAND[$__kittymux_i]}
        [[ $__kittymux_text == *__kittymux_prompt* ]] || continue
        __kittymux_text=${__kittymux_text/__kittymux_prompt; /}
        __kittymux_text=${__kittymux_text/__kittymux_prompt;/}
        __kittymux_text=${__kittymux_text/$'\n'__kittymux_prompt/}
        __kittymux_text=${__kittymux_text/__kittymux_prompt/}
        case ${__kittymux_flags%% *} in
        *a*) if [[ -n $__kittymux_text ]]; then
            PROMPT_COMMAND[__kittymux_i]=$__kittymux_text
        else
            unset -v "PROMPT_COMMAND[$__kittymux_i]"
        fi ;;
        *) PROMPT_COMMAND=$__kittymux_text ;;
        esac
    done
    [[ -n "${PROMPT_COMMAND[*]-}" ]] || unset -v PROMPT_COMMAND
}

# Not for the programs that the person's files start.
export -n KITTYMUX_RECORD KITTYMUX_BIN

# bash, or kitty in its place, has read the system's bashrc already.
if [[ -n ${KITTYMUX_LOGIN-} ]]; then
    unset -v KITTYMUX_LOGIN
    if [[ -f /etc/profile && -r /etc/profile ]]; then
        . /etc/profile || :
    fi
    if [[ -f ~/.bash_profile && -r ~/.bash_profile ]]; then
        . ~/.bash_profile || :
    elif [[ -f ~/.bash_login && -r ~/.bash_login ]]; then
        . ~/.bash_login || :
    elif [[ -f ~/.profile && -r ~/.profile ]]; then
        . ~/.profile || :
    fi
elif [[ -f ~/.bashrc && -r ~/.bashrc ]]; then
    . ~/.bashrc || :
fi

__kittymux_remember
