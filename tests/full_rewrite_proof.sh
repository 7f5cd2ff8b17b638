#!/bin/bash
# needs: space/rewrite
# The proof of every rule over all small programs of tests/rewrite_cases.h, of which `make check` tries every 23rd.
set -u
cd "$(dirname "$0")/.." || exit 1
PROOF_EACH=1 "${B:-build/release}/tests/check_rewrite_proof"
