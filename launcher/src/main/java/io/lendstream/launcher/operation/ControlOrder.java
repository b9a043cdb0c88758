package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.id.DomainId;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.kafka.WriteFailedException;
import io.lendstream.service.settings.Units;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
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

/** Sends commands to schedulers and waits until each is in the log of its domain, or is refused. */
final class ControlOrder {
    /** Decisions on an event are published with it or right after. */
    private static final Duration AFTERMATH = Duration.ofSeconds(1);

    private static final Duration POLL = Duration.ofMillis(100);

    private final Cluster cluster;
    private final TopicScan reading;
    private final Duration timeout;
    private final TopicCatalogue topics;

    /** @param group the group whose topic carries the commands; empty for the common topic */
    ControlOrder(Cluster cluster, TopicScan reading, Duration timeout, Optional<String> group) {
        this.cluster = cluster;
        this.reading = reading;
        this.timeout = timeout;
        this.topics = cluster.topics().writingFor(group);
    }

    /** The result of a command. */
    sealed interface Answer {}

    /**
     * The scheduler took the command.
     *
     * @param event the event of the command in the log
     * @param decisions the decisions on it
     */
    record Taken(DomainEvent event, List<Decision> decisions) implements Answer {}

    /**
     * The scheduler refused the command, or no scheduler answered.
     *
     * @param why the reason with the way out
     */
    record NotTaken(ControlCommand command, String why) implements Answer {}

    /**
     * Writes commands, each for another domain, and waits for them in the log. A domain that does not answer does not
     * block the others.
     *
     * @return an answer for each command, in order
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
            throw UserError.failed("%s. Use a principal that may write to %s%s"
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
        return "no scheduler of domain %s took the command within --timeout %s. The command stays in %s; a scheduler%s takes it when it starts. Check with 'lendstream doctor'."
                .formatted(
                        domain,
                        Units.text(timeout),
                        topics.target(TopicCatalogue.CONTROL),
                        topics.own()
                                .map(group -> " with intake %s and this domain in its setting intakes".formatted(group))
                                .orElse(""));
    }

    /** New dead letters of commands. Without the right to read them a refusal is not seen. */
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
                    // A refused record still contains its ID as text.
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

    /** Waits for a command in the log and for the decisions on it, in any order. */
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
