package io.lendstream.load;

import io.lendstream.core.event.Progress;
import io.lendstream.core.event.ServiceName;
import io.lendstream.core.id.DomainId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Moves virtual time on, a quantum at a time, keeping cause and effect: everything of a quantum is written before its end is
 * announced, and the next begins when everybody has answered and every answer has been read.
 *
 * <p>A quantum is at most {@code quantum} long, or reaches to the next event of anybody if that is later and nothing was
 * decided in the one before.
 */
final class Environment {
    private final Play play;
    private final Wire wire;
    private final DomainId domain;
    private final List<String> others;
    private final Duration quantum;
    private final Duration stallTimeout;
    private final Pace pace;
    private final Map<String, Progress> answers = new HashMap<>();
    private Instant now;
    private long quanta;
    private long decidedBefore;

    /**
     * How time passes.
     *
     * @param start the virtual time at which the play begins
     * @param quantum longest step while something happens
     * @param stallTimeout wall-clock time without any answer after which the run is given up
     */
    record Timing(Instant start, Duration quantum, Duration stallTimeout, Pace pace) {}

    /**
     * @param others services whose answers are waited for, by name
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

    /** Quanta played so far. */
    long quanta() {
        return quanta;
    }

    /** Plays until all is over, or until told to stop. */
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

    /** The time to name next; not far ahead after decisions, for nobody knows yet what they will lead to. */
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
        while (!late().isEmpty() && !stop.getAsBoolean()) {
            List<Object> records = wire.poll(Duration.ofMillis(100));
            if (!records.isEmpty()) {
                records.forEach(this::take);
            } else if (System.nanoTime() > deadline) {
                throw new StalledException(
                        "%s did not answer %s within %d s (load.stall-timeout). Look at its log and at what it waits for; or raise the timeout."
                                .formatted(String.join(", ", late()), now, stallTimeout.toSeconds()));
            }
        }
    }

    private void take(Object record) {
        if (record instanceof Progress progress) {
            if (others.contains(progress.service())) {
                answers.put(progress.service(), progress);
            }
        } else {
            play.take(record);
        }
    }

    /** Who has not answered the present time yet, or whose answer has not been read whole. */
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

    /** Holds time back where a run must not be faster than asked for. */
    interface Pace {
        Pace UNBOUNDED = now -> {};

        void await(Instant now);
    }
}
