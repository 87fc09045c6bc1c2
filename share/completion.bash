# completion of millrace's filters: options from the program itself, names of columns from the files on the line
_millrace() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} w names
    [[ $prev == '=' ]] && prev=${COMP_WORDS[COMP_CWORD-2]}
    [[ $cur == '=' ]] && cur=
    case $prev in
    -c|-g|-k|--column|--columns|--group|--key)
        for w in "${COMP_WORDS[@]:1}"; do
            [[ -f $w ]] || continue
            names=$(head -n1 -- "$w" | tr ',"' '  ')
            mapfile -t COMPREPLY < <(compgen -W "$names" -- "$cur")
            [[ ${#COMPREPLY[@]} -gt 0 ]] && return
        done ;;
    esac
    [[ $cur == -* ]] || return
    mapfile -t COMPREPLY < <(compgen -W "$("$1" --_options) --help --version --quiet" -- "$cur")
    [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace
}
