package io.lendstream.launcher.faults;

import java.util.List;
import java.util.Map;

/**
 * The timeouts after which a broker and its clients treat a peer as dead.
 *
 * @param broker additional settings of the embedded broker
 * @param scheduler settings of schedulers
 * @param takeoverSeconds within which 99 of 100 takeovers are to be done
 * @param zombieMillis the pause after which a stopped process certainly counts as dead
 */
record FailureTimeouts(
        String name, Map<String, String> broker, List<String> scheduler, double takeoverSeconds, long zombieMillis) {
    private static final String COMMIT = "kafka.commit.interval.ms=100";

    /** As a broker is out of the box, and as a scheduler is. */
    private static final FailureTimeouts STOCK = new FailureTimeouts("stock", Map.of(), List.of(COMMIT), 25, 20_000);

    private static final FailureTimeouts QUICK = new FailureTimeouts(
            "quick",
            Map.of(
                    "group.min.session.timeout.ms", "1000",
                    "transaction.abort.timed.out.transaction.cleanup.interval.ms", "500"),
            List.of(
                    COMMIT,
                    "kafka.request.timeout.ms=2500",
                    "kafka.consumer.session.timeout.ms=2000",
                    "kafka.consumer.heartbeat.interval.ms=500",
                    "kafka.consumer.max.poll.interval.ms=6000",
                    "kafka.producer.transaction.timeout.ms=2000"),
            5,
            8_000);

    static FailureTimeouts named(String name) {
        return switch (name) {
            case "stock" -> STOCK;
            case "quick" -> QUICK;
            default ->
                throw new IllegalArgumentException(
                        "faults.broker is '%s', but must be quick or stock.".formatted(name));
        };
    }
}
