package io.lendstream.core.scheduler;

import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.id.KindId;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.util.Optional;

/** The time that a replica gets to start before it is given up. */
record BindTime(SchedulerSettings settings) {
    private static final Duration SHORTEST = Duration.ofSeconds(10);
    /** How many times too short a declared time may be, until enough starts are measured. */
    private static final int DOUBT = 3;

    /** What a replica that is given up did not keep, for reasons. */
    String inWords() {
        return settings.learn() ? "in time" : "within twice its warm-up";
    }

    /** Twice the time that a replica takes to start, and at least ten seconds. */
    static Duration of(Duration start) {
        Duration twice = start.multipliedBy(2);
        return twice.compareTo(SHORTEST) < 0 ? SHORTEST : twice;
    }

    /**
     * The time of a start from nothing on a kind of GPU. Where start-up times are learned, the declared one may be
     * three times too short until enough starts are measured.
     *
     * @param shape the name of the shape; empty for a replica of one GPU
     */
    Duration of(ServiceState service, Optional<String> shape, Optional<KindId> kind) {
        Duration declared = start(service.spec(), shape, kind);
        if (!settings.learn()) {
            return of(declared);
        }
        Duration known = start(settings.timed(service), shape, kind);
        Duration doubted = declared.multipliedBy(DOUBT);
        boolean isSure = service.startUp(shape, kind, false).isEnough() || doubted.compareTo(known) < 0;
        return of(isSure ? known : doubted);
    }

    private static Duration start(InferenceService spec, Optional<String> shape, Optional<KindId> kind) {
        Optional<ReplicaShape> known = shape.flatMap(spec.hardware()::named);
        return known.isPresent() ? known.get().coldOn(kind) : spec.warmUpOn(kind);
    }
}
