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
import java.util.stream.Stream;

/**
 * The one owner state that a GPU, or a MIG instance, is in. Transfers are two-phase: a GPU is bound only from {@link
 * Free}, or to the tenant that others have started there, and it becomes free only when its release has been reported.
 */
public sealed interface Owner {
    <T> T match(Cases<T> cases);

    /** The state, with the properties of all owners in that state. */
    OwnerState state();

    /** The tenant that uses the GPU, is about to, or did until just now. */
    default Optional<Tenant> holder() {
        return match(OwnerParts.HOLDER);
    }

    /** The holder, if it is a job. */
    default Optional<JobId> holdingJob() {
        return holder().flatMap(Tenant::jobId);
    }

    /** The holder, if it is a service. */
    default Optional<ServiceId> holdingService() {
        return holder().flatMap(Tenant::serviceId);
    }

    /** Whether a job has it, takes it or leaves it. */
    default boolean isHeldByJob() {
        return holder().filter(Tenant::isJob).isPresent();
    }

    /** The service of the replica there, also while it starts; empty once the replica is leaving. */
    default Optional<ServiceId> replicaOf() {
        return isReleasing() ? Optional.empty() : holdingService();
    }

    /** The time at which the state ends by itself; empty if it lasts, and for loans, which are renewed. */
    default Optional<Instant> dueAt() {
        return match(OwnerParts.DUE_AT);
    }

    /** The loan, if it is lent. */
    default Optional<Lent> asLent() {
        return state() == OwnerState.LENT ? Optional.of((Lent) this) : Optional.empty();
    }

    /** The binding, if it is on its way to a tenant. */
    default Optional<Binding> asBinding() {
        return state() == OwnerState.BINDING ? Optional.of((Binding) this) : Optional.empty();
    }

    /** The release, if it is on its way back. */
    default Optional<Releasing> asReleasing() {
        return state() == OwnerState.RELEASING ? Optional.of((Releasing) this) : Optional.empty();
    }

    /** The recut, if its GPU is being cut. */
    default Optional<Recutting> asRecutting() {
        return state() == OwnerState.RECUTTING ? Optional.of((Recutting) this) : Optional.empty();
    }

    /** The quarantine, if it is out of service. */
    default Optional<Quarantined> asQuarantined() {
        return state() == OwnerState.QUARANTINED ? Optional.of((Quarantined) this) : Optional.empty();
    }

    /** Whether it may be bound. */
    default boolean isFree() {
        return state() == OwnerState.FREE;
    }

    default boolean isBinding() {
        return state() == OwnerState.BINDING;
    }

    default boolean isLent() {
        return state() == OwnerState.LENT;
    }

    default boolean isServing() {
        return state() == OwnerState.SERVING;
    }

    default boolean isProtected() {
        return state() == OwnerState.PROTECTED;
    }

    default boolean isSleeping() {
        return state() == OwnerState.SLEEPING;
    }

    default boolean isReleasing() {
        return state() == OwnerState.RELEASING;
    }

    default boolean isRecutting() {
        return state() == OwnerState.RECUTTING;
    }

    default boolean isQuarantined() {
        return state() == OwnerState.QUARANTINED;
    }

    /** Whether a tenant runs there, as far as reports say. */
    default boolean isUp() {
        return state().isUp();
    }

    /** The use of the unit by others, if that is why it is out of service. */
    default Optional<ForeignUse> asForeign() {
        return asQuarantined().flatMap(Quarantined::foreign);
    }

    /** The evidence that nothing runs there, if it is out of service and that ends it. */
    default Optional<Vacancy> asVacating() {
        return asQuarantined().flatMap(Quarantined::vacancy);
    }

    /** Whether others use the unit, or it is not known yet whether they do. */
    default boolean isForeign() {
        return asForeign().isPresent();
    }

    /** Whether a tenant that runs there already is taken over. */
    default boolean isAdoption() {
        return state() == OwnerState.BINDING && ((Binding) this).attempt() == Binding.ADOPTION;
    }

    /** Whether it is on its way to a tenant, or back from one. */
    default boolean isInTransfer() {
        return state().isInTransfer();
    }

    /** Whether a replica is warm that demand does not need now. */
    default boolean isIdleReplica() {
        return state().isIdleReplica();
    }

    /** Whether a replica serves, or is coming up to. */
    default boolean isActiveReplica() {
        return isServing() || (isBinding() && holdingService().isPresent());
    }

    /** No owner: the only state from which a GPU may be bound. */
    record Free() implements Owner {
        @Override
        public <T> T match(Cases<T> cases) {
            return cases.free(this);
        }

        @Override
        public OwnerState state() {
            return OwnerState.FREE;
        }
    }

    /**
     * On its way to a tenant.
     *
     * @param decision the decision that bound it
     * @param deadline until when the actuator has to report it bound
     * @param until end of the lease, where the GPU is lent
     * @param attempt how many times this GPU has been bound in a row without a report, from 1; {@link #ADOPTION} if
     *     what runs there already is taken over
     */
    record Binding(Tenant tenant, DecisionId decision, Instant deadline, Optional<Instant> until, int attempt)
            implements Owner {
        /** The attempt of a unit on which nothing is started. */
        public static final int ADOPTION = 0;

        @Override
        public <T> T match(Cases<T> cases) {
            return cases.binding(this);
        }

        @Override
        public OwnerState state() {
            return OwnerState.BINDING;
        }
    }

