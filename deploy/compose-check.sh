#!/usr/bin/env bash
# Brings docker-compose.yml up for real and looks at it from outside: a GPU is lent and taken back, a container of each kind is
# killed and comes back, and what follows works; then brings it down and looks that nothing is left. Then it runs the test on a
# containerised broker. Ends with a line of JSON.
# Gets an engine, images and ports of its own; see deploy/engine.sh and deploy/standins. Exit status 0 where all held, 1 where
# something did not, 3 where no engine can be had (it says why).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. deploy/engine.sh

project=lendstream-check
export KAFKA_PORT=${KAFKA_PORT:-29092} REGISTRY_PORT=${REGISTRY_PORT:-28081}
at=(--bootstrap-server "localhost:$KAFKA_PORT" --registry "http://localhost:$REGISTRY_PORT/apis/ccompat/v7")
work=target/compose-check
metrics=
began=$SECONDS

say() { printf '%02d:%02d  %s\n' $(((SECONDS - began) / 60)) $(((SECONDS - began) % 60)) "$*"; }

measured() { # name, seconds
    metrics="$metrics${metrics:+,}\"$1\":$2"
}

compose() { "${COMPOSE[@]}" -p "$project" --profile load "$@"; }

fail() {
    say "FAILED: $*"
    compose ps 2>/dev/null || true
    compose logs --no-color >"$work/containers.log" 2>&1 || true
    say "what the containers printed is in $work/containers.log"
    exit 1
}

# A container's own word: its state, and what its health check says.
state() {
    "$DOCKER" inspect -f '{{.State.Status}} {{if .State.Health}}{{.State.Health.Status}}{{else}}healthy{{end}}' \
        "$(compose ps -q "$1" | tail -n 1)" 2>/dev/null
}

await_healthy() { # service, seconds
    local until=$((SECONDS + $2))
    while [ "$(state "$1")" != "running healthy" ]; do
        [ $SECONDS -lt $until ] || fail "$1 is '$(state "$1")' after $2 s, but must be running and healthy"
        sleep 1
    done
}

# What the deployment shows to somebody with a command line beside it.
look() {
    ./lendstream top --once --json "${at[@]}" >"$work/top.json" 2>"$work/top.err"
}

# Waits until what top shows holds: a description, seconds, a jq-less test of target/compose-check/top.json.
await_seen() {
    local what=$1 until=$((SECONDS + $2))
    shift 2
    until look && "$@"; do
        [ $SECONDS -lt $until ] || fail "not seen in time: $what; the last look is in $work/top.json: $(head -c 300 "$work/top.err")"
        sleep 1
    done
    say "seen: $what"
}

owned() { grep -q "\"owner\" : \"$1" "$work/top.json"; }
lent() { owned lent; }

# Decisions of a kind that were made after a time of this machine's clock, seconds since 1970.
decided_since() {
    python3 - "$1" "$2" "$work/top.json" <<'PY'
import datetime, json, sys
kind, since, file = sys.argv[1], float(sys.argv[2]), sys.argv[3]
def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")[:26].rstrip("+").split("+")[0] + "+00:00").timestamp()
made = json.load(open(file))["decisions"]
sys.exit(0 if any(d["kind"] == kind and seconds(d["at"]) >= since for d in made) else 1)
PY
}

images() {
    local image pulled=0 made=0
    for image in $(deploy/standins/images.sh); do
        "$DOCKER" image inspect "$image" >/dev/null 2>&1 && continue
        if timeout 60 "$DOCKER" pull -q "$image" >/dev/null 2>&1; then
            pulled=$((pulled + 1))
        else
            DOCKER=$DOCKER deploy/standins/build.sh "$image" || fail "$image can neither be pulled nor made"
            made=$((made + 1))
        fi
    done
    say "public images: $pulled pulled, $made made as stand-ins"
    deploy/dist.sh target/dist
    local ours
    for ours in lendstream lendstream-forecaster; do
        DOCKER_BUILDKIT=1 "$DOCKER" build -q --network none --build-arg DIST=prebuilt -t "$ours:0.1.0" \
            --target "${ours/#lendstream-/}" . >/dev/null || fail "image $ours:0.1.0 cannot be built"
    done
    say "our images: $("$DOCKER" images --format '{{.Repository}} {{.Size}}' | grep '^lendstream' | grep -v standin | paste -sd, -)"
}

# Nobody restarts what was stopped on purpose, and docker kill counts as that: the process itself is killed.
crash() {
    local pid
    pid=$("$DOCKER" inspect -f '{{.State.Pid}}' "$(compose ps -q "$1")")
    kill -9 "$pid" 2>/dev/null || "$DOCKER" restart -t 0 "$(compose ps -q "$1")" >/dev/null
}

restarts() { "$DOCKER" inspect -f '{{.RestartCount}}' "$(compose ps -q "$1")"; }

