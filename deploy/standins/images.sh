#!/usr/bin/env bash
# The public images that docker-compose.yml runs and Dockerfile builds on, one a line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
java=$(sed -n 's/^ARG JAVA=//p' Dockerfile)
{
    sed -n 's/^ *image: *//p' docker-compose.yml | grep -v '^lendstream'
    sed -n 's/^FROM \([^ ]*:[^ ]*\) AS .*/\1/p' Dockerfile | sed "s/\${JAVA}/$java/" | grep -v -- -jdk-
} | sort -u
