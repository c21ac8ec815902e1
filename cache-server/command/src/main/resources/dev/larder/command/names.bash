
# Names of datasets and arrays, read from the store: no JVM is started and no daemon asked.
# Names go into COMPREPLY one by one and are never expanded: a store may be somebody else's.

# The generated script calls it, and zsh has none.
[[ -z ${ZSH_VERSION:-} ]] || function compopt() { :; }

# Prints the folder of the store that the command line means.
function _larder_store() {
  local i folder
  for ((i = 1; i + 1 < ${#COMP_WORDS[@]}; i++)); do
    if [[ ${COMP_WORDS[i]} == --store ]]; then
      [[ ${COMP_WORDS[i + 1]} == '=' ]] && ((i++))
      echo "${COMP_WORDS[i + 1]:-}"
      return
    fi
  done
  for folder in "${LARDER_STORE:-}" "/dev/shm/larder-${USER:-}" "/dev/shm/larder-$UID" /dev/shm/larder; do
    if [[ -n $folder && -d $folder/data ]]; then
      echo "$folder"
      return
    fi
  done
}

# Adds the names that begin like the current word: of datasets, after a slash of their arrays and columns.
function _larder_names() {
  local word=${COMP_WORDS[COMP_CWORD]} data name
  data=$(_larder_store)/data
  if [[ $word == */* ]]; then
    _larder_arrays "$data/${word%%/*}/current/manifest.json" "${word%%/*}" "$word"
    return
  fi
  for name in "$data"/*/; do
    name=${name%/}
    name=${name##*/}
    if [[ $name == "$word"* && $name != '*' ]]; then
      COMPREPLY+=("$name")
    fi
  done
}

# Manifests have one line for each array.
function _larder_arrays() {
  local manifest=$1 dataset=$2 word=$3 line name
  [[ -r $manifest ]] || return 0
  while IFS= read -r line; do
    name=${line#'{"name":"'}
    if [[ $name != "$line" && ${name%%'"'*} != *\\* ]]; then # zsh has no BASH_REMATCH
      name=$dataset/${name%%'"'*}
      [[ $line == *'"part":"'* ]] && name=${name%/*} # part of a column
      if [[ $name == "$word"* && " ${COMPREPLY[*]} " != *" $name "* ]]; then
        COMPREPLY+=("$name")
      fi
    fi
  done < <(head -c 1048576 "$manifest")
}

# Completes words as picocli's function does, and names where the command takes one.
function _larder_with_names() {
  local i command='' word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  _complete_larder
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --store) ((i++)) ;;
      -*) ;;
      *)
        command=${COMP_WORDS[i]}
        break
        ;;
    esac
  done
  [[ $word == -* ]] && return 0
  case $command in
    evict | info | ls | path | pin | reload | show | unpin | verify | wait)
      case $before in
        --store | --timeout | --rows | --png) ;; # a value is wanted
        *) _larder_names ;;
      esac
      ;;
    feed)
      case $before in
        --store | --arrays | --batch-size | --shuffle | --shard | --epochs | --transform | --consumers | --on-slow | --slots) ;;
        --patience | --timeout | --retries | --max-skipped) ;; # a value is wanted
        *) _larder_names ;;
      esac
      ;;
    run) [[ $before != --hold ]] || _larder_names ;;
  esac
  return 0
}

complete -F _larder_with_names -o default larder larder.sh larder.bash
