#!/usr/bin/env bash
# As in Flink's image: settings from FLINK_PROPERTIES; standalone-job or taskmanager.
set -euo pipefail
export FLINK_CONF_DIR=/opt/flink/conf
printf '%s\n' "${FLINK_PROPERTIES:-}" | sed '/^[[:space:]]*$/d' >"$FLINK_CONF_DIR/config.yaml"
cat >>"$FLINK_CONF_DIR/config.yaml" <<CONFIG
rest.bind-address: 0.0.0.0
jobmanager.bind-host: 0.0.0.0
taskmanager.bind-host: 0.0.0.0
taskmanager.host: $(hostname -i | cut -d' ' -f1)
CONFIG
opens=(--add-opens=java.base/java.util=ALL-UNNAMED --add-opens=java.base/java.lang=ALL-UNNAMED
    --add-opens=java.base/java.time=ALL-UNNAMED --add-opens=java.base/java.net=ALL-UNNAMED)
options=$(sed -n 's/^env.java.opts.all: *//p' "$FLINK_CONF_DIR/config.yaml")
logging=-Dlogback.configurationFile=$FLINK_CONF_DIR/logback.xml

# What Flink makes of the memory settings: line 1 the JVM's flags, line 2 settings.
parameters() {
    java -Xmx64m -XX:TieredStopAtLevel=1 -Dlogback.configurationFile="$FLINK_CONF_DIR/logback.xml" -cp '/opt/flink/lib/*' \
        org.apache.flink.runtime.util.bash.BashJavaUtils "$1" --configDir "$FLINK_CONF_DIR" |
        sed -n 's/.*BASH_JAVA_UTILS_EXEC_RESULT://p'
}

case ${1:-} in
    standalone-job)
        shift
        lines=$(parameters GET_JM_RESOURCE_PARAMS)
        # shellcheck disable=SC2086 # options are words
        exec java $(sed -n 1p <<<"$lines") $options "$logging" "${opens[@]}" -cp '/opt/flink/lib/*' \
            org.apache.flink.container.entrypoint.StandaloneApplicationClusterEntryPoint \
            --configDir "$FLINK_CONF_DIR" "$@"
        ;;
    taskmanager)
        lines=$(parameters GET_TM_RESOURCE_PARAMS)
        # shellcheck disable=SC2046,SC2086 # options are words
        exec java $(sed -n 1p <<<"$lines") $options "$logging" "${opens[@]}" -cp '/opt/flink/lib/*' \
            org.apache.flink.runtime.taskexecutor.TaskManagerRunner --configDir "$FLINK_CONF_DIR" $(sed -n 2p <<<"$lines")
        ;;
    *)
        echo "Usage: docker-entrypoint.sh standalone-job|taskmanager; got '${1:-}'." >&2
        exit 2
        ;;
esac
