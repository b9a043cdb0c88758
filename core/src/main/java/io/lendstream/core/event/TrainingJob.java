package io.lendstream.core.event;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.id.Checks;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.persistent.Flat;
import java.time.Instant;
import java.util.Optional;

/**
 * A training job as submitted.
 *
 * @param application what it trains, for people and for profiles that jobs share
 * @param precedence what its owner says about its order among jobs
 * @param runner what runs it, or runs it already
 * @param sliceMemoryBytes memory that one replica needs, at any batch that fits it on a whole GPU; where it says so,
 *     the job may be lent a MIG instance with as much while it would wait otherwise
 * @param kindNeeds the kinds of GPU that it may use, and its speed on them
 * @param shape the numbers of GPUs that it may have, and how near to each other they are
 * @param hostNeed the CPU and host memory that it needs for each GPU
 */
public record TrainingJob(
        JobId job,
        DomainId domain,
        Instant submittedAt,
        String application,
        @Flat Scaling scaling,
        @Flat Precedence precedence,
        @Flat Traits traits,
        @Flat Runner runner,
        Optional<Long> sliceMemoryBytes,
        @Flat KindNeeds kindNeeds,
        @Flat JobShape shape,
        @Flat HostNeed hostNeed)
        implements Event {
    /** A job that may use any kind of GPU, and any number in its range, with the usual share of its nodes. */
    public TrainingJob(
            JobId job,
            DomainId domain,
            Instant submittedAt,
            String application,
            Scaling scaling,
            Precedence precedence,
            Traits traits,
            String driver,
            Optional<Long> sliceMemoryBytes) {
        this(
                job,
                domain,
                submittedAt,
                application,
                scaling,
                precedence,
                traits,
                new Runner(driver, Optional.empty(), Optional.empty()),
                sliceMemoryBytes,
                KindNeeds.ANY,
                JobShape.ANY,
                HostNeed.USUAL);
    }

    public TrainingJob {
        sliceMemoryBytes.ifPresent(bytes -> Checks.atLeast("sliceMemoryBytes", 1, bytes));
    }

    /**
     * What runs it.
     *
     * @param driver the actuator's driver that runs it
     * @param adopt what it is if it runs already; empty if Lendstream is to start it
     * @param program its own program, with driver {@link SubmittedProgram#DRIVER}; empty if the machine has it
     */
    public record Runner(String driver, Optional<AdoptionSelector> adopt, Optional<SubmittedProgram> program) {}

    /** The actuator's driver that runs it. */
    public String driver() {
        return runner.driver();
    }

    /** What it is if it runs already; empty if Lendstream is to start it. */
    public Optional<AdoptionSelector> adopt() {
        return runner.adopt();
    }

    /** Its own program; empty if the machine has it. */
    public Optional<SubmittedProgram> program() {
        return runner.program();
    }

    /**
     * The number of GPUs that its owner asks for, and the range that a policy may use.
     *
     * @param requestedGpus what its owner asked for; policies that do not scale jobs give exactly this
     * @param minGpus least it can run on; at least 1
     * @param maxGpus most it can use
     * @param elastic whether its number of GPUs may change while it runs
     */
    public record Scaling(int requestedGpus, int minGpus, int maxGpus, boolean elastic) {
        public Scaling {
            Checks.atLeast("minGpus", 1, minGpus);
            Checks.atLeast("maxGpus", minGpus, maxGpus);
            Checks.atLeast("requestedGpus", 1, requestedGpus);
        }

        /** Fewest GPUs that it starts with. */
        public int least() {
            return elastic ? minGpus : requestedGpus;
        }
    }

    /**
     * Its training traits, declared by its owner.
     *
     * @param batch the batch sizes it may train with
     * @param profile what its owner knows of its speed and its gradient noise; steps that it reports correct the speed
     * @param costs what changing its GPUs costs until it has been measured
     */
    public record Traits(BatchRange batch, GoodputProfile profile, RescaleCosts costs) {
        /**
         * Of a job whose number of GPUs never changes, and of which nothing else is known: a step of a second, with one
         * sample on each GPU.
         */
        public static Traits ofFixedSize(int gpus) {
            return new Traits(
                    new BatchRange(gpus, gpus, 1, 1, Optional.of(gpus)),
                    GoodputProfile.UNKNOWN,
                    RescaleCosts.UNMEASURED);
        }
    }

    /**
     * What its owner says about its order among jobs.
     *
     * @param priority greater goes first where queues are declared; 0 is usual
     * @param deadline when its owner needs it done, if there is such a time
     * @param deadlineKind the meaning of the deadline; a kind of a later version counts as soft
     * @param queue the queue whose quota its GPUs count in; without one it has no quota
     * @param priorityClass a class of its queue, whose priority it has instead of its own
     */
    public record Precedence(
            int priority,
            Optional<Instant> deadline,
            DeadlineKind deadlineKind,
            Optional<QueueId> queue,
            Optional<String> priorityClass) {
        /** Priority 0, no deadline and no queue. */
        public static final Precedence USUAL = new Precedence(0, Optional.empty());

        /** Precedence with a soft deadline and without a queue. */
        public Precedence(int priority, Optional<Instant> deadline) {
            this(priority, deadline, DeadlineKind.SOFT, Optional.empty(), Optional.empty());
        }

        /** Precedence in a queue without a deadline; a class of the queue replaces the priority. */
        public Precedence(int priority, QueueId queue, Optional<String> priorityClass) {
            this(priority, Optional.empty(), DeadlineKind.SOFT, Optional.of(queue), priorityClass);
        }

        public Precedence {
            deadlineKind = deadlineKind == DeadlineKind.UNKNOWN ? DeadlineKind.SOFT : deadlineKind;
        }
    }

    /** The same job, which runs already. */
    public TrainingJob adopting(AdoptionSelector selector) {
        return ranBy(new Runner(driver(), Optional.of(selector), program()));
    }

    /** The same job without its program, which only actuators need. */
    public TrainingJob withoutProgram() {
        return program().isEmpty() ? this : ranBy(new Runner(driver(), adopt(), Optional.empty()));
    }

    /** The same job, which something else runs. */
    public TrainingJob ranBy(Runner other) {
        return new TrainingJob(
                job,
                domain,
                submittedAt,
                application,
                scaling,
                precedence,
                traits,
                other,
                sliceMemoryBytes,
                kindNeeds,
                shape,
                hostNeed);
    }

    /** The same job under another name. */
    public TrainingJob named(JobId other) {
        return new TrainingJob(
                other,
                domain,
                submittedAt,
                application,
                scaling,
                precedence,
                traits,
                runner,
                sliceMemoryBytes,
                kindNeeds,
                shape,
                hostNeed);
    }

    /** The same job, which also runs on a MIG instance of so much memory. */
    public TrainingJob onSlicesOf(long memoryBytes) {
        return new TrainingJob(
                job,
                domain,
                submittedAt,
                application,
                scaling,
                precedence,
                traits,
                runner,
                Optional.of(memoryBytes),
                kindNeeds,
                shape,
                hostNeed);
    }

    /** The same job with other needs of kinds. */
    public TrainingJob onKinds(KindNeeds needs) {
        return new TrainingJob(
                job,
                domain,
                submittedAt,
                application,
                scaling,
                precedence,
                traits,
                runner,
                sliceMemoryBytes,
                needs,
                shape,
                hostNeed);
    }

    /** The same job in another shape. */
    public TrainingJob shaped(JobShape other) {
        return new TrainingJob(
                job,
                domain,
                submittedAt,
                application,
                scaling,
                precedence,
                traits,
                runner,
                sliceMemoryBytes,
                kindNeeds,
                other,
                hostNeed);
    }

    /** The same job with another need of CPU and host memory. */
    public TrainingJob needing(HostNeed need) {
        return new TrainingJob(
                job,
                domain,
                submittedAt,
                application,
                scaling,
                precedence,
                traits,
                runner,
                sliceMemoryBytes,
                kindNeeds,
                shape,
                need);
    }

    /** The same job with other costs of a change. */
    public TrainingJob costing(RescaleCosts costs) {
        return with(new Traits(traits.batch(), traits.profile(), costs));
    }

    /** The same job with other traits. */
    public TrainingJob with(Traits other) {
        return new TrainingJob(
                job,
                domain,
                submittedAt,
                application,
                scaling,
                precedence,
                other,
                runner,
                sliceMemoryBytes,
                kindNeeds,
                shape,
                hostNeed);
    }

    /** The same job, which names the kinds that count instead of others. */
    public TrainingJob countedBy(GpuKinds kinds) {
        return kinds.aliases().isEmpty() || kindNeeds.equals(KindNeeds.ANY)
                ? this
                : onKinds(kindNeeds.countedBy(kinds));
    }

    /** Whether it may never use a kind: its owner leaves it out, or a replica does not fit. */
    public boolean excludes(KindId kind) {
        return !kindNeeds.equals(KindNeeds.ANY)
                && (!kindNeeds.allows(kind)
                        || kindNeeds.localMax(kind, traits.batch().localMax())
                                < traits.batch().localMin());
    }

    /** The batch sizes that it may train with on a kind; empty if the smallest batch does not fit. */
    public Optional<BatchRange> batchOn(KindId kind) {
        BatchRange range = traits.batch();
        int localMax = kindNeeds.localMax(kind, range.localMax());
        if (localMax == range.localMax()) {
            return Optional.of(range);
        }
        return localMax < range.localMin()
                ? Optional.empty()
                : Optional.of(new BatchRange(range.initial(), range.max(), range.localMin(), localMax, range.fixed()));
    }

    /** The same job in a queue. */
    public TrainingJob in(QueueId queue) {
        return with(new Precedence(
                precedence.priority(),
                precedence.deadline(),
                precedence.deadlineKind(),
                Optional.of(queue),
                precedence.priorityClass()));
    }

    /** The same job with a deadline. */
    public TrainingJob due(Instant deadline, DeadlineKind kind) {
        return with(new Precedence(
                precedence.priority(), Optional.of(deadline), kind, precedence.queue(), precedence.priorityClass()));
    }

    /** The same job with another order among jobs. */
    public TrainingJob with(Precedence next) {
        return new TrainingJob(
                job,
                domain,
                submittedAt,
                application,
                scaling,
                next,
                traits,
                runner,
                sliceMemoryBytes,
                kindNeeds,
                shape,
                hostNeed);
    }

    /** The time by which it must end; empty if its owner only wishes one, or has none. */
    public Optional<Instant> hardDeadline() {
        return precedence.deadlineKind() == DeadlineKind.HARD ? precedence.deadline() : Optional.empty();
    }

    /** The queue whose quota its GPUs count in. */
    public Optional<QueueId> queue() {
        return precedence.queue();
    }

    /** Fewest GPUs that it starts with in its shape, if nodes have them. */
    public int leastSize() {
        return Math.max(scaling.least(), shape.atLeast(scaling.least()));
    }

    /** Whether it may start on a single GPU, or on a part of one. */
    public boolean startsOnOne() {
        return scaling.least() == 1 && !shape.wholeNodes() && shape.allows(1);
    }

    /** Whether its shape allows a number of GPUs in its range, if nodes do. */
    public boolean hasSize() {
        int most = scaling.elastic() ? scaling.maxGpus() : scaling.requestedGpus();
        int size = shape.atLeast(scaling.least());
        return size > 0 && size <= Math.max(most, scaling.least());
    }

    @Override
    public Instant at() {
        return submittedAt;
    }

    @Override
    public <T> T match(Cases<T> cases) {
        return cases.job(this);
    }
}
