package io.lendstream.core.decision;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The order of a decision to an actuator. */
public sealed interface Action {
    /** The GPUs that change their owner, or stay with a new deadline. */
    List<GpuId> gpus();

    <T> T match(Cases<T> cases);

    /** Every action's name. */
    List<String> KINDS = Arrays.stream(Action.class.getPermittedSubclasses())
            .map(Action::kind)
            .toList();

    /** The name of the action in records, metrics and tables. */
    default String kind() {
        return kind(getClass());
    }

    private static String kind(Class<?> action) {
        return action.getSimpleName().toLowerCase(Locale.ROOT);
    }

    /** The change of a job's GPUs; empty if it changes no job. */
    default Optional<JobChange> jobChange() {
        return match(JobChange.OF_ACTION);
    }

    /** The loan, if it lends. */
    default Optional<Lend> asLend() {
        return match(ActionParts.LEND);
    }

    /** The reclaim, if it takes loans back. */
    default Optional<Reclaim> asReclaim() {
        return match(ActionParts.RECLAIM);
    }

    /** The replicas that it starts or wakes, if it serves. */
    default Optional<Serve> asServe() {
        return match(ActionParts.SERVE);
    }

    /** The replicas that it stops, if it stops any. */
    default Optional<Idle> asIdle() {
        return match(ActionParts.IDLE);
    }

    /** The new batching of a service, if it sets one. */
    default Optional<Batching> asBatching() {
        return match(ActionParts.BATCHING);
    }

    /** The new cut of GPUs, if it cuts any. */
    default Optional<Repartition> asRepartition() {
        return match(ActionParts.REPARTITION);
    }

    /** The renewal, if it lets loans run on. */
    default Optional<Renew> asRenew() {
        return match(ActionParts.RENEW);
    }

    /** What it takes over, if it takes something over that runs already. */
    default Optional<Adopt> asAdopt() {
        return match(ActionParts.ADOPT);
    }

    /** Whether it changes nothing. */
    default boolean isHold() {
        return match(ActionParts.HOLD).isPresent();
    }

    /** The name of its job or service; empty if it concerns the domain. */
    default String target() {
        return match(new Target());
    }

    /**
     * Binds free GPUs of inference to a job until the lease ends.
     *
     * @param gpus the GPUs newly lent
     * @param allocation all the job's GPUs afterwards; training GPUs that it gains too are bound by the same decision
     */
    record Lend(JobId job, List<GpuId> gpus, Instant until, Allocation allocation) implements Action {
        public Lend {
            gpus = GpuId.sorted(gpus);
        }

        @Override
        public <T> T match(Cases<T> cases) {
            return cases.lend(this);
        }
    }

    /**
     * Takes GPUs back from a job, giving it until {@code by} to shrink or stop.
     *
     * @param gpus the GPUs to be released
     * @param allocation the job's GPUs afterwards
     */
    record Reclaim(JobId job, List<GpuId> gpus, Instant by, Allocation allocation) implements Action {
        public Reclaim {
            gpus = GpuId.sorted(gpus);
        }

        @Override
        public <T> T match(Cases<T> cases) {
            return cases.reclaim(this);
        }
    }

    /**
     * Changes a job within training's own GPUs, or only its batch or its host.
     *
     * @param gpus training GPUs that it gains or gives up; empty when only the batch, or CPU and host memory, change
     */
    record Resize(JobId job, List<GpuId> gpus, Allocation allocation) implements Action {
        public Resize {
            gpus = GpuId.sorted(gpus);
        }

        @Override
        public <T> T match(Cases<T> cases) {
            return cases.resize(this);
        }
    }

    /**
     * Puts replicas of a service to work.
     *
     * @param warm whether the replicas are there already, protected or sleeping
     * @param replicas the replicas of several units; if empty, each GPU is a replica
     */
    record Serve(ServiceId service, List<GpuId> gpus, boolean warm, List<ReplicaUnits> replicas) implements Action {
        public Serve {
            gpus = GpuId.sorted(gpus);
            replicas = List.copyOf(replicas);
        }

        /** Replicas of one GPU each. */
        public Serve(ServiceId service, List<GpuId> gpus, boolean warm) {
            this(service, gpus, warm, List.of());
        }

        @Override
        public <T> T match(Cases<T> cases) {
            return cases.serve(this);
        }
    }

    /**
     * Drains and stops replicas of a service.
     *
     * @param replicas the replicas of several units, with the units that they still have; each other GPU is a replica
     */
    record Idle(ServiceId service, List<GpuId> gpus, Instant by, List<ReplicaUnits> replicas) implements Action {
        public Idle {
            gpus = GpuId.sorted(gpus);
            replicas = List.copyOf(replicas);
        }

