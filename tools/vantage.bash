# bash completion for vantage: asks the programs themselves, so it is never out of date.
_vantage()
{
	local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} ask=(vantage)
	# "--name=value" arrives as three words, because = separates words in bash.
	if [[ ${COMP_WORDS[COMP_CWORD-1]} == "=" ]]; then
		word=${COMP_WORDS[COMP_CWORD-2]}=$word
	elif [[ $word == "=" ]]; then
		word=${COMP_WORDS[COMP_CWORD-1]}=
	fi
	local names=1 # the words that are names of verbs: the first, and the second of store
	[ "$COMP_CWORD" -gt 1 ] && ask+=("$verb")
	if [ "$verb" = store ]; then
		names=2
		[ "$COMP_CWORD" -gt 2 ] && [[ ${COMP_WORDS[2]} != -* ]] && ask+=("${COMP_WORDS[2]}")
	fi
	COMPREPLY=()
	if [ "$COMP_CWORD" -le "$names" ] || [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("${ask[@]}" --help-completion 2>/dev/null)" -- "$word")
		[[ $word == *=* ]] && COMPREPLY=("${COMPREPLY[@]#*=}")
		[[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
	fi
	if [ ${#COMPREPLY[@]} -eq 0 ]; then
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "${word#*=}")
	fi
}
complete -F _vantage vantage
