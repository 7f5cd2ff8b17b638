#!/bin/bash
# needs: space/rewrite
# The proof of every rule over every second of the small programs of tests/rewrite_cases.h, or all with LONG_TESTS=1;
# `make check` tries every 23rd.
set -u
cd "$(dirname "$0")/.." || exit 1
PROOF_EACH=$([ -n "${LONG_TESTS:-}" ] && echo 1 || echo 2) "${B:-build/release}/tests/check_rewrite_proof"
