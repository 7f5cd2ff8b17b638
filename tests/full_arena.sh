#!/bin/bash
# check_arena.sh with a thousand fuzzed sessions.
# needs: space/toy
exec env SESSIONS=1000 "$(dirname "$0")/check_arena.sh"
