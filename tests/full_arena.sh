#!/bin/bash
# check_arena.sh with three hundred fuzzed sessions; with LONG_TESTS=1 a thousand.
# needs: space/toy
exec env SESSIONS=$([ -n "${LONG_TESTS:-}" ] && echo 1000 || echo 300) "$(dirname "$0")/check_arena.sh"
