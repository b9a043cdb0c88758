package io.lendstream.launcher.operation;

import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.launcher.UserError;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.CommonKeys;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.kafka.WriteFailedException;
import io.lendstream.service.settings.Units;
import io.lendstream.service.time.TimeMode;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Gives a scheduler a command, and waits until it is in its log. */
final class ControlOrder {
    /** What follows from an event is published with it, or right after. */
    private static final Duration AFTERMATH = Duration.ofSeconds(1);

    private static final Duration POLL = Duration.ofMillis(100);

    private final Cluster cluster;
    private final Reading reading;
    private final Duration timeout;
    private final TopicCatalogue topics;

    /** @param group whose own topic it goes to; empty for the base topic */
    ControlOrder(Cluster cluster, Reading reading, Duration timeout, Optional<String> group) {
        this.cluster = cluster;
        this.reading = reading;
        this.timeout = timeout;
        this.topics = cluster.topics().writingFor(group);
    }

    /**
     * A command that was taken.
     *
     * @param event its place in the log
     * @param decisions what was decided on it
     */
    record Taken(DomainEvent event, List<Decision> decisions) {}

    /** The time to give a command: that of the accelerated run where there is one. */
    Instant now() {
        if (cluster.settings().get(CommonKeys.TIME) == TimeMode.WALL) {
            return Instant.now().truncatedTo(ChronoUnit.MILLIS);
        }
        List<Instant> told = new ArrayList<>();
        reading.values(TopicCatalogue.PROGRESS, progress -> {
            if (progress.service().equals("environment")) {
                told.add(progress.eventTime());
            }
        });
        return told.stream()
                .max(Instant::compareTo)
                .orElseThrow(() -> UserError.failed(
                        "time is virtual, but nobody has told what time it is: %s has no word of an environment. Start 'lendstream load', or set time=wall."
                                .formatted(cluster.topics().name(TopicCatalogue.PROGRESS))));
    }

    /** Writes a command and waits for it in the log. */
    Taken give(ControlCommand command) {
        var log = new Awaited(command);
        try (RecordReader reader = reading.open()) {
            reader.handing(
                    TopicCatalogue.DOMAIN_EVENTS, received -> received.value().ifPresent(log::take));
            reader.handing(
                    TopicCatalogue.DECISIONS, received -> received.value().ifPresent(log::take));
            Map<String, Long> ends =
                    reading.ends(reader, List.of(TopicCatalogue.DOMAIN_EVENTS, TopicCatalogue.DECISIONS));
            reader.start(ends);
            write(command);
            long until = System.nanoTime() + timeout.toNanos();
            while (log.event.isEmpty() && System.nanoTime() < until) {
                reader.poll(POLL);
            }
            DomainEvent event = log.event.orElseThrow(() -> UserError.failed(silence(command)));
            long quiet = System.nanoTime() + AFTERMATH.toNanos();
            while (System.nanoTime() < quiet) {
                reader.poll(POLL);
            }
            return new Taken(event, log.decisionsOn(event));
        }
    }

    private void write(ControlCommand command) {
        try (RecordWriter writer = RecordWriter.open(cluster.kafka(), topics, "/lendstream/command")) {
            writer.write(TopicCatalogue.CONTROL, command.domain().value(), command);
            writer.flush();
        } catch (WriteFailedException e) {
            throw UserError.failed("%s. Log in as somebody who may write to %s%s"
                    .formatted(
                            e.getMessage(),
                            topics.target(TopicCatalogue.CONTROL),
                            topics.own().isPresent() ? "." : ", or name your group with --as."));
        }
    }

    private String silence(ControlCommand command) {
        return "no scheduler of domain %s took the command within --timeout %s. It stays in %s and is taken when one runs%s; 'lendstream doctor' says what is there."
                .formatted(
                        command.domain(),
                        Units.text(timeout),
                        topics.target(TopicCatalogue.CONTROL),
                        topics.own()
                                .map(group ->
                                        " that has intake %s with this domain in its setting intakes".formatted(group))
                                .orElse(""));
    }

    /** Waits for a command in the log, and for what is decided on it, whichever comes first. */
    private static final class Awaited {
        private final ControlCommand command;
        private final List<Decision> decisions = new ArrayList<>();
        private Optional<DomainEvent> event = Optional.empty();

        Awaited(ControlCommand command) {
            this.command = command;
        }

        void take(DomainEvent logged) {
            if (logged.event() instanceof ControlCommand taken && taken.id().equals(command.id())) {
                event = Optional.of(logged);
            }
        }

        void take(Decision decision) {
            if (domain(decision).equals(command.domain())) {
                decisions.add(decision);
            }
        }

        List<Decision> decisionsOn(DomainEvent logged) {
            return decisions.stream()
                    .filter(decision -> decision.reason().inputs().contains(logged.sequence()))
                    .distinct()
                    .toList();
        }

        private static DomainId domain(Decision decision) {
            return decision.id().domain();
        }
    }
}
