#!/usr/bin/env bash
# Lays out the files of an installation, from a build: deploy/dist.sh DIR writes
#   DIR/base    third-party jars, each once, and links to them by module
#   DIR/ours    our jars, documents, rights and the lendstream script; base and ours together are a directory that lendstream runs in
#   DIR/flink   the forecaster's job for a Flink cluster
set -euo pipefail
out=${1:?Usage: deploy/dist.sh DIR}
case $out in /*) ;; *) out=$PWD/$out ;; esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[ ! -e "$out" ] || [ -d "$out/base" ] || [ -z "$(ls -A "$out")" ] || {
    echo "$out exists and has other content; give an empty or new directory." >&2
    exit 1
}
rm -rf "$out"
mkdir -p "$out/base/lib" "$out/ours/lib" "$out/flink"
for module in launcher telemetry-agent forecaster scheduler-streams actuator load-generator; do
    jar=
    for candidate in "$module/target/lendstream-$module"-*.jar; do
        case $candidate in
            *-tests.jar | *-sources.jar | *-javadoc.jar) ;;
            *) jar=$candidate ;;
        esac
    done
    [ -f "$jar" ] || {
        echo "module $module is not built: $module/target has no jar; build it with ./dev quick." >&2
        exit 1
    }
    mkdir -p "$out/base/$module/target/lib" "$out/ours/$module/target"
    cp "$jar" "$out/ours/$module/target/"
    for jar in "$module"/target/lib/*.jar; do
        name=${jar##*/}
        part=base
        [ "$name" = "${name#lendstream-}" ] || part=ours
        [ -f "$out/$part/lib/$name" ] || cp "$jar" "$out/$part/lib/"
        ln -s "../../../lib/$name" "$out/base/$module/target/lib/$name"
    done
done
cp lendstream deploy/healthy "$out/ours/"
cp -r docs "$out/ours/"
mkdir "$out/ours/deploy"
cp -r deploy/acl "$out/ours/deploy/"
cp LICENSE NOTICE "$out/base/"
[ ! -d actuator/python ] || cp -r actuator/python "$out/ours/actuator/"
cp forecaster/target/flink/lendstream-forecaster-job.jar deploy/flink-job "$out/flink/"
find "$out" -exec touch -h -d '2026-11-21T00:00:00Z' {} + # equal jars give equal layers
