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
            Key.text("topic-prefix", TopicCatalogue.DEFAULT_PREFIX, "What the names of all topics start with.");
    public static final Key<Intakes> INTAKES = new Key<>(
            "intakes",
            "intakes as NAME=DOMAIN[+DOMAIN...] or NAME=* between commas, such as team-a=east+west,oncall=*",
            "",
            "Groups of writers with input topics of their own, and the domains that each may write about; the same for"
                    + " all services and commands of a site. Nothing for the base topics alone.",
            CommonKeys::intakes);
    public static final Key<Optional<String>> INTAKE = new Key<>(
                    "intake",
                    "the name of an intake",
                    "team-a",
                    "The intake that an agent, the load generator or a control command writes to in place of the base"
                            + " topics; nothing for these.",
                    CommonKeys::intake)
            .optional();
    public static final Key<Optional<Integer>> HEALTH_PORT = Key.count(
                    "health.port",
                    0,
                    65535,
                    0,
                    "Port of /health/live, /health/ready and /metrics; 0 for any that is free, nothing for none.")
            .optional();
    public static final Key<String> HEALTH_ADDRESS = Key.word(
            "health.address",
            "127.0.0.1",
            "Address on which health and metrics are served; 0.0.0.0 lets other machines see them.");
    public static final Key<String> HEALTH_USERNAME = Key.text(
            "health.username",
            "",
            "User name that a reader of /metrics must give, by HTTP's basic authentication; nothing for no login. /health/live and /health/ready need none.");
    public static final Key<String> HEALTH_PASSWORD = Key.text(
            "health.password",
            "",
            "Password of health.username; health.password-file keeps it out of the command line.");
    public static final Key<Optional<Path>> HEALTH_PASSWORD_FILE = Key.path(
                    "health.password-file", ".", "File with the password of health.username, read at the start.")
            .optional();
    public static final Key<Optional<Path>> HEALTH_KEYSTORE = Key.path(
                    "health.ssl.keystore.location",
                    ".",
                    "Keystore with the certificate and key for HTTPS, in the form of Kafka's ssl.keystore.location; nothing for plain HTTP.")
            .optional();
    public static final Key<String> HEALTH_KEYSTORE_TYPE =
            Key.word("health.ssl.keystore.type", "PKCS12", "Type of the keystore: PKCS12, JKS or PEM.");
    public static final Key<String> HEALTH_KEYSTORE_PASSWORD =
            Key.text("health.ssl.keystore.password", "", "Password of the keystore; nothing for PEM.");
    public static final Key<String> HEALTH_KEY_PASSWORD = Key.text(
            "health.ssl.key.password", "", "Password of the key in the keystore; nothing where it is the keystore's.");
    public static final Key<Duration> CONNECT_TIMEOUT = Key.period(
            "connect-timeout",
            "10s",
            "How long the broker, and then the registry, may take to answer a try to reach them.");
    public static final Key<Optional<Duration>> WAIT_FOR_BROKER = Key.duration(
                    "wait-for-broker",
                    "10s",
                    "How long a service waits for a broker and a registry that do not answer when it starts; nothing for as long as it takes, 0s for a single try.")
            .optional();
    public static final Key<Duration> MAX_CLOCK_SKEW = Key.duration(
            "max-clock-skew",
            "5m",
            "How far a record may be stamped ahead of this machine's clock before it goes to the dead letters.");
    public static final Key<Long> MAX_RECORD_BYTES = Key.bytes(
            "max-record-bytes",
            "1MiB",
            "How large a record may be after decompression, with its key and headers, before it goes to the dead letters instead of being decoded.");
    public static final Key<TimeMode> TIME = Key.choice(
            "time",
            TimeMode.WALL,
            "Whose time counts: the machine's, or that of an accelerated run that the load generator drives.");

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
