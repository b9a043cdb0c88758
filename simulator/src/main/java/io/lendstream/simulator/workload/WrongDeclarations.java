package io.lendstream.simulator.workload;

import io.lendstream.core.event.Event;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.StartTimes;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.GoodputProfile;
import java.time.Duration;
import java.util.Optional;

/**
 * How owners declare their services and jobs wrongly. What really happens stays the same: replicas start, and jobs
 * train, as the workload says.
 *
 * @param startUpFactor the declared start-up times over the real ones; above 0
 * @param withProfiles whether jobs declare their profiles
 */
public record WrongDeclarations(double startUpFactor, boolean withProfiles) {
    /** Everything is declared as it is. */
    public static final WrongDeclarations NONE = new WrongDeclarations(1, true);

    public WrongDeclarations {
        if (!(startUpFactor > 0) || Double.isInfinite(startUpFactor)) {
            throw new IllegalArgumentException(
                    "startUpFactor must be a finite number above 0, but was " + startUpFactor);
        }
    }

    /** An event as the scheduler gets it. */
    public Event declared(Event real) {
        Optional<Event> service =
                real.asService().filter(any -> startUpFactor != 1).map(this::declared);
        Optional<Event> job = real.asJob().filter(any -> !withProfiles).map(WrongDeclarations::withoutProfile);
        return service.or(() -> job).orElse(real);
    }

    private InferenceService declared(InferenceService real) {
        return real.warmingUpIn(scaled(real.warmUp()))
                .onKinds(real.capacities().stream().map(this::declared).toList())
                .inShapes(real.hardware().shapes().stream().map(this::declared).toList());
    }

    private KindCapacity declared(KindCapacity real) {
        return real.warmUp().map(time -> real.warmingUpIn(scaled(time))).orElse(real);
    }

    /** Wake-ups from sleep stay as they are: no report measures them. */
    private ReplicaShape declared(ReplicaShape real) {
        StartTimes starts = real.starts();
        return real.onKinds(real.capacities().stream().map(this::declared).toList())
                .starting(new StartTimes(scaled(starts.cold()), starts.cached().map(this::scaled), starts.asleep()));
    }

    private Duration scaled(Duration real) {
        return Duration.ofMillis(Math.round(real.toMillis() * startUpFactor));
    }

    private static TrainingJob withoutProfile(TrainingJob real) {
        return real.with(new TrainingJob.Traits(
                real.traits().batch(), GoodputProfile.UNKNOWN, real.traits().costs()));
    }
}
