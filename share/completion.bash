# completion of millrace's filters: options and words from the program itself, names of columns from the files on the line
_millrace() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} kind= words= w names long letter
    # `--keep=fi` comes in pieces: --keep, =, fi
    [[ $prev == '=' ]] && prev=${COMP_WORDS[COMP_CWORD-2]}
    [[ $cur == '=' ]] && cur=
    if [[ $prev == -* ]]; then
        while read -r long letter w names; do
            [[ $prev == "$long" || $prev == "$letter" ]] && kind=$w words=$names
        done < <("$1" --_words 2> /dev/null)
    fi
    case $kind in
    WORD)
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
        return ;;
    COL|COLS|COLS*|KEY*|OLD=NEW)
        for w in "${COMP_WORDS[@]:1}"; do
            [[ -f $w ]] || continue
            names=$(head -n1 -- "$w" | tr ',;\t"\r' '     ')
            # of a list the last name is completed
            mapfile -t COMPREPLY < <(compgen -P "${cur%"${cur##*,}"}" -W "$names" -- "${cur##*,}")
            [[ ${#COMPREPLY[@]} -gt 0 ]] && { compopt -o nospace 2> /dev/null; return; }
        done ;;
    esac
    # any other value: names of files, as the shell does it
    [[ -z $kind && $cur == -* ]] || return
    mapfile -t COMPREPLY < <(compgen -W "$("$1" --_options) --help --version --quiet" -- "$cur")
    [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2> /dev/null
}
