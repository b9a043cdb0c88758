package io.lendstream.core.state;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The one owner state that a GPU, or a MIG instance, is in. Transfers are two-phase: a GPU is bound only from {@link
 * Free}, and it becomes free only when its release has been reported.
 */
public sealed interface Owner {
    /** Nobody's: the only state from which a GPU may be bound. */
    record Free() implements Owner {}

    /**
     * On its way to a tenant.
     *
     * @param decision what bound it
     * @param deadline until when the actuator has to report it bound
     * @param until end of the lease, where the GPU is lent
     * @param attempt how many times this GPU has been bound in a row without a report; from 1
     */
    record Binding(Tenant tenant, DecisionId decision, Instant deadline, Optional<Instant> until, int attempt)
            implements Owner {}

    /** An inference GPU, lent to a training job until the lease ends or is renewed. */
    record Lent(JobId job, DecisionId decision, Instant until) implements Owner {}

    /** A training GPU that a job holds. */
    record Training(JobId job) implements Owner {}

    /** A replica that demand needs. */
    record Serving(ServiceId service) implements Owner {}

    /**
     * A warm replica that demand does not need now and that nobody may take before {@code until}.
     *
     * @param warmHits how many times in a row it was needed again while protected
     */
    record Protected(ServiceId service, Instant until, int warmHits) implements Owner {}

    /** A warm replica that may be stopped when somebody else needs its GPU. */
    record Sleeping(ServiceId service) implements Owner {}

    /**
     * On its way back to nobody.
     *
     * @param by when the actuator has to have released it, by force if need be
     * @param alarmAt when a release that nobody reported quarantines it
     */
    record Releasing(Tenant tenant, DecisionId decision, Instant by, Instant alarmAt) implements Owner {}

    /**
     * A MIG instance that its GPU is being cut into, or that is being removed. It ends when the node's inventory says that this
     * is done.
     *
     * @param decision what cuts the GPU
     * @param deadline until when that has to be done
     * @param coming whether the instance is to be there afterwards
     */
    record Recutting(DecisionId decision, Instant deadline, boolean coming) implements Owner {}

    /** Out of service until a reset. */
    record Quarantined(String reason) implements Owner {}

    /**
     * What an owner state of a newer version is taken for: owned, and never free. Newer versions rely on it. An instance of this
     * version that takes over from a newer one binds nothing there, and a reset frees the unit.
     */
    static Owner unknown() {
        return new Quarantined(
                "a newer version left it in a state that this version does not know; see what runs there, then reset it");
    }

    /** Who uses the GPU or is about to, or did until just now. */
    default Optional<Tenant> holder() {
        if (this instanceof Binding binding) {
            return Optional.of(binding.tenant);
        }
        if (this instanceof Lent lent) {
            return Optional.of(new Tenant.Job(lent.job));
        }
        if (this instanceof Training training) {
            return Optional.of(new Tenant.Job(training.job));
        }
        if (this instanceof Serving serving) {
            return Optional.of(new Tenant.Service(serving.service));
        }
        if (this instanceof Protected warm) {
            return Optional.of(new Tenant.Service(warm.service));
        }
        if (this instanceof Sleeping sleeping) {
            return Optional.of(new Tenant.Service(sleeping.service));
        }
        if (this instanceof Releasing releasing) {
            return Optional.of(releasing.tenant);
        }
        return Optional.empty();
    }

    /** Every state's name. */
    List<String> LABELS = Arrays.stream(Owner.class.getPermittedSubclasses())
            .map(Owner::label)
            .toList();

    /** The state's name as metrics, tables and records spell it. */
    default String label() {
        return label(getClass());
    }

    private static String label(Class<?> state) {
        return state.getSimpleName().toLowerCase(Locale.ROOT);
    }
}
