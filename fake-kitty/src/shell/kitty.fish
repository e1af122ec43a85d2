# Shell integration of the emulator for fish: found through XDG_DATA_DIRS, read before config.fish.
if status is-interactive; and set -q KITTY_FISH_XDG_DATA_DIR
    set -l dirs (string split : -- "$XDG_DATA_DIRS")
    if set -l at (contains -i -- "$KITTY_FISH_XDG_DATA_DIR" $dirs)
        set -e dirs[$at]
    end
    if test (count $dirs) -gt 0
        set -gx XDG_DATA_DIRS (string join : -- $dirs)
    else
        set -e XDG_DATA_DIRS
    end
    set -e KITTY_FISH_XDG_DATA_DIR

    function __fk_wrap_prompt --on-event fish_prompt
        if not functions -q __fk_own_prompt
            functions -q fish_prompt; or function fish_prompt
                echo '> '
            end
            functions --copy fish_prompt __fk_own_prompt
            function fish_prompt
                printf '\e]133;A\a'
                __fk_own_prompt
            end
        end
        printf '\e]7;kitty-shell-cwd://%s%s\a' $hostname "$PWD"
    end

    function __fk_started --on-event fish_preexec
        printf '\e]133;C;cmdline_url=%s\a' (string escape --style=url -- "$argv" | string join '%0A')
    end

    function __fk_ended --on-event fish_postexec
        printf '\e]133;D;%s\a' $status
    end

    if set -q KITTY_SI_RUN_COMMAND_AT_STARTUP
        set -l line "$KITTY_SI_RUN_COMMAND_AT_STARTUP"
        set -e KITTY_SI_RUN_COMMAND_AT_STARTUP
        eval "$line"
    end
end
