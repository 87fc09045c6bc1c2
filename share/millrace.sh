#!/bin/sh
# millrace TARGET... [VARIABLE=VALUE]... - run the pipelines of millrace here: results go to ./out
# Without a target the pipelines are listed; see millrace(7).
if [ $# = 0 ]; then
    echo "usage: millrace TARGET... [OUT=out] [SCALE=ci] [SEED=1] [JOBS=n]"
    sed -n 's/^| `make \([^`]*\)` |/  \1  /p' @DATADIR@/pipelines.md | sed 's/ |$//'
    exit 2
fi
exec make -s -f @DATADIR@/Makefile "$@"