        /** Replicas of one GPU each. */
        public Idle(ServiceId service, List<GpuId> gpus, Instant by) {
            this(service, gpus, by, List.of());
        }

        @Override
        public <T> T match(Cases<T> cases) {
            return cases.idle(this);
        }
    }

    /**
     * Sets a service's buckets, batch size and queue delay.
     *
     * @param gpus those of the replicas that serve
     * @param profile MIG profile of the smallest of them, for which the batches are right; empty for whole GPUs
     */
    record Batching(ServiceId service, List<GpuId> gpus, Optional<String> profile, List<Bucket> buckets)
            implements Action {
        public Batching {
            gpus = GpuId.sorted(gpus);
            buckets = List.copyOf(buckets);
        }

        @Override
        public <T> T match(Cases<T> cases) {
            return cases.batching(this);
        }
    }

    /**
     * Changes the MIG instances of GPUs. Instances that stay are not touched; the others must be free.
     *
     * @param gpus the GPUs, not their instances
     * @param profiles the MIG instances of each afterwards, biggest first, by profile and first memory slice:
     *     {@code 3g.40gb@4}; empty for a whole GPU
     */
    record Repartition(List<GpuId> gpus, List<String> profiles) implements Action {
        public Repartition {
            gpus = GpuId.sorted(gpus);
            profiles = List.copyOf(profiles);
        }

        @Override
        public <T> T match(Cases<T> cases) {
            return cases.repartition(this);
        }
    }

    /**
     * Lets loans run on until a later deadline.
     *
     * @param jobs the job of each GPU, in the order of their names, if some driver does not choose units; else empty
     */
    record Renew(List<GpuId> gpus, Instant until, List<JobId> jobs) implements Action {
        public Renew {
            gpus = GpuId.sorted(gpus);
            jobs = List.copyOf(jobs);
        }

        /** A renewal of units that their drivers choose. */
        public Renew(List<GpuId> gpus, Instant until) {
            this(gpus, until, List.of());
        }

        @Override
        public <T> T match(Cases<T> cases) {
            return cases.renew(this);
        }
    }

    /**
     * No change is made, although there was a cause for one.
     *
     * @param queue the queue whose quota refuses it
     * @param ability the ability that drivers lack for it, as records of topic {@code actuators} spell it
     */
    record Hold(Optional<JobId> job, Optional<ServiceId> service, Optional<QueueId> queue, Optional<String> ability)
            implements Action {
        /** A hold that is about no queue and no ability. */
        public Hold(Optional<JobId> job, Optional<ServiceId> service) {
            this(job, service, Optional.empty(), Optional.empty());
        }

        /** A hold that is about no ability. */
        public Hold(Optional<JobId> job, Optional<ServiceId> service, Optional<QueueId> queue) {
            this(job, service, queue, Optional.empty());
        }

        /** A hold because drivers lack an ability. */
        public static Hold without(String ability) {
            return new Hold(Optional.empty(), Optional.empty(), Optional.empty(), Optional.of(ability));
        }

        @Override
        public List<GpuId> gpus() {
            return List.of();
        }

        @Override
        public <T> T match(Cases<T> cases) {
            return cases.hold(this);
        }
    }

    /**
     * Takes over what something else has started, as it is: nothing is started, stopped or moved.
     *
     * @param tenant the job or service that it is from now on
     * @param found what is taken over, with its units
     * @param replicas the replicas of several units, if some are; each has the units of one {@code found}
     * @param until end of the lease of the inference GPUs, if a job has some
     * @param allocation all that a job has then; empty for a service
     */
    record Adopt(
            Tenant tenant,
            List<Adopted> found,
            List<ReplicaUnits> replicas,
            Optional<Instant> until,
            Optional<Allocation> allocation)
            implements Action {
        public Adopt {
            found = List.copyOf(found);
            replicas = List.copyOf(replicas);
        }

        @Override
        public List<GpuId> gpus() {
            return GpuId.sorted(
                    found.stream().flatMap(each -> each.units().stream()).toList());
        }

        @Override
        public <T> T match(Cases<T> cases) {
            return cases.adopt(this);
        }
    }

    /** A new kind of action breaks the build until every reader handles it. */
    interface Cases<T> {
        T lend(Lend lend);

        T reclaim(Reclaim reclaim);

        T resize(Resize resize);

        T serve(Serve serve);

        T idle(Idle idle);

        T batching(Batching batching);

        T repartition(Repartition repartition);

        T renew(Renew renew);

        T hold(Hold hold);

        T adopt(Adopt adopt);
    }
}
