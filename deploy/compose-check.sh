#!/usr/bin/env bash
# Starts docker-compose.yml and checks it from outside: a GPU is lent and reclaimed, a container of each kind is killed and recovers,
# and lending works again. Then it stops the stack and checks that nothing is left. Then it does the walk-through of docs/deploy.md on
# the secured stack, each step with its check, and runs the test on a containerised broker. With --short only the scheduler is killed, and
# the walk-through and that test are left out. The last line of output is JSON.
# It uses an engine, images and ports of its own; see deploy/engine.sh and deploy/standins. Exit status: 0 all checks passed, 1 a
# check failed, 3 no engine is available (it prints the reason).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. deploy/engine.sh

short=
[ "${1:-}" != --short ] || short=yes

project=lendstream-check
export KAFKA_PORT=${KAFKA_PORT:-29092} REGISTRY_PORT=${REGISTRY_PORT:-28081}
work=$PWD/target/compose-check
export SECURE=$work/secure
files=(-f docker-compose.yml)
at=(--bootstrap-server "localhost:$KAFKA_PORT" --registry "http://localhost:$REGISTRY_PORT/apis/ccompat/v7")
as=() # the login of commands, if the broker requires one
metrics=
began=$SECONDS

say() { printf '%02d:%02d  %s\n' $(((SECONDS - began) / 60)) $(((SECONDS - began) % 60)) "$*"; }

measured() { # name, seconds
    metrics="$metrics${metrics:+,}\"$1\":$2"
}

compose() { "${COMPOSE[@]}" "${files[@]}" -p "$project" --profile load "$@"; }

fail() {
    say "FAILED: $*"
    compose ps 2>/dev/null || true
    compose logs --no-color >"$work/containers.log" 2>&1 || true
    say "what the containers printed is in $work/containers.log"
    exit 1
}

# A container's state and the result of its health check.
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

# The output of top, from outside the deployment.
look() {
    ./lendstream top --once --json "${at[@]}" "${as[@]}" >"$work/top.new" 2>"$work/top.err" && mv "$work/top.new" "$work/top.json"
}

# Waits until a test of target/compose-check/top.json succeeds: description, seconds, test.
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
    local image pulled=0 made=0 patience=600
    [ -z "$ENGINE_PID" ] || patience=60 # there a stand-in does as well
    for image in $(deploy/standins/images.sh); do
        "$DOCKER" image inspect "$image" >/dev/null 2>&1 && continue
        if timeout "$patience" "$DOCKER" pull -q "$image" >"$work/pull.log" 2>&1; then
            pulled=$((pulled + 1))
        elif [ -z "$ENGINE_PID" ]; then
            # A stand-in of that name would later pass for the image.
            fail "$image cannot be pulled: $(tail -n 1 "$work/pull.log")"
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

# After docker kill the engine does not restart a container. If the engine is our own, its processes are on this machine, and the
# process itself is killed. Another engine restarts the container at once.
crash() {
    local id pid
    id=$(compose ps -q "$1")
    pid=$("$DOCKER" inspect -f '{{.State.Pid}}' "$id")
    if [ -n "$ENGINE_PID" ] && [ "$pid" -gt 1 ]; then
        kill -9 "$pid"
    else
        "$DOCKER" restart -t 0 "$id" >/dev/null
    fi
}

started() { "$DOCKER" inspect -f '{{.State.StartedAt}}' "$(compose ps -q "$1")"; }

leaves_nothing() {
    local left
    left=$("$DOCKER" ps -aq --filter "label=com.docker.compose.project=$project"
        "$DOCKER" volume ls -q --filter "label=com.docker.compose.project=$project"
        "$DOCKER" network ls -q --filter "label=com.docker.compose.project=$project")
    [ -z "$left" ] || fail "left behind: $left"
}

