#!/usr/bin/env bash
# Builds stand-ins for the public images that Dockerfile and docker-compose.yml name, under those names, where they cannot be
# pulled: Debian and its JRE by debootstrap, Kafka, Flink and the registry from what Maven fetched for our build. They take the
# same environment, paths, users and commands as far as we use them. Needs root, debootstrap and a built project.
#
#   deploy/standins/build.sh IMAGE...      without images: all
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
DOCKER=${DOCKER:-docker}
work=target/standins
base=lendstream-standin-base
mkdir -p "$work"

say() { printf '%s\n' "$*" >&2; }

# Debian with a JRE, as an image; the tree is kept between calls.
base() {
    "$DOCKER" image inspect "$base" >/dev/null 2>&1 && return
    if [ ! -f "$work/base.done" ]; then
        command -v debootstrap >/dev/null || {
            say "debootstrap is not there; apt-get install debootstrap, or pull the public images."
            exit 1
        }
        say "making a Debian with a JRE"
        rm -rf "$work/base"
        debootstrap --variant=minbase --include=openjdk-17-jre-headless bookworm "$work/base" >"$work/debootstrap.log" 2>&1 || {
            tail -n 5 "$work/debootstrap.log" >&2
            exit 1
        }
        touch "$work/base.done"
    fi
    tar -C "$work/base" --exclude=./var/cache/apt --exclude=./var/lib/apt/lists --exclude=./usr/share/doc \
        --exclude=./usr/share/locale --exclude='./dev/*' --exclude='./proc/*' --exclude='./sys/*' -c . |
        "$DOCKER" import - "$base" >/dev/null
}

# An empty directory to build an image from, with this stand-in's own files.
context() {
    context=$work/$1
    rm -rf "$context"
    mkdir -p "$context/libs"
    [ ! -d "deploy/standins/$1" ] || cp -r "deploy/standins/$1/." "$context/"
}

jars_of() {
    compgen -G "$1/*.jar" >/dev/null || {
        say "$1 has no jars; build the project with ./dev quick."
        exit 1
    }
    cp "$1"/*.jar "$context/libs/"
}

kafka() {
    context kafka
    jars_of embedded/target/lib
}

registry() {
    context registry
    cp -r embedded/target/registry "$context/app"
}

# Flink's own jars, without what comes with our job.
flink() {
    context flink
    jars_of forecaster/target/lib
    cp forecaster/target/flink/cluster/*.jar "$context/libs/"
    (cd "$context/libs" && rm -f lendstream-* flink-connector-kafka* kafka-clients* avro-* hipparchus-* jackson-* picocli-* \
        micrometer-* prometheus-*)
}

standin() {
    local image=$1
    base
    say "making a stand-in for $image"
    case $image in
        eclipse-temurin:*-jre-*) "$DOCKER" tag "$base" "$image" ;;
        apache/kafka:*) kafka ;;
        apicurio/apicurio-registry-mem:*) registry ;;
        flink:*) flink ;;
        *)
            say "there is no stand-in for $image; those there are for eclipse-temurin, apache/kafka, apicurio and flink."
            exit 1
            ;;
    esac
    case $image in
        eclipse-temurin:*) ;;
        *)
            DOCKER_BUILDKIT=0 "$DOCKER" build -q -t "$image" "$context" >/dev/null
            rm -rf "$context"
            ;;
    esac
}

if [ $# -eq 0 ]; then
    # shellcheck disable=SC2046 # image names are words
    set -- $(deploy/standins/images.sh)
fi
for image; do
    standin "$image"
done
