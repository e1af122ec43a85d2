# Completions for kittymux in fish: each candidate comes from kittymux itself.
function __kittymux_candidates
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in (command kittymux complete -- $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case \t'files'
                __fish_complete_path "$current"
            case \t'directories'
                __fish_complete_directories "$current"
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c kittymux -f -k -a '(__kittymux_candidates)'
