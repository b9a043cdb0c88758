package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.ServiceName;
import io.lendstream.core.id.DomainId;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.kafka.WriteFailedException;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Units;
import io.lendstream.service.time.TimeMode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.header.Header;

/** Gives schedulers commands, all at once, and waits until each is in the log of its domain, or refused. */
final class ControlOrder {
    /** What follows from an event is published with it, or right after. */
    private static final Duration AFTERMATH = Duration.ofSeconds(1);

    private static final Duration POLL = Duration.ofMillis(100);

    private final Cluster cluster;
    private final TopicScan reading;
    private final Duration timeout;
    private final TopicCatalogue topics;

    /** @param group whose own topic it goes to; empty for the base topic */
    ControlOrder(Cluster cluster, TopicScan reading, Duration timeout, Optional<String> group) {
        this.cluster = cluster;
        this.reading = reading;
        this.timeout = timeout;
        this.topics = cluster.topics().writingFor(group);
    }

    /** What became of a command. */
    sealed interface Answer {}

    /**
     * It was taken.
     *
     * @param event its place in the log
     * @param decisions what was decided on it
     */
    record Taken(DomainEvent event, List<Decision> decisions) implements Answer {}

    /**
     * The scheduler refused the command, or no scheduler answered.
     *
     * @param why in a sentence for people, with the way out
     */
    record NotTaken(ControlCommand command, String why) implements Answer {}

    /** The time to give a command: that of the accelerated run where there is one. */
    Instant now() {
        if (cluster.settings().get(CommonKeys.TIME) == TimeMode.WALL) {
            return Instant.now().truncatedTo(ChronoUnit.MILLIS);
        }
        List<Instant> told = new ArrayList<>();
        reading.values(TopicCatalogue.PROGRESS, progress -> {
            if (progress.isOf(ServiceName.ENVIRONMENT)) {
                told.add(progress.eventTime());
            }
        });
        return told.stream()
                .max(Instant::compareTo)
                .orElseThrow(() -> UserError.failed(
                        "time is virtual, but nobody has told what time it is: %s has no word of an environment. Start 'lendstream load', or set time=wall."
                                .formatted(cluster.topics().name(TopicCatalogue.PROGRESS))));
    }

    /**
     * Writes commands, each of another domain, and waits for them in the log. One domain that does not answer keeps no other from being
     * ordered.
     *
     * @return an answer to each, in their order
     */
    List<Answer> give(List<ControlCommand> commands) {
        List<Awaited> awaited = commands.stream().map(Awaited::new).toList();
        try (RecordReader reader = reading.open();
                var refusals = new Refusals(reading.open(), topics.deadLetters(TopicCatalogue.CONTROL))) {
            reader.handing(
                    TopicCatalogue.DOMAIN_EVENTS,
                    received -> received.value().ifPresent(event -> awaited.forEach(each -> each.take(event))));
            reader.handing(
                    TopicCatalogue.DECISIONS,
                    received -> received.value().ifPresent(decision -> awaited.forEach(each -> each.take(decision))));
            Map<String, Long> ends =
                    reading.ends(reader, List.of(TopicCatalogue.DOMAIN_EVENTS, TopicCatalogue.DECISIONS));
            reader.start(ends);
            write(commands);
            long until = System.nanoTime() + timeout.toNanos();
            while (awaited.stream().anyMatch(Awaited::isOpen) && System.nanoTime() < until) {
                reader.poll(POLL);
                refusals.poll(awaited);
            }
            long quiet = System.nanoTime() + AFTERMATH.toNanos();
            while (System.nanoTime() < quiet) {
                reader.poll(POLL);
            }
            return awaited.stream().map(this::answer).toList();
        }
    }

    private void write(List<ControlCommand> commands) {
        try (RecordWriter writer = RecordWriter.open(cluster.kafka(), topics, "/lendstream/command")) {
            commands.forEach(command ->
                    writer.write(TopicCatalogue.CONTROL, command.domain().value(), command));
            writer.flush();
        } catch (WriteFailedException e) {
            throw UserError.failed("%s. Log in as somebody who may write to %s%s"
                    .formatted(
                            e.getMessage(),
                            topics.target(TopicCatalogue.CONTROL),
                            topics.own().isPresent() ? "." : ", or name your group with --as."));
        }
    }

    private Answer answer(Awaited awaited) {
        if (awaited.event.isPresent()) {
            DomainEvent event = awaited.event.get();
            return new Taken(event, awaited.decisionsOn(event));
        }
        DomainId domain = awaited.command.domain();
        return new NotTaken(
                awaited.command,
                awaited.refusal
                        .map(why -> "the scheduler of domain %s refused the command: %s".formatted(domain, why))
                        .orElseGet(() -> silence(domain)));
    }

    private String silence(DomainId domain) {
        return "no scheduler of domain %s took the command within --timeout %s. If none runs, it waits in %s and is taken when one starts%s; 'lendstream doctor' says what is there."
                .formatted(
                        domain,
                        Units.text(timeout),
                        topics.target(TopicCatalogue.CONTROL),
                        topics.own()
                                .map(group ->
                                        " that has intake %s with this domain in its setting intakes".formatted(group))
                                .orElse(""));
    }

    /** The dead letters of commands, from now on. Who may not read them hears of no refusal, and waits. */
    private static final class Refusals implements AutoCloseable {
        private static final Duration PAUSE = Duration.ofMillis(10);

        private final RecordReader reader;

        Refusals(RecordReader reader, String topic) {
            this.reader = reader;
            Consumer<byte[], byte[]> client = reader.client();
            try {
                List<TopicPartition> partitions = client.partitionsFor(topic).stream()
                        .map(info -> new TopicPartition(topic, info.partition()))
                        .toList();
                client.assign(partitions);
                client.endOffsets(partitions).forEach(client::seek);
            } catch (TopicAuthorizationException | UnknownTopicOrPartitionException e) {
                client.assign(List.of());
            }
        }

        void poll(List<Awaited> awaited) {
            if (reader.client().assignment().isEmpty()) {
                return;
            }
            for (ConsumerRecord<byte[], byte[]> letter : reader.client().poll(PAUSE)) {
                Header why = letter.headers().lastHeader(DeadLetters.ERROR_MESSAGE);
                if (letter.value() != null && why != null && why.value() != null) {
                    // The ID stands in the record as it is, whatever else is wrong with it.
                    String text = new String(letter.value(), StandardCharsets.ISO_8859_1);
                    awaited.stream()
                            .filter(each -> text.contains(each.command.id()))
                            .forEach(each ->
                                    each.refusal = Optional.of(new String(why.value(), StandardCharsets.UTF_8)));
                }
            }
        }

        @Override
        public void close() {
            reader.close();
        }
    }

    /** Waits for a command in the log, and for what is decided on it, whichever comes first. */
    private static final class Awaited {
        private final ControlCommand command;
        private final List<Decision> decisions = new ArrayList<>();
        private Optional<DomainEvent> event = Optional.empty();
        private Optional<String> refusal = Optional.empty();

        Awaited(ControlCommand command) {
            this.command = command;
        }

        boolean isOpen() {
            return event.isEmpty() && refusal.isEmpty();
        }

        void take(DomainEvent logged) {
            logged.event()
                    .asCommand()
                    .filter(taken -> taken.id().equals(command.id()))
                    .ifPresent(taken -> event = Optional.of(logged));
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
