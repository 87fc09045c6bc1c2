# scratch.sh - what scripts that kill or time programs begin with; source it: the programs (of BIN, or ./bin) in PATH, an
# empty directory to work in that is gone at the end, and the same random numbers each time
set -eu
PATH=$(cd "${BIN:-bin}" && pwd):$PATH
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
RANDOM=1
