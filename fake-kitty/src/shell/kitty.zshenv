# Found through ZDOTDIR: puts the person's own ZDOTDIR back, reads their .zshenv, adds the marks.
if [[ -n "${KITTY_ORIG_ZDOTDIR+X}" ]]; then
    'builtin' 'export' ZDOTDIR="$KITTY_ORIG_ZDOTDIR"
    'builtin' 'unset' 'KITTY_ORIG_ZDOTDIR'
else
    'builtin' 'unset' 'ZDOTDIR'
fi
__fk_dir="${${(%):-%x}:A:h}"
{
    __fk_file="${ZDOTDIR-$HOME}/.zshenv"
    [[ ! -r "$__fk_file" ]] || 'builtin' 'source' '--' "$__fk_file"
} always {
    [[ ! -o interactive ]] || 'builtin' 'source' '--' "$__fk_dir/kitty.zsh"
    'builtin' 'unset' '__fk_file' '__fk_dir'
}
