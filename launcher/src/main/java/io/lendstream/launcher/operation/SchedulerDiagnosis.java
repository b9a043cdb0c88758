package io.lendstream.launcher.operation;

import io.lendstream.launcher.operation.Finding.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What is to be thought of the scheduler, by what it refuses and by which domains it logs. */
final class SchedulerDiagnosis {
    /** Fewer records than this say nothing of a share. */
    private static final int LEAST = 20;

    private static final int NAMED = 5;
    private static final Duration STOPPED_WITHIN = Duration.ofMinutes(5);
    private static final Pattern DOMAIN = Pattern.compile("^domain (\\S+) is stopped");

    private SchedulerDiagnosis() {}

    /** Whether records are refused, and whether most are. */
    static Finding deadLetters(List<RefusedRecords> topics) {
        List<RefusedRecords> some =
                topics.stream().filter(topic -> topic.letters() > 0).toList();
        if (some.isEmpty()) {
            return Finding.ok("dead-letters", "none in the last hour");
        }
        Optional<RefusedRecords> mostly = some.stream()
                .filter(topic -> topic.records() >= LEAST && 2 * topic.byScheduler() > topic.records())
                .findFirst();
        if (mostly.isPresent()) {
            RefusedRecords topic = mostly.get();
            return Finding.fail(
                    "dead-letters",
                    "the scheduler refused most of %s in the last hour, about %d of %d records; the last because: %s"
                            .formatted(topic.topic(), topic.byScheduler(), topic.records(), topic.lastReason()),
                    "see to whoever writes it; where the reason is a clock, have all machines follow NTP");
        }
        List<String> counts = some.stream()
                .limit(NAMED)
                .map(topic -> "%d of %s (the last: %s)".formatted(topic.letters(), topic.topic(), topic.lastReason()))
                .toList();
        return Finding.warn(
                "dead-letters",
                "in the last hour %s".formatted(String.join("; ", counts)),
                "read the header lendstream.error.message of the topic's dead letters (-dlq), and see to whoever wrote them");
    }

    /**
     * Whether every domain's time goes on.
     *
     * @param topics what was refused lately
     * @param heard domains whose nodes wrote in the last minutes
     * @param logged when the log of each domain last went on, in the last minutes
     */
    static Finding domains(List<RefusedRecords> topics, Set<String> heard, Map<String, Instant> logged, Instant now) {
        TreeSet<String> stopped = new TreeSet<>();
        for (RefusedRecords topic : topics) {
            for (RefusedRecords.Letter letter : topic.latest()) {
                boolean isRecent = letter.at().isAfter(now.minus(STOPPED_WITHIN));
                if (letter.isOfStoppedDomain() && isRecent && !wentOn(letter, logged)) {
                    stopped.add(letter.message());
                }
            }
        }
        if (!stopped.isEmpty()) {
            return new Finding(
                    "domains",
                    Level.FAIL,
                    some(new ArrayList<>(stopped)),
                    "correct the record that brought it about and write it again, or start a version that can go on; nothing is decided there until then");
        }
        List<String> silent = heard.stream()
                .filter(domain -> !logged.containsKey(domain))
                .sorted()
                .toList();
        return silent.isEmpty()
                ? Finding.ok("domains", "the log of all %d whose nodes write goes on".formatted(heard.size()))
                : Finding.fail(
                        "domains",
                        "nodes of %s write, but the scheduler has logged nothing of it for minutes"
                                .formatted(some(silent)),
                        "see whether the scheduler is ready (/health/ready) and what its log says");
    }

    /** Whether the domain's log has gone on since one of its records was refused. */
    private static boolean wentOn(RefusedRecords.Letter letter, Map<String, Instant> logged) {
        Matcher name = DOMAIN.matcher(letter.message());
        return name.find()
                && Optional.ofNullable(logged.get(name.group(1)))
                        .filter(letter.at()::isBefore)
                        .isPresent();
    }

    private static String some(List<String> things) {
        String named = String.join("; ", things.stream().limit(NAMED).toList());
        return things.size() > NAMED ? "%s and %d more".formatted(named, things.size() - NAMED) : named;
    }
}
