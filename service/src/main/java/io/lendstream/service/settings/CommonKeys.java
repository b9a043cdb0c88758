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
            "Groups of writers with own input topics, and their domains. Must be equal for all services and commands of a site. Empty for base topics only.",
            CommonKeys::intakes);
    public static final Key<Optional<String>> INTAKE = new Key<>(
                    "intake",
                    "the name of an intake",
                    "team-a",
                    "The intake that an agent, the load generator or a control command writes to; empty for the base topics.",
                    CommonKeys::intake)
            .optional();
    public static final Key<Optional<Integer>> HEALTH_PORT = Key.count(
                    "health.port",
                    0,
                    65535,
                    0,
                    "Port of /health/live, /health/ready and /metrics; 0 for any free port, empty for none.")
            .optional();
    public static final Key<String> HEALTH_ADDRESS = Key.word(
            "health.address", "127.0.0.1", "Address of health and metrics; 0.0.0.0 opens them to other machines.");
    public static final Key<String> HEALTH_USERNAME = Key.text(
            "health.username",
            "",
            "User name for /metrics (HTTP basic authentication); empty for none. /health/live and /health/ready are open.");
    public static final Key<String> HEALTH_PASSWORD =
            Key.text("health.password", "", "Password of health.username. Prefer health.password-file.");
    public static final Key<Optional<Path>> HEALTH_PASSWORD_FILE = Key.path(
                    "health.password-file", ".", "File with the password of health.username, read at start.")
            .optional();
    public static final Key<Optional<Path>> HEALTH_KEYSTORE = Key.path(
                    "health.ssl.keystore.location",
                    ".",
                    "Keystore with certificate and key for HTTPS, as Kafka's ssl.keystore.location; empty for HTTP.")
            .optional();
    public static final Key<String> HEALTH_KEYSTORE_TYPE =
            Key.word("health.ssl.keystore.type", "PKCS12", "Type of the keystore: PKCS12, JKS or PEM.");
    public static final Key<String> HEALTH_KEYSTORE_PASSWORD =
            Key.text("health.ssl.keystore.password", "", "Password of the keystore; empty for PEM.");
    public static final Key<String> HEALTH_KEY_PASSWORD =
            Key.text("health.ssl.key.password", "", "Password of the key; empty if it is that of the keystore.");
    public static final Key<Duration> CONNECT_TIMEOUT =
            Key.period("connect-timeout", "10s", "Timeout of one attempt to reach the broker, and then the registry.");
    public static final Key<Optional<Duration>> WAIT_FOR_BROKER = Key.duration(
                    "wait-for-broker",
                    "10s",
                    "Longest wait for broker and registry at start; empty for no limit, 0s for one attempt.")
            .optional();
    public static final Key<Duration> MAX_CLOCK_SKEW = Key.duration(
            "max-clock-skew",
            "5m",
            "How far a record's time may be ahead of this machine's clock. Records further ahead go to the dead letters.");
    public static final Key<Long> MAX_RECORD_BYTES = Key.bytes(
            "max-record-bytes",
            "1MiB",
            "Largest record with key and headers, uncompressed. Larger records go to the dead letters without decoding.");
    public static final Key<TimeMode> TIME = Key.choice(
            "time",
            TimeMode.WALL,
            "The clock: wall is the machine's; virtual is that of an accelerated run, driven by the load generator.");

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