    /** An inference GPU, lent to a training job until the lease ends or is renewed. */
    record Lent(JobId job, DecisionId decision, Instant until) implements Owner {
        @Override
        public <T> T match(Cases<T> cases) {
            return cases.lent(this);
        }

        @Override
        public OwnerState state() {
            return OwnerState.LENT;
        }
    }

    /** A training GPU that a job holds. */
    record Training(JobId job) implements Owner {
        @Override
        public <T> T match(Cases<T> cases) {
            return cases.training(this);
        }

        @Override
        public OwnerState state() {
            return OwnerState.TRAINING;
        }
    }

    /** A replica that demand needs. */
    record Serving(ServiceId service) implements Owner {
        @Override
        public <T> T match(Cases<T> cases) {
            return cases.serving(this);
        }

        @Override
        public OwnerState state() {
            return OwnerState.SERVING;
        }
    }

    /**
     * A warm replica that demand does not need now and that is protected until {@code until}.
     *
     * @param warmHits how many times in a row it was needed again while protected
     */
    record Protected(ServiceId service, Instant until, int warmHits) implements Owner {
        @Override
        public <T> T match(Cases<T> cases) {
            return cases.protectedReplica(this);
        }

        @Override
        public OwnerState state() {
            return OwnerState.PROTECTED;
        }
    }

    /** A warm replica that may be stopped if another tenant needs its GPU. */
    record Sleeping(ServiceId service) implements Owner {
        @Override
        public <T> T match(Cases<T> cases) {
            return cases.sleeping(this);
        }

        @Override
        public OwnerState state() {
            return OwnerState.SLEEPING;
        }
    }

    /**
     * On its way from a tenant to the free GPUs.
     *
     * @param by when the actuator has to have released it, by force if need be
     * @param alarmAt when a release without a report quarantines it
     */
    record Releasing(Tenant tenant, DecisionId decision, Instant by, Instant alarmAt) implements Owner {
        @Override
        public <T> T match(Cases<T> cases) {
            return cases.releasing(this);
        }

        @Override
        public OwnerState state() {
            return OwnerState.RELEASING;
        }
    }

    /**
     * A MIG instance that its GPU is being cut into, or that is being removed. It ends when the node's inventory shows
     * the change.
     *
     * @param decision the decision that cuts the GPU
     * @param deadline until when that has to be done
     * @param coming whether the instance exists afterwards
     */
    record Recutting(DecisionId decision, Instant deadline, boolean coming) implements Owner {
        @Override
        public <T> T match(Cases<T> cases) {
            return cases.recutting(this);
        }

        @Override
        public OwnerState state() {
            return OwnerState.RECUTTING;
        }
    }

    /**
     * Out of service until a reset, or while others use it.
     *
     * @param foreign the use by others, if that is the cause
     * @param vacancy the evidence that nothing runs there, if that ends it; without both it lasts until a reset
     */
    record Quarantined(String reason, Optional<ForeignUse> foreign, Optional<Vacancy> vacancy) implements Owner {
        /** Out of service until a reset. */
        public Quarantined(String reason) {
            this(reason, Optional.empty(), Optional.empty());
        }

        /** Used by others. */
        public Quarantined(ForeignUse use) {
            this(use.inWords(), Optional.of(use), Optional.empty());
        }

        /** Out of service until a reset, or until it is known that nothing runs there. */
        public Quarantined(String reason, Vacancy vacancy) {
            this(reason, Optional.empty(), Optional.of(vacancy));
        }

        /** Why a unit that others use now may have its last tenant still; empty if nothing says so. */
        public Optional<String> suspicion() {
            return foreign.filter(use -> use.freeAt().isEmpty() && reason.startsWith(use.inWords() + ";"))
                    .map(any -> reason);
        }

        @Override
        public String label() {
            return foreign.isPresent() ? FOREIGN : Owner.label(Quarantined.class);
        }

        @Override
        public <T> T match(Cases<T> cases) {
            return cases.quarantined(this);
        }

        @Override
        public OwnerState state() {
            return OwnerState.QUARANTINED;
        }
    }

    /**
     * The replacement for an owner state of a newer version: owned, and never free. Newer versions rely on it. An
     * instance of this version that takes over from a newer one binds nothing there, and a reset frees the unit.
     */
    static Owner unknown() {
        return new Quarantined(
                "a newer version left it in a state that this version does not know; see what runs there, then reset it");
    }

    /** The name of units that others use. */
    String FOREIGN = "foreign";

    /** Every state's name. */
    List<String> LABELS = Stream.concat(
                    Arrays.stream(Owner.class.getPermittedSubclasses()).map(Owner::label), Stream.of(FOREIGN))
            .toList();

    /** The state's name as metrics, tables and records spell it. */
    default String label() {
        return label(getClass());
    }

    private static String label(Class<?> state) {
        return state.getSimpleName().toLowerCase(Locale.ROOT);
    }

    /** A new state breaks the build until every reader handles it. */
    interface Cases<T> {
        T free(Free free);

        T binding(Binding binding);

        T lent(Lent lent);

        T training(Training training);

        T serving(Serving serving);

        T protectedReplica(Protected replica);

        T sleeping(Sleeping sleeping);

        T releasing(Releasing releasing);

        T recutting(Recutting recutting);

        T quarantined(Quarantined quarantined);
    }
}