# The services as processes, on a broker in a container of a test.
containerised_broker() {
    local report=launcher/target/failsafe-reports/TEST-io.lendstream.launcher.services.ContainerIT.xml api
    rm -f "$report"
    # Testcontainers uses API 1.44 unless an older one is set; its clean-up container has no stand-in.
    api=$("$DOCKER" version --format '{{.Server.APIVersion}}')
    [ "${api#1.}" -ge 44 ] || export DOCKER_API_VERSION=$api
    TESTCONTAINERS_HOST_OVERRIDE=localhost TESTCONTAINERS_RYUK_DISABLED=true TESTCONTAINERS_CHECKS_DISABLE=true ./mvnw -B -ntp -q -Dspotless.check.skip \
        -pl launcher -am verify -Dtest=none -Dit.test=ContainerIT -Dsurefire.failIfNoSpecifiedTests=false \
        -Dfailsafe.failIfNoSpecifiedTests=false >"$work/container-test.log" 2>&1 || {
        tail -n 30 "$work/container-test.log"
        fail "services on a containerised broker: all of it is in $work/container-test.log"
    }
    grep -q ' tests="1".* skipped="0"' "$report" || fail "the test on a containerised broker was skipped: $report says why"
    say "a test of the services on a containerised broker has passed: $(grep -o '<testsuite [^>]*' "$report" | grep -oE '(tests|skipped)="[0-9]+"' | paste -sd' ' -)"
}

cleanup() {
    local status=$?
    trap - EXIT
    [ -z "${DOCKER:-}" ] || [ -z "${COMPOSE:-}" ] || compose down -v -t 5 >/dev/null 2>&1 || true
    engine_stop
    exit $status
}

bring_up() {
    local phase=$SECONDS service
    compose up -d >"$work/up.log" 2>&1 || {
        tail -n 5 "$work/up.log"
        fail "the stack does not come up"
    }
    for service in $services load; do
        await_healthy "$service" 180
    done
    measured upSeconds $((SECONDS - phase))
    say "up: $services"
    local user
    for service in $services load; do
        user=$("$DOCKER" exec "$(compose ps -q "$service")" id -u) || fail "$service does not report its user"
        [ "$user" -ne 0 ] || fail "$service runs as root, but none may"
    done
}

lends_and_takes_back() {
    local phase=$SECONDS
    await_seen "GPUs lent to training" 240 lent
    measured firstLoanSeconds $((SECONDS - phase))
    phase=$SECONDS
    await_seen "a GPU taken back for inference" 240 decided_since reclaim 0
    measured firstReclaimSeconds $((SECONDS - phase))
}

recovers() { # services to be killed, one after another
    local service other phase before until
    for service; do
        phase=$SECONDS
        before=$(started "$service")
        crash "$service"
        until=$((SECONDS + 30))
        while [ "$(started "$service")" = "$before" ]; do
            [ $SECONDS -lt $until ] || fail "$service was killed and is not started again within 30 s"
            sleep 0.5
        done
        sleep 2 # until the next health check
        for other in $services; do
            await_healthy "$other" 180
        done
        measured "$(sed 's/-\(.\)/\U\1/' <<<"$service")RecoverySeconds" $((SECONDS - phase))
        say "$service was killed, and all are well after $((SECONDS - phase)) s"
    done
    phase=$SECONDS
    local since
    since=$(date +%s)
    await_seen "a loan after all that" 300 decided_since lend "$since"
    await_seen "a reclaim after all that" 300 decided_since reclaim "$since"
    ask doctor
    say "the doctor finds no fault: $(grep -c '^ok' "$work/doctor.txt") ok, $(grep -c '^warn' "$work/doctor.txt") warnings"
    measured loanAfterFaultsSeconds $((SECONDS - phase))
}

bring_down() { # name of the metric
    local phase=$SECONDS
    compose down -v -t 20 >"$work/down.log" 2>&1 || fail "the stack does not go down"
    leaves_nothing
    measured "$1" $((SECONDS - phase))
    say "down, and nothing is left"
}

# A command beside the deployment; its output is in target/compose-check/COMMAND.txt.
ask() {
    ./lendstream "$@" "${at[@]}" "${as[@]}" >"$work/$1.txt" 2>&1 ||
        fail "lendstream $*: $(grep '^FAIL' "$work/$1.txt" || tail -n 3 "$work/$1.txt")"
}

asked_by() { # a user in deploy/acl, or admin
    as=(--config "$SECURE/$1.properties")
}

advice() { # the ID of the last advised loan in top.json
    python3 - "$work/top.json" <<'PY'
import json, sys
made = [d for d in json.load(open(sys.argv[1]))["decisions"] if d["advisory"] and d["kind"] == "lend"]
print(made[-1]["id"] if made else "")
PY
}

