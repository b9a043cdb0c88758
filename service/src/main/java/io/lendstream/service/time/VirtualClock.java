package io.lendstream.service.time;

import io.lendstream.core.event.Progress;
import io.lendstream.core.event.ServiceName;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The clock of an accelerated run, driven by its {@code progress} topic. The virtual-time driver publishes all events
 * up to a time T, then T itself. Each service does the work due up to T and answers with its own progress. Then the
 * driver continues.
 */
public final class VirtualClock {
    private final Map<String, Progress> latest = new TreeMap<>();
    private Optional<Instant> answered;

    /** Creates a clock; the argument is the time answered before a restart, or empty. */
    public VirtualClock(Optional<Instant> answered) {
        this.answered = answered;
    }

    /** Applies a participant's progress; older progress than known is ignored. */
    public void take(Progress progress) {
        Progress before = latest.get(progress.service());
        if (before == null || !progress.eventTime().isBefore(before.eventTime())) {
            latest.put(progress.service(), progress);
        }
    }

    /** The latest progress of a participant. */
    public Optional<Progress> of(ServiceName service) {
        return Optional.ofNullable(latest.get(service.toString()));
    }

    /** The time up to which this service has answered. */
    public Optional<Instant> answered() {
        return answered;
    }

    /** The virtual-time driver's time, if this service has not answered it yet. */
    public Optional<Progress> due() {
        return of(ServiceName.ENVIRONMENT)
                .filter(environment ->
                        answered.isEmpty() || environment.eventTime().isAfter(answered.get()));
    }

    /** Whether another service has answered up to this service's time, so its output until then is complete. */
    public boolean isLevelWith(ServiceName service) {
        return answered.isEmpty()
                || of(service)
                        .filter(other -> !other.eventTime().isBefore(answered.get()))
                        .isPresent();
    }

    /** Records that this service has answered. */
    public void answer(Instant time) {
        answered = Optional.of(time);
    }
}
