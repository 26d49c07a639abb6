#!/bin/sh
# Stands before ffprobe and ffmpeg in tests, because a start of either takes longer than most tests: keeps what ffprobe says
# of a file, by its arguments and the file's content, and what both say of themselves. Everything else runs the program.
here=${0%/*}
tool=${0##*/}
read -r program <"$here/$tool.path"
for last; do :; done

file=
case "$tool:$last" in
  *:-version | *:-encoders | ffmpeg:encoder=*) ;;
  ffprobe:file:/proc/self/fd/*) file=${last#file:} ;;
  # The name is a pattern below.
  *[!A-Za-z0-9/:._-]*) exec "$program" "$@" ;;
  ffprobe:file:/*.m[kpo4][4av]* | ffprobe:file:/*.webm | ffprobe:file:/*.ts | ffprobe:file:/*.avi) file=${last#file:} ;;
  *) exec "$program" "$@" ;;
esac
if [ -n "$file" ] && ! [ -f "$file" ]; then exec "$program" "$@"; fi

key=$({
  for word; do [ "$file" ] && [ "$word" = "$last" ] || printf '%s\n' "$word"; done
  [ -z "$file" ] || cat "$file"
} | sha256sum)
kept=$here/${key%% *}
if ! [ -f "$kept.status" ]; then
  # A list is not all that is read.
  case $(head -c 8 "${file:-/dev/null}" | tr -d '\000') in '#EXT'* | ffconcat | '<'*) exec "$program" "$@" ;; esac
  new=$kept.$$
  "$program" "$@" >"$new.out" 2>"$new.err"
  status=$?
  for part in out err; do
    sed "s|${file:-@FILE@}|@FILE@|g" "$new.$part" >"$new" && mv "$new" "$kept.$part"
  done
  rm -f "$new".*
  # A killed program gave no answer.
  [ $status -lt 128 ] || exit $status
  echo $status >"$new" && mv "$new" "$kept.status"
fi
[ ! -s "$kept.err" ] || sed "s|@FILE@|$file|g" "$kept.err" >&2
sed "s|@FILE@|$file|g" "$kept.out"
read -r status <"$kept.status"
exit "$status"
