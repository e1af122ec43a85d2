# Completions for kittymux in bash: each candidate comes from kittymux itself.

# Splits $1, a command line up to the cursor, as the shell would but without expanding anything: the
# words before the last into $words, the last one into $word, as it was typed into $raw, the quote that
# is still open into $quote.
_kittymux_split() {
    local text=$1 c i
    words=() word='' raw='' quote=''
    for ((i = 0; i < ${#text}; i++)); do
        c=${text:i:1}
        if [[ $c == \\ && $quote != \' ]]; then
            raw+=${text:i:2}
            i=$((i + 1))
            word+=${text:i:1}
        elif [[ -n $quote ]]; then
            raw+=$c
            if [[ $c == "$quote" ]]; then quote=''; else word+=$c; fi
        elif [[ $c == [[:blank:]] ]]; then
            [[ -n $raw ]] && words+=("$word")
            word='' raw=''
        else
            raw+=$c
            if [[ $c == [\'\"] ]]; then quote=$c; else word+=$c; fi
        fi
    done
}

# Adds $1 to the answers, quoted as the word was begun, without what readline leaves in place ($2).
_kittymux_add() {
    local full=$1
    case $quote in
    \') full=\'${full//\'/\'\\\'\'} ;;
    \") full=\"$(printf '%s' "$full" | sed 's/[\\"$`]/\\&/g') ;;
    *)
        printf -v full %q "$full"
        # A tilde that was typed bare stays one.
        [[ $raw == "~"* ]] && full=${full/#\\~/\~}
        ;;
    esac
    COMPREPLY+=("${full#"$2"}")
}

_kittymux() {
    local words word raw quote value paths='' kind line
    COMPREPLY=()
    _kittymux_split "${COMP_LINE:0:COMP_POINT}"
    # Readline replaces only what stands behind a quote or one of its own word breaks.
    local before=${raw%"$2"}
    while IFS= read -r line; do
        value=${line%%$'\t'*}
        if [[ -z $value ]]; then
            paths=${line#*$'\t'}
        elif [[ $value == "$word"* ]]; then
            _kittymux_add "$value" "$before"
        fi
    done < <(command kittymux complete -- ${words[@]+"${words[@]:1}"} "$word" 2>/dev/null)
    case $paths in
    files) kind=-f ;;
    directories) kind=-d ;;
    *) return ;;
    esac
    while IFS= read -r value; do
        if [[ -d ${value/#\~\//$HOME/} ]]; then
            value=$value/
            # One can go on below it; bash before version 4 puts a blank there.
            compopt -o nospace 2>/dev/null
        fi
        _kittymux_add "$value" "$before"
    done < <(compgen "$kind" -- "$word")
}

complete -F _kittymux kittymux