advised() { [ -n "$(advice)" ]; }

binding() { grep -q '"advisory" : false' "$work/top.json"; }

# docs/deploy.md, step by step: a broker with logins, and Lendstream beside it.
guide() {
    local phase=$SECONDS id
    files=(-f docker-compose.yml -f docker-compose.secure.yml)
    rm -rf "$SECURE"
    deploy/secure/prepare.sh "$SECURE" kafka
    compose up -d --no-deps kafka registry >"$work/up.log" 2>&1 || fail "broker and registry do not come up: $(tail -n 3 "$work/up.log")"
    await_healthy kafka 120
    await_healthy registry 120
    asked_by admin
    ask acls apply deploy/acl --passwords "$SECURE/passwords.properties"
    asked_by installer
    ask topics create --partitions 2 --replication 1
    ask topics describe
    ask schemas register
    ask schemas check
    say "guide, 1 to 3: users and rights, topics, schemas"
    compose up -d --no-deps flink-jobmanager flink-taskmanager scheduler >"$work/up.log" 2>&1 ||
        fail "scheduler and forecaster do not come up: $(tail -n 3 "$work/up.log")"
    local service
    for service in flink-jobmanager flink-taskmanager scheduler; do
        await_healthy "$service" 180
    done
    asked_by operator
    ask advisory on --domain default --reason "first installation" --timeout 60s
    compose up -d --no-deps agent load >"$work/up.log" 2>&1 || fail "the agent does not come up: $(tail -n 3 "$work/up.log")"
    await_healthy agent 120
    await_healthy load 120
    ask doctor
    say "guide, 4 to 6: services are well, and give advice only"
    compose run --rm --no-deps actuator actuator --check --config /secure/actuator.properties >"$work/check.txt" 2>&1 ||
        fail "actuator --check: $(tail -n 3 "$work/check.txt")"
    compose up -d --no-deps actuator >"$work/up.log" 2>&1 || fail "the actuator does not come up: $(tail -n 3 "$work/up.log")"
    await_healthy actuator 120
    ask doctor
    await_seen "advice to lend" 240 advised
    id=$(advice)
    ask explain "$id"
    owned lent && fail "a GPU is lent in advisory mode"
    binding && fail "a decision was binding in advisory mode: $work/top.json"
    say "guide, 7 and 8: the actuator is well, and does nothing; $id is advice and is explained"
    asked_by workload
    if ./lendstream freeze "${at[@]}" "${as[@]}" >"$work/freeze.txt" 2>&1; then
        fail "workload has frozen the cluster, to which it has no right"
    fi
    asked_by operator
    until ./lendstream approve "$id" "${at[@]}" "${as[@]}" >"$work/approve.txt" 2>&1; do
        [ $((SECONDS - phase)) -lt 400 ] || fail "no advice could be approved: $(tail -n 2 "$work/approve.txt")"
        sleep 5
        look && advised && id=$(advice)
    done
    await_seen "what was approved is done" 120 lent
    ask advisory off --reason "trusted"
    ask doctor
    say "guide, 9: $id was approved and is done; advice has ended"
    measured guideSeconds $((SECONDS - phase))
    bring_down secureDownSeconds
}

mkdir -p "$work"
exec 9>"$work/lock"
flock -n 9 || {
    echo "another compose-check runs in $work; wait for it." >&2
    exit 1
}
command -v python3 >/dev/null || {
    echo "compose-check is not run: it needs python3." >&2
    exit 3
}
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

services="kafka registry flink-jobmanager flink-taskmanager scheduler actuator agent"
bring_up
lends_and_takes_back
if [ -n "$short" ]; then
    recovers scheduler
    bring_down downSeconds
else
    # shellcheck disable=SC2086 # services are words
    recovers $services
    bring_down downSeconds
    guide
    phase=$SECONDS
    containerised_broker
    measured containerTestSeconds $((SECONDS - phase))
fi

measured totalSeconds $((SECONDS - began))
printf '{"name":"compose-check","metrics":{%s},"reference":{},"ratio":{},"machine":"%s cores, %s","commit":"%s"}\n' \
    "$metrics" "$(getconf _NPROCESSORS_ONLN)" "$(uname -sm)" "$(git rev-parse --short HEAD 2>/dev/null || echo unknown)"
