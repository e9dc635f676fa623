# Functions for the commands of a page; pages.ts appends the commands.
set -euEm
shopt -s expand_aliases
server=

stop_server() {
  if [ -n "$server" ]; then
    kill -TERM -- "-$server"
    wait "$server" 2>/dev/null || true
    server=
  fi
}
trap stop_server EXIT
trap 'echo "line $LINENO of page.sh failed: $BASH_COMMAND" >&2' ERR

# Starts a server in place of the former one, and waits until it prints its address.
in_background() {
  stop_server
  : >server.log
  "$@" >server.log 2>&1 &
  server=$!
  until grep -q '://127\.0\.0\.1' server.log; do
    if ! kill -0 "$server" 2>/dev/null; then
      cat server.log >&2
      server=
      return 1
    fi
    sleep 0.1
  done
}

# Runs a command that ends only when it is stopped, and prints something.
for_a_moment() {
  eval "$1" >moment.log 2>&1 &
  local moment=$!
  sleep 3
  kill -TERM -- "-$moment"
  wait "$moment" 2>/dev/null || true
  [ -s moment.log ]
}

# Compares what a command prints on both streams; times are equal, and the exit code is that of a finding or of success.
prints() {
  local same='s/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/2025-01-02T03:04:05Z/g'
  (eval "$2") >printed.txt 2>&1 || [ $? = 1 ]
  diff -u <(sed -E "$same" "$1") <(sed -E "$same" printed.txt)
}

# The packages of the page are installed.
npm() {
  [ "$1" = install ] || command npm "$@"
}
