# Sourced by scripts that need a Docker engine: finds one, or, as root, installs Debian's and starts a private one
# with its data in target/engine, which leaves no bridge, firewall rule or image behind. Sets DOCKER, COMPOSE and
# DOCKER_HOST, or the reason in ENGINE_MISSING. engine_stop stops only an engine that engine_start started.

ENGINE_DIR=$PWD/target/engine
ENGINE_PID=
ENGINE_MISSING=

engine_say() { printf '%s\n' "$*" >&2; }

# A docker command that can build with BuildKit: with its plugin, or of the versions that have it built in.
engine_docker() {
    local candidate
    for candidate in "${DOCKER:-}" $(type -ap docker 2>/dev/null); do
        [ -n "$candidate" ] || continue
        if "$candidate" buildx version >/dev/null 2>&1 || "$candidate" --version 2>/dev/null | grep -qE ' (18|19|20|22)\.'; then
            DOCKER=$candidate
            return
        fi
    done
    return 1
}

engine_compose() {
    if "$DOCKER" compose version >/dev/null 2>&1; then
        COMPOSE=("$DOCKER" compose)
    elif command -v docker-compose >/dev/null; then
        COMPOSE=(docker-compose)
    else
        return 1
    fi
}

engine_install() {
    local packages=()
    command -v dockerd >/dev/null && engine_docker || packages+=(docker.io)
    if engine_docker && engine_compose; then :; else packages+=(docker-compose); fi
    command -v debootstrap >/dev/null || packages+=(debootstrap)
    [ "${#packages[@]}" -gt 0 ] || return 0
    [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null || return 1
    engine_say "installing ${packages[*]}"
    DEBIAN_FRONTEND=noninteractive apt-get update -qq >/dev/null 2>&1 || true
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends --no-remove "${packages[@]}" >/dev/null 2>&1
}

engine_start() {
    if engine_docker && engine_compose && "$DOCKER" info >/dev/null 2>&1; then
        engine_say "using the engine that answers: $("$DOCKER" version --format '{{.Server.Version}}')"
        return
    fi
    if [ -n "${DOCKER:-}" ] && "$DOCKER" info >/dev/null 2>&1 || { command -v docker >/dev/null && docker info >/dev/null 2>&1; }; then
        ENGINE_MISSING="a Docker engine answers, but its command has no buildx, or there is no docker-compose or compose plugin: install them"
        return 1
    fi
    if [ "$(id -u)" -ne 0 ]; then
        ENGINE_MISSING="no Docker engine answers, and only root can start one"
        return 1
    fi
    engine_install && engine_docker && engine_compose && command -v dockerd >/dev/null || {
        ENGINE_MISSING="no Docker engine answers, and docker.io and docker-compose cannot be installed by apt-get"
        return 1
    }
    mkdir -p "$ENGINE_DIR"
    export DOCKER_HOST=unix://$ENGINE_DIR/docker.sock
    # Otherwise the host keeps these settings despite --bridge and --iptables.
    dockerd --data-root "$ENGINE_DIR/data" --exec-root "$ENGINE_DIR/run" --pidfile "$ENGINE_DIR/pid" -H "$DOCKER_HOST" \
        --bridge none --iptables=false --ip6tables=false --ip-masq=false >"$ENGINE_DIR/log" 2>&1 </dev/null 9>&- &
    ENGINE_PID=$!
    local tries
    for tries in $(seq 100); do
        "$DOCKER" info >/dev/null 2>&1 && break
        kill -0 "$ENGINE_PID" 2>/dev/null || break
        sleep 0.3
    done
    "$DOCKER" info >/dev/null 2>&1 || {
        ENGINE_MISSING="dockerd does not start here ($(grep -o 'msg=.*' "$ENGINE_DIR/log" | tail -n 1)); its log is $ENGINE_DIR/log"
        engine_stop
        return 1
    }
    engine_say "started an engine of our own: $("$DOCKER" version --format '{{.Server.Version}}'), after $tries looks"
}

engine_stop() {
    [ -n "$ENGINE_PID" ] || return 0
    kill "$ENGINE_PID" 2>/dev/null || true
    wait "$ENGINE_PID" 2>/dev/null || true
    ENGINE_PID=
    rm -rf "$ENGINE_DIR/data" "$ENGINE_DIR/run" 2>/dev/null || true
}