leaves_nothing() {
    local left
    left=$("$DOCKER" ps -aq --filter "label=com.docker.compose.project=$project"
        "$DOCKER" volume ls -q --filter "label=com.docker.compose.project=$project"
        "$DOCKER" network ls -q --filter "label=com.docker.compose.project=$project")
    [ -z "$left" ] || fail "left behind: $left"
}

# The services as processes, on a broker in a container that a test of ours starts.
containerised_broker() {
    local report=launcher/target/failsafe-reports/TEST-io.lendstream.launcher.services.ContainerIT.xml api
    rm -f "$report"
    # Testcontainers speaks 1.44 unless it is told to speak an older one; what it would start to clean up has no stand-in.
    api=$("$DOCKER" version --format '{{.Server.APIVersion}}')
    [ "${api#1.}" -ge 44 ] || export LENDSTREAM_DOCKER_API=$api
    TESTCONTAINERS_RYUK_DISABLED=true TESTCONTAINERS_CHECKS_DISABLE=true ./mvnw -B -ntp -q -Dspotless.check.skip \
        -pl launcher -am verify -Dtest=none -Dit.test=ContainerIT -Dsurefire.failIfNoSpecifiedTests=false \
        -Dfailsafe.failIfNoSpecifiedTests=false >"$work/container-test.log" 2>&1 || {
        tail -n 30 "$work/container-test.log"
        fail "services on a containerised broker: all of it is in $work/container-test.log"
    }
    grep -q ' skipped="0"' "$report" || fail "the test on a containerised broker was skipped: $report says why"
    say "a test of the services on a containerised broker has passed: $(grep -o '<testsuite [^>]*' "$report" | grep -oE '(tests|skipped)="[0-9]+"' | paste -sd' ' -)"
}

cleanup() {
    local status=$?
    trap - EXIT
    [ -z "${DOCKER:-}" ] || [ -z "${COMPOSE:-}" ] || compose down -v -t 5 >/dev/null 2>&1 || true
    engine_stop
    exit $status
}

mkdir -p "$work"
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
engine_start || {
    echo "compose-check is not run: $ENGINE_MISSING." >&2
    exit 3
}
compose down -v -t 1 >/dev/null 2>&1 || true

phase=$SECONDS
images
measured imagesSeconds $((SECONDS - phase))

phase=$SECONDS
compose up -d >"$work/up.log" 2>&1 || {
    tail -n 5 "$work/up.log"
    fail "the stack does not come up"
}
services="kafka registry flink-jobmanager flink-taskmanager scheduler actuator agent"
for service in $services load; do
    await_healthy "$service" 180
done
measured upSeconds $((SECONDS - phase))
say "up: $services"
root=$(for service in $services load; do "$DOCKER" exec "$(compose ps -q "$service")" id -u; done | grep -c '^0$' || true)
[ "$root" -eq 0 ] || fail "$root containers run as root, but none may"

phase=$SECONDS
await_seen "GPUs lent to training" 240 lent
measured firstLoanSeconds $((SECONDS - phase))
await_seen "a GPU taken back for inference" 240 decided_since reclaim 0
measured firstReclaimSeconds $((SECONDS - phase))

for service in $services; do
    phase=$SECONDS
    before=$(restarts "$service")
    crash "$service"
    until=$((SECONDS + 30))
    while [ "$(restarts "$service")" = "$before" ] && [ $SECONDS -lt $until ]; do sleep 0.5; done
    sleep 2 # until its health is asked for anew
    for other in $services; do
        await_healthy "$other" 180
    done
    measured "$(sed 's/-\(.\)/\U\1/' <<<"$service")RecoverySeconds" $((SECONDS - phase))
    say "$service was killed, and all are well after $((SECONDS - phase)) s"
done

phase=$SECONDS
since=$(date +%s)
await_seen "a loan after all that" 300 decided_since lend "$since"
await_seen "a reclaim after all that" 300 decided_since reclaim "$since"
./lendstream doctor "${at[@]}" >"$work/doctor.txt" 2>&1 || fail "the doctor finds: $(grep '^FAIL' "$work/doctor.txt" || tail -n 3 "$work/doctor.txt")"
say "the doctor finds no fault: $(grep -c '^ok' "$work/doctor.txt") ok, $(grep -c '^warn' "$work/doctor.txt") warnings"
measured loanAfterFaultsSeconds $((SECONDS - phase))

phase=$SECONDS
compose down -v -t 20 >"$work/down.log" 2>&1 || fail "the stack does not go down"
leaves_nothing
measured downSeconds $((SECONDS - phase))

phase=$SECONDS
containerised_broker
measured containerTestSeconds $((SECONDS - phase))
measured totalSeconds $((SECONDS - began))
say "down, and nothing is left"
printf '{"name":"compose-check","metrics":{%s},"reference":{},"ratio":{},"machine":"%s cores, %s","commit":"%s"}\n' \
    "$metrics" "$(getconf _NPROCESSORS_ONLN)" "$(uname -sm)" "$(git rev-parse --short HEAD 2>/dev/null || echo unknown)"
