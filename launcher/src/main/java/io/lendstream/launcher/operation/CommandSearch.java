package io.lendstream.launcher.operation;

import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.ControlCommand.Kind;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Origin;
import io.lendstream.core.id.DomainId;
import io.lendstream.launcher.operation.SchedulerSearch.Batch;
import io.lendstream.launcher.operation.SchedulerSearch.LogPartition;
import io.lendstream.service.kafka.Received;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Finds the commands that schedulers accepted. The topics of commands also have refused ones, and no order between
 * topics. The log of a domain has the accepted ones, in order. Logs are long, so the search for each command begins at
 * the time at which it was written.
 */
final class CommandSearch {
    /** The kinds of commands that are in force until another one ends them, and those that end them. */
    private static final Set<Kind> LASTING =
            EnumSet.of(Kind.FREEZE, Kind.THAW, Kind.RECLAIM_ALL, Kind.ADVISORY_ON, Kind.ADVISORY_OFF);

    /** The clocks of brokers may differ by this. */
    private static final Duration SKEW = Duration.ofSeconds(10);
    /** Commands that were written within this time may be in any order in the log. */
    private static final Duration UNORDERED = Duration.ofMinutes(10);
    /** The time in which a scheduler usually accepts a command. */
    private static final Duration USUAL = Duration.ofMinutes(1);
    /** A command that waited longer for a scheduler counts as refused if the log has lost its beginning. */
    private static final Duration LONGEST_WAIT = Duration.ofDays(1);
    /** The number of reads after which a command counts as refused. */
    private static final int MOST_READS = 100;

    private final SortedMap<DomainId, List<Sought>> sought = new TreeMap<>();

    /** Takes a record of a topic of commands. */
    void take(Received<ControlCommand> received) {
        received.value()
                .filter(command -> LASTING.contains(command.kind()))
                .ifPresent(command -> sought.computeIfAbsent(command.domain(), added -> new ArrayList<>())
                        .add(new Sought(command, received.origin(), received.written())));
    }

    /** Whether the log may soon have a command that it did not have before. */
    boolean isOpen(Instant wallClock) {
        return sought.values().stream()
                .flatMap(List::stream)
                .anyMatch(each -> each.isOpen() && each.written.isAfter(wallClock.minus(USUAL)));
    }

    /**
     * The events of accepted commands, in any order, with all that are in force.
     *
     * @param logs the partition with the log of a domain
     */
    List<DomainEvent> accepted(Function<DomainId, LogPartition> logs) {
        List<DomainEvent> accepted = new ArrayList<>();
        sought.forEach((domain, commands) -> {
            Optional<LogPartition> log = Optional.empty();
            commands.sort(Comparator.comparing((Sought each) -> each.written).reversed());
            Map<Kind, Instant> ended = new EnumMap<>(Kind.class);
            for (Sought each : commands) {
                if (each.isEnded(ended)) {
                    continue;
                }
                if (each.isOpen()) {
                    LogPartition known = log.orElseGet(() -> logs.apply(domain));
                    log = Optional.of(known);
                    each.look(known);
                }
                if (each.accepted.isPresent()) {
                    accepted.add(each.accepted.get());
                    endedBy(each.command.kind()).forEach(kind -> ended.putIfAbsent(kind, each.written));
                }
            }
        });
        return accepted;
    }

    /** The kinds of earlier commands that no longer matter after a command. */
    private static Set<Kind> endedBy(Kind kind) {
        return switch (kind) {
            case THAW -> EnumSet.of(Kind.FREEZE, Kind.RECLAIM_ALL, Kind.THAW);
            case ADVISORY_OFF -> EnumSet.of(Kind.ADVISORY_ON, Kind.ADVISORY_OFF);
            case FREEZE, RECLAIM_ALL, ADVISORY_ON, APPROVE, RESET, ADOPT, TRUST, UNKNOWN -> EnumSet.noneOf(Kind.class);
        };
    }

    /** A command with the state of its search. */
    private static final class Sought {
        private final ControlCommand command;
        private final Origin origin;
        private final Instant written;
        private Optional<DomainEvent> accepted = Optional.empty();
        private boolean isRefused;
        private OptionalLong next = OptionalLong.empty();
        private int reads;

        Sought(ControlCommand command, Origin origin, Instant written) {
            this.command = command;
            this.origin = origin;
            this.written = written;
        }

        boolean isOpen() {
            return accepted.isEmpty() && !isRefused;
        }

        boolean isEnded(Map<Kind, Instant> ended) {
            Instant end = ended.get(command.kind());
            return end != null && written.isBefore(end.minus(UNORDERED));
        }

        /** Reads the log up to its end, from where the last look ended. */
        void look(LogPartition log) {
            long at = next.isPresent() ? next.getAsLong() : start(log);
            while (isOpen() && at < log.end()) {
                Batch batch = log.read(at);
                batch.events().forEach(placed -> compare(placed.event()));
                at = batch.events().isEmpty() ? log.end() : batch.next();
                reads++;
                isRefused |= reads >= MOST_READS && accepted.isEmpty();
            }
            next = OptionalLong.of(at);
        }

        /** Where the search begins. If the log begins long after the command, it has lost the event of the command. */
        private long start(LogPartition log) {
            long at = log.since(written.minus(SKEW));
            isRefused = log.beginning() > 0
                    && at < log.end()
                    && at == log.since(written.plus(LONGEST_WAIT))
                    && at == log.since(Instant.EPOCH);
            return at;
        }

        /** The records of a partition keep their order, so a later one in the log shows that this one was refused. */
        private void compare(DomainEvent event) {
            event.origin()
                    .filter(known -> event.domain().equals(command.domain())
                            && known.topic().equals(origin.topic())
                            && known.partition() == origin.partition())
                    .ifPresent(known -> {
                        if (known.offset() == origin.offset()) {
                            accepted = Optional.of(event);
                        } else if (known.offset() > origin.offset()) {
                            isRefused = true;
                        }
                    });
        }
    }
}
