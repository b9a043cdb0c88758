package io.lendstream.service.time;

import io.lendstream.core.event.Progress;
import io.lendstream.core.event.ServiceName;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The time of an accelerated run, as its {@code progress} topic tells. The environment names a time T and has published all
 * that happens until then; each service does what is due until T and answers with its own progress; then the environment
 * goes on.
 */
public final class VirtualClock {
    private final Map<String, Progress> latest = new TreeMap<>();
    private Optional<Instant> answered;

    /** A clock whose service has answered everything up to a time in an earlier life; empty for none. */
    public VirtualClock(Optional<Instant> answered) {
        this.answered = answered;
    }

    /** Learns how far somebody has got. What is older than what it knows is passed over. */
    public void take(Progress progress) {
        Progress before = latest.get(progress.service());
        if (before == null || !progress.eventTime().isBefore(before.eventTime())) {
            latest.put(progress.service(), progress);
        }
    }

    /** What somebody said last. */
    public Optional<Progress> of(ServiceName service) {
        return Optional.ofNullable(latest.get(service.toString()));
    }

    /** The time up to which this service has answered. */
    public Optional<Instant> answered() {
        return answered;
    }

    /** What the environment said, if this service has not answered it yet. */
    public Optional<Progress> due() {
        return of(ServiceName.ENVIRONMENT)
                .filter(environment ->
                        answered.isEmpty() || environment.eventTime().isAfter(answered.get()));
    }

    /** Whether another service has answered all that this one has: then what it said by then is what it will have said. */
    public boolean isLevelWith(ServiceName service) {
        return answered.isEmpty()
                || of(service)
                        .filter(other -> !other.eventTime().isBefore(answered.get()))
                        .isPresent();
    }

    /** This service has answered. */
    public void answer(Instant time) {
        answered = Optional.of(time);
    }
}
