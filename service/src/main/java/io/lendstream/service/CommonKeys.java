package io.lendstream.service;

import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.settings.Key;
import io.lendstream.service.time.TimeMode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The settings that every service has. */
public final class CommonKeys {
    public static final Key<String> TOPIC_PREFIX =
            Key.text("topic-prefix", TopicCatalogue.DEFAULT_PREFIX, "What the names of all topics start with.");
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
    public static final Key<Duration> CONNECT_TIMEOUT = Key.period(
            "connect-timeout", "10s", "How long the broker, and then the registry, may take to answer at the start.");
    public static final Key<Duration> MAX_CLOCK_SKEW = Key.duration(
            "max-clock-skew",
            "5m",
            "How far a record may be stamped ahead of this machine's clock before it goes to the dead letters.");
    public static final Key<TimeMode> TIME = Key.choice(
            "time",
            TimeMode.WALL,
            "Whose time counts: the machine's, or that of an accelerated run that the load generator drives.");

    public static final List<Key<?>> ALL =
            List.of(TOPIC_PREFIX, HEALTH_PORT, HEALTH_ADDRESS, CONNECT_TIMEOUT, MAX_CLOCK_SKEW, TIME);

    private CommonKeys() {}
}
