package io.lendstream.service.settings;

import io.lendstream.schemas.topics.DomainIntake;
import io.lendstream.schemas.topics.Intakes;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.time.TimeMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The settings that every service has. */
public final class CommonKeys {
    public static final Key<String> TOPIC_PREFIX =
            Key.text("topic-prefix", TopicCatalogue.DEFAULT_PREFIX, "Prefix of all topic names.");
    public static final Key<Intakes> INTAKES = new Key<>(
            "intakes",
            "intakes as NAME=DOMAIN[+DOMAIN...] or NAME=* between commas, such as team-a=east+west,oncall=*",
            "",
            "Groups of writers with their own input topics, and the domains that each may write about. Use the same value for"
                    + " all services and commands of a site. Empty: base topics only.",
            CommonKeys::intakes);
    public static final Key<Optional<String>> INTAKE = new Key<>(
                    "intake",
                    "the name of an intake",
                    "team-a",
                    "The intake that an agent, the load generator or a control command writes to, instead of the base"
                            + " topics. Empty: base topics.",
                    CommonKeys::intake)
            .optional();
    public static final Key<Optional<Integer>> HEALTH_PORT = Key.count(
                    "health.port",
                    0,
                    65535,
                    0,
                    "Port of /health/live, /health/ready and /metrics. 0: any free port. Empty: no such server.")
            .optional();
    public static final Key<String> HEALTH_ADDRESS = Key.word(
            "health.address",
            "127.0.0.1",
            "Address on which health and metrics are served; 0.0.0.0 makes them reachable from other machines.");
    public static final Key<String> HEALTH_USERNAME = Key.text(
            "health.username",
            "",
            "User name required for /metrics, by HTTP basic authentication. Empty: no login. /health/live and /health/ready never need a login.");
    public static final Key<String> HEALTH_PASSWORD = Key.text(
            "health.password",
            "",
            "Password of health.username. Prefer health.password-file, which keeps it out of the command line.");
    public static final Key<Optional<Path>> HEALTH_PASSWORD_FILE = Key.path(
                    "health.password-file", ".", "File with the password of health.username, read at start-up.")
            .optional();
    public static final Key<Optional<Path>> HEALTH_KEYSTORE = Key.path(
                    "health.ssl.keystore.location",
                    ".",
                    "Keystore with the certificate and key for HTTPS, in the format of Kafka's ssl.keystore.location. Empty: plain HTTP.")
            .optional();
    public static final Key<String> HEALTH_KEYSTORE_TYPE =
            Key.word("health.ssl.keystore.type", "PKCS12", "Type of the keystore: PKCS12, JKS or PEM.");
    public static final Key<String> HEALTH_KEYSTORE_PASSWORD =
            Key.text("health.ssl.keystore.password", "", "Password of the keystore. Empty for PEM.");
    public static final Key<String> HEALTH_KEY_PASSWORD = Key.text(
            "health.ssl.key.password", "", "Password of the key in the keystore. Empty: the same as the keystore's.");
    public static final Key<Duration> CONNECT_TIMEOUT = Key.period(
            "connect-timeout",
            "10s",
            "How long one attempt to reach the broker, and then the registry, may take.");
    public static final Key<Optional<Duration>> WAIT_FOR_BROKER = Key.duration(
                    "wait-for-broker",
                    "10s",
                    "How long a service waits at start-up for a broker and a registry that do not answer. Empty: without limit. 0s: a single attempt.")
            .optional();
    public static final Key<Duration> MAX_CLOCK_SKEW = Key.duration(
            "max-clock-skew",
            "5m",
            "How far a record's time may be ahead of this machine's clock. Records further ahead go to the dead letters.");
    public static final Key<Long> MAX_RECORD_BYTES = Key.bytes(
            "max-record-bytes",
            "1MiB",
            "Largest size of a record after decompression, with its key and headers. Larger records are not decoded and go to the dead letters.");
    public static final Key<TimeMode> TIME = Key.choice(
            "time",
            TimeMode.WALL,
            "The clock to use: this machine's, or the virtual clock of an accelerated run, which the load generator drives.");

    public static final List<Key<?>> ALL = List.of(
            TOPIC_PREFIX,
            INTAKES,
            INTAKE,
            HEALTH_PORT,
            HEALTH_ADDRESS,
            HEALTH_USERNAME,
            HEALTH_PASSWORD,
            HEALTH_PASSWORD_FILE,
            HEALTH_KEYSTORE,
            HEALTH_KEYSTORE_TYPE,
            HEALTH_KEYSTORE_PASSWORD,
            HEALTH_KEY_PASSWORD,
            CONNECT_TIMEOUT,
            WAIT_FOR_BROKER,
            MAX_CLOCK_SKEW,
            MAX_RECORD_BYTES,
            TIME);

    private CommonKeys() {}

    private static Optional<Intakes> intakes(String text) {
        try {
            return Optional.of(Intakes.parse(text));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static Optional<String> intake(String text) {
        try {
            DomainIntake.check(text.strip());
            return Optional.of(text.strip());
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
