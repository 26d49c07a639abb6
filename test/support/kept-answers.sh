#!/bin/sh
# Stands before ffprobe and ffmpeg in tests, because a start of either takes longer than most tests: keeps what ffprobe says
# of a file and what ffmpeg decodes of it, by the arguments and the file's content, and what both say of themselves.
# Everything else runs the program.
here=${0%/*}
tool=${0##*/}
read -r program <"$here/$tool.path"

# Blocks of 512 bytes that an answer may have.
MOST=16384

file=
inputs=0
before=
for last; do
  if [ "$before" = -i ]; then file=${last#file:} inputs=$((inputs + 1)); fi
  before=$last
done

case "$tool:$last" in
  *:-version | *:-encoders | ffmpeg:encoder=*) file= ;;
  ffmpeg:pipe:1) [ $inputs = 1 ] || exec "$program" "$@" ;;
  ffprobe:file:*) file=${last#file:} ;;
  *) exec "$program" "$@" ;;
esac
# The name is a pattern below.
case "$file" in
  *[!A-Za-z0-9/._-]*) exec "$program" "$@" ;;
  '' | /proc/self/fd/* | /*.m[kpo4][4av]* | /*.webm | /*.ts | /*.avi) ;;
  *) exec "$program" "$@" ;;
esac
if [ -n "$file" ] && ! [ -f "$file" ]; then exec "$program" "$@"; fi

# Starting a program is most of what an answer costs, so one reads both.
said=
for word; do
  [ "$word" = "file:$file" ] || said="$said$word
"
done
sums=$(sha256sum - ${file:+"$file"} <<END
$said
END
)
of_file=${sums##*
}
kept=$here/${sums%% *}${of_file%% *}
if ! [ -f "$kept.status" ]; then
  [ ! -f "$kept.large" ] || exec "$program" "$@"
  # A list is not all that is read.
  case $(head -c 8 "${file:-/dev/null}" | tr -d '\000') in '#EXT'* | ffconcat | '<'*) exec "$program" "$@" ;; esac
  new=$kept.$$
  (ulimit -f $MOST && exec "$program" "$@") >"$new.out" 2>"$new.err"
  status=$?
  # A killed program gave no answer, and one at the limit not all of it.
  if [ $status -ge 128 ] || [ "$(wc -c <"$new.out")" -ge $((512 * MOST)) ]; then
    rm -f "$new".*
    : >"$kept.large"
    exec "$program" "$@"
  fi
  if [ $tool = ffprobe ]; then sed -i "s|${file:-@FILE@}|@FILE@|g" "$new.out"; fi
  sed -i "s|${file:-@FILE@}|@FILE@|g" "$new.err"
  for part in out err; do mv "$new.$part" "$kept.$part"; done
  echo $status >"$new" && mv "$new" "$kept.status"
fi
read -r status <"$kept.status"
if [ $tool = ffprobe ]; then set -- sed "s|@FILE@|$file|g" "$kept.out"; else set -- cat "$kept.out"; fi
if [ "$status" = 0 ] && ! [ -s "$kept.err" ]; then exec "$@"; fi
# Who reads frames may wait for what is said of them.
if [ -s "$kept.err" ]; then sed "s|@FILE@|$file|g" "$kept.err" >&2 & fi
"$@"
wait
exit "$status"
