package io.lendstream.core.scheduler;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.Owner;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** The changes of a step so far, and whether decisions or plans depend on them. */
final class ChangeLog {
    private final Set<NodeId> nodes = new HashSet<>();
    private final Set<GpuId> gpus = new HashSet<>();
    private final Set<GpuId> owners = new HashSet<>();
    private final Set<ServiceId> services = new HashSet<>();
    private final Set<JobId> jobs = new HashSet<>();
    private final Set<QueueId> queues = new HashSet<>();
    private final Set<String> actuators = new HashSet<>();
    private final Set<String> applications = new HashSet<>();
    private boolean changesPlans;
    /** Whether a job came, ended, or was described in another way. */
    private boolean changesJobs;

    private boolean settlesJob;

    Step.Changed changed() {
        return new Step.Changed(
                sorted(nodes),
                sorted(gpus),
                sorted(services),
                sorted(jobs),
                sorted(queues),
                sorted(actuators),
                sorted(applications),
                sorted(owners));
    }

    /** Sorted once: a plan changes thousands of units. Most events change one thing, or none. */
    private static <T extends Comparable<? super T>> Set<T> sorted(Set<T> some) {
        if (some.size() < 2) {
            return Set.copyOf(some);
        }
        List<T> inOrder = new ArrayList<>(some);
        Collections.sort(inOrder);
        return new LinkedHashSet<>(inOrder);
    }

    boolean matters() {
        return changesPlans || settlesJob || !owners.isEmpty();
    }

    boolean changesPlans() {
        return changesPlans;
    }

    boolean changesJobs() {
        return changesJobs;
    }

    void invalidatePlan() {
        changesPlans = true;
    }

    Set<GpuId> owners() {
        return owners;
    }

    /** Whether a unit of a pool is free now that had another owner. */
    boolean hasFreed(Pool pool, PersistentMap<GpuId, GpuState> now) {
        return owners.stream().flatMap(id -> now.get(id).stream()).anyMatch(gpu -> gpu.pool() == pool && gpu.isFree());
    }

    /** The jobs that this step has changed so far, or that held GPUs before it which it has changed; by name. */
    List<JobState> touchedJobs(PersistentMap<GpuId, GpuState> before, PersistentMap<JobId, JobState> now) {
        Set<JobId> touched = new TreeSet<>(jobs);
        for (GpuId gpu : gpus) {
            before.get(gpu).flatMap(state -> state.owner().holdingJob()).ifPresent(touched::add);
        }
        return touched.stream().flatMap(job -> now.get(job).stream()).toList();
    }

    void node(Optional<NodeState> before, NodeState after) {
        changesPlans |=
                before.isEmpty() || before.get().node().status() != after.node().status();
        nodes.add(after.node().nodeId());
    }

    void removed(NodeId node) {
        nodes.add(node);
    }

    void gpu(GpuId gpu) {
        gpus.add(gpu);
    }

    /** A unit that was not there, or is there no more. */
    void comesOrGoes(GpuId gpu) {
        changesPlans = true;
        gpus.add(gpu);
        owners.add(gpu);
    }

    /**
     * A unit gets another owner. Plans count on GPUs that jobs give up, but not on MIG instances: a small job may use
     * one as soon as it is free.
     */
    void owner(GpuState unit, Owner after) {
        changesPlans |=
                !isFreeOrTraining(unit.owner()) || !isFreeOrTraining(after) || (after.isFree() && !unit.isWhole());
        owners.add(unit.gpuId());
    }

    private static boolean isFreeOrTraining(Owner owner) {
        return owner.isFree() || owner.isHeldByJob();
    }

    /** An owner has got more time. */
    void term(GpuId gpu) {
        owners.add(gpu);
    }

    void service(ServiceId service) {
        services.add(service);
    }

    void queue(QueueId queue) {
        queues.add(queue);
    }

    void actuator(String actuator) {
        actuators.add(actuator);
    }

    void applications(Set<String> names) {
        applications.addAll(names);
    }

    void job(Optional<JobState> before, JobState after) {
        boolean isOther = before.isEmpty()
                || before.get().isOver() != after.isOver()
                || !before.get().spec().equals(after.spec());
        changesJobs |= isOther;
        changesPlans |= isOther;
        settlesJob |= before.isPresent()
                && before.get().changing().isPresent()
                && after.changing().isEmpty();
        jobs.add(after.spec().job());
    }

    void removed(JobId job) {
        jobs.add(job);
    }
}
