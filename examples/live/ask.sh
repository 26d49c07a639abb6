#!/bin/sh
# Prints the status of a running measurement, and warns when its last ten seconds fall below a score.
#   ask.sh http://127.0.0.1:8723/mcp/sse [LIMIT]
set -eu
url=${1:?usage: ask.sh URL [LIMIT]}
limit=${2:-80}

call() {
  curl -sS --max-time 5 -H 'content-type: application/json' "$url" \
    -d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"$1\",\"arguments\":$2}}"
}

call vmaf.status '{}'
echo
while answer=$(call vmaf.score '{"last_seconds":10}'); do
  mean=$(printf '%s' "$answer" | sed -n 's/.*\\"mean\\":\([0-9.]*\).*/\1/p')
  case $answer in *'\"state\":\"finished\"'*) break ;; esac
  if [ -n "$mean" ] && awk "BEGIN { exit !($mean < $limit) }"; then
    echo "the last ten seconds are at $mean, below $limit"
    exit 4
  fi
  sleep 1
done
