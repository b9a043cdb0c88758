package io.lendstream.load;

import io.lendstream.core.event.Progress;
import io.lendstream.core.event.ServiceName;
import io.lendstream.core.id.DomainId;
import io.lendstream.service.text.Times;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Advances virtual time by one quantum after another, in causal order. All records of a quantum are written before
 * its end is announced. The next quantum begins after every service has answered and every answer has been read.
 *
 * <p>A quantum is at most {@code quantum} long. It reaches to the next event if that is later and the quantum before
 * had no decision.
 */
final class Environment {
    private static final Logger LOG = LoggerFactory.getLogger(Environment.class);
    private static final Duration LOG_EVERY = Duration.ofSeconds(10);

    private final Play play;
    private final Wire wire;
    private final DomainId domain;
    private final List<String> others;
    private final Duration quantum;
    private final Duration stallTimeout;
    private final Pace pace;
    private final Map<String, Progress> answers = new HashMap<>();
    private final Map<String, Long> answeredAt = new HashMap<>();
    private Instant now;
    private long quanta;
    private long decidedBefore;

    /**
     * The timing of a run.
     *
     * @param start the virtual time of the beginning
     * @param quantum the longest step while events happen
     * @param stallTimeout wall-clock time without an answer after which the run stops
     */
    record Timing(Instant start, Duration quantum, Duration stallTimeout, Pace pace) {}

    /**
     * @param others the services that must answer, by name
     */
    Environment(Play play, Wire wire, DomainId domain, List<String> others, Timing timing) {
        this.play = play;
        this.wire = wire;
        this.domain = domain;
        this.now = timing.start;
        this.others = List.copyOf(others);
        this.quantum = timing.quantum;
        this.stallTimeout = timing.stallTimeout;
        this.pace = timing.pace;
    }

    Instant now() {
        return now;
    }

    /** The number of quanta so far. */
    long quanta() {
        return quanta;
    }

    /** Plays until the end of the workload, or until {@code stop} is true. */
    void run(BooleanSupplier stop) {
        announce();
        while (!stop.getAsBoolean()) {
            awaitAnswers(stop);
            if (play.finished() || stop.getAsBoolean()) {
                return;
            }
            now = next();
            pace.await(now);
            announce();
        }
    }

    private void announce() {
        wire.publish(play.advance(now));
        Map<String, Long> positions = wire.flush();
        wire.say(Progress.of(ServiceName.ENVIRONMENT, domain, now, positions, play.nextEventAt()));
        quanta++;
    }

    /** The next time to announce; only a quantum ahead after decisions, whose effects are not known yet. */
    private Instant next() {
        Instant earliest = now.plus(quantum);
        if (decided() > decidedBefore) {
            decidedBefore = decided();
            return earliest;
        }
        Optional<Instant> event = play.nextEventAt();
        for (Progress answer : answers.values()) {
            event = earlier(event, answer.nextEventAt());
        }
        return event.filter(at -> at.isAfter(earliest)).orElse(earliest);
    }

    private long decided() {
        return answers.values().stream()
                .mapToLong(answer -> answer.positions().getOrDefault(Progress.DECISIONS, 0L))
                .max()
                .orElse(0);
    }

    private static Optional<Instant> earlier(Optional<Instant> one, Optional<Instant> other) {
        if (one.isEmpty() || other.isEmpty()) {
            return one.or(() -> other);
        }
        return one.get().isBefore(other.get()) ? one : other;
    }

    private void awaitAnswers(BooleanSupplier stop) {
        long deadline = System.nanoTime() + stallTimeout.toNanos();
        long logAt = System.nanoTime() + LOG_EVERY.toNanos();
        while (!late().isEmpty() && !stop.getAsBoolean()) {
            List<Object> records = wire.poll(Duration.ofMillis(100));
            if (!records.isEmpty()) {
                records.forEach(this::take);
            } else if (System.nanoTime() > deadline) {
                throw new StalledException(
                        "Run stopped at virtual time %s: no answer within %d s (load.stall-timeout) from %s. Check that each of them runs with time=virtual on this broker, and read its log; or raise load.stall-timeout."
                                .formatted(Times.at(now), stallTimeout.toSeconds(), awaited()));
            }
            if (System.nanoTime() > logAt && !late().isEmpty()) {
                logAt = System.nanoTime() + LOG_EVERY.toNanos();
                LOG.warn("waiting at virtual time {} for {}", Times.at(now), awaited());
            }
        }
    }

    private void take(Object record) {
        if (record instanceof Progress progress) {
            if (others.contains(progress.service())) {
                answers.put(progress.service(), progress);
                answeredAt.put(progress.service(), System.nanoTime());
            }
        } else {
            play.take(record);
        }
    }

    /** The late services with the age of their last answers. */
    private String awaited() {
        long at = System.nanoTime();
        return late().stream()
                .map(service -> {
                    Long last = answeredAt.get(service);
                    return last == null
                            ? service + " (no answer yet)"
                            : "%s (last answer %d s ago)"
                                    .formatted(
                                            service, Duration.ofNanos(at - last).toSeconds());
                })
                .collect(Collectors.joining(", "));
    }

    /** The services that have not answered the present time yet, or whose answer has not been read completely. */
    private List<String> late() {
        List<String> late = new ArrayList<>();
        for (String other : others) {
            Progress answer = answers.get(other);
            if (answer == null || answer.eventTime().isBefore(now) || !wire.hasRead(answer.positions())) {
                late.add(other);
            }
        }
        return late;
    }

    /** Limits the speed of a run. */
    interface Pace {
        Pace UNBOUNDED = now -> {};

        void await(Instant now);
    }
}
