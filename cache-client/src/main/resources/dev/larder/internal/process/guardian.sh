# Waits beside a process for the one that started it, and kills the process with all that came of it when that one is gone.
# $1: the token that stands in the environment of all members of the family. Standard input: the pid of the family's first
# process, which leads a session; then "done" when nothing is left to guard. End of file without it: the starter is gone.
trap '' HUP INT QUIT TERM TSTP USR1 USR2 XCPU
token=$1
session=none
while read -r word; do
  case $word in
    done) exit 0 ;;
    *) session=$word ;;
  esac
done

# Writes the pids of the family's living members.
members() {
  for file in $(grep -lsF "$token" /proc/[0-9]*/environ); do
    file=${file#/proc/}
    echo "${file%/environ}"
  done
  for file in /proc/[0-9]*; do
    read -r stat <"$file/stat" || continue
    # shellcheck disable=SC2086
    set -- ${stat##*) }
    if [ "$4" = "$session" ] && [ "$1" != Z ] && [ "$1" != X ]; then
      echo "${file#/proc/}"
    fi
  done
}

# A member that is being started shows its token only in a moment: so some looks must find nobody.
looks=0
quiet=0
while [ "$quiet" -lt 3 ] && [ "$looks" -lt 600 ]; do
  looks=$((looks + 1))
  victims=$(members)
  if [ -z "$victims" ]; then
    quiet=$((quiet + 1))
    sleep 0.05
  else
    quiet=0
    # shellcheck disable=SC2086
    kill -KILL $victims
  fi
done
