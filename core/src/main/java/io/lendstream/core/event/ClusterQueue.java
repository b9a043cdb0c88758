package io.lendstream.core.event;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.persistent.WhenAbsent;
import java.time.Instant;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The declaration of a queue: the quotas of the jobs and services that name it.
 *
 * @param cohort queues that name the same cohort lend each other unused quota; none if it is empty or blank
 * @param weight its share of borrowed GPUs, relative to other queues; greater than 0
 * @param quotas at most one for each kind; its tenants may use no other kinds
 * @param withinClusterQueue whose GPUs a waiting job may take in its own queue; those of no job if empty. {@link
 *     Preemption#ANY} is not allowed
 * @param reclaimWithinCohort whose GPUs beyond a nominal quota a waiting job may take in the other queues of the
 *     cohort; those of all jobs if empty
 * @param priorityClasses the priority of the jobs that name a class
 * @param removed whether the record ends the declaration: jobs and services that name the queue have no quota
 * @see <a href="https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/">Kueue, ClusterQueue</a>
 */
public record ClusterQueue(
        QueueId queue,
        DomainId domain,
        Instant at,
        Optional<String> cohort,
        double weight,
        List<KindQuota> quotas,
        Optional<Preemption> withinClusterQueue,
        Optional<Preemption> reclaimWithinCohort,
        Map<String, Integer> priorityClasses,
        @WhenAbsent("false") boolean removed)
        implements Event {
    /** A declared queue. */
    public ClusterQueue(
            QueueId queue,
            DomainId domain,
            Instant at,
            Optional<String> cohort,
            double weight,
            List<KindQuota> quotas,
            Optional<Preemption> withinClusterQueue,
            Optional<Preemption> reclaimWithinCohort,
            Map<String, Integer> priorityClasses) {
        this(
                queue,
                domain,
                at,
                cohort,
                weight,
                quotas,
                withinClusterQueue,
                reclaimWithinCohort,
                priorityClasses,
                false);
    }

    /** A queue that takes back its nominal quota from any job, and whose jobs take nothing from each other. */
    public ClusterQueue(
            QueueId queue,
            DomainId domain,
            Instant at,
            Optional<String> cohort,
            double weight,
            List<KindQuota> quotas) {
        this(queue, domain, at, cohort, weight, quotas, Optional.empty(), Optional.empty(), Map.of());
    }

    public ClusterQueue {
        cohort = cohort.filter(name -> !name.isBlank());
        quotas = List.copyOf(quotas);
        priorityClasses = Collections.unmodifiableSortedMap(new TreeMap<>(priorityClasses));
        if (withinClusterQueue.equals(Optional.of(Preemption.ANY))) {
            throw new IllegalArgumentException(
                    "withinClusterQueue of queue %s is ANY; use LOWER_PRIORITY or NEVER, because the policy decides between jobs of equal priority"
                            .formatted(queue));
        }
        if (!(weight > 0) || Double.isInfinite(weight)) {
            throw new IllegalArgumentException(
                    "the weight of queue %s must be a finite number above 0, but was %s".formatted(queue, weight));
        }
        Set<Optional<KindId>> kinds = new HashSet<>();
        for (KindQuota quota : quotas) {
            if (!kinds.add(quota.kind())) {
                throw new IllegalArgumentException("queue %s has two quotas for %s; declare one for each kind"
                        .formatted(queue, quota.kind().map(KindId::value).orElse("other kinds")));
            }
        }
    }

    /** The record that ends its declaration. */
    public ClusterQueue removedAt(Instant time) {
        return new ClusterQueue(
                queue,
                domain,
                time,
                cohort,
                weight,
                quotas,
                withinClusterQueue,
                reclaimWithinCohort,
                priorityClasses,
                true);
    }

    /** The quota that a unit of a kind counts in: that of its kind, or else that without a kind. */
    public Optional<KindQuota> quota(Optional<KindId> kind) {
        Optional<KindQuota> other = Optional.empty();
        for (KindQuota quota : quotas) {
            if (quota.kind().isPresent() && quota.kind().equals(kind)) {
                return Optional.of(quota);
            }
            if (quota.kind().isEmpty()) {
                other = Optional.of(quota);
            }
        }
        return other;
    }

    /** The same queue with other rules for taking GPUs from jobs. */
    public ClusterQueue preempting(Preemption within, Preemption inCohort) {
        return new ClusterQueue(
                queue, domain, at, cohort, weight, quotas, Optional.of(within), Optional.of(inCohort), priorityClasses);
    }

    /** The same queue with priority classes. */
    public ClusterQueue withClasses(Map<String, Integer> classes) {
        return new ClusterQueue(
                queue, domain, at, cohort, weight, quotas, withinClusterQueue, reclaimWithinCohort, classes);
    }

    /** Whose GPUs a waiting job may take in this queue. */
    public Preemption within() {
        return withinClusterQueue.orElse(Preemption.NEVER);
    }

    /** Whose GPUs beyond a nominal quota a waiting job may take in the other queues of the cohort. */
    public Preemption inCohort() {
        return reclaimWithinCohort.orElse(Preemption.ANY);
    }

    /** The priority of a job of this queue: that of its class, if the queue has the class; else its own. */
    public int priorityOf(TrainingJob.Precedence precedence) {
        Optional<Integer> ofClass =
                precedence.priorityClass().flatMap(name -> Optional.ofNullable(priorityClasses.get(name)));
        return ofClass.orElse(precedence.priority());
    }

    @Override
    public <T> T match(Cases<T> cases) {
        return cases.clusterQueue(this);
    }
}
