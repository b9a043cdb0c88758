package io.lendstream.core.event;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The declaration of a queue: the quotas of the jobs and services that name it.
 *
 * @param cohort queues that name the same cohort lend each other unused quota; none if it is empty or blank
 * @param weight its share of borrowed GPUs, relative to other queues; greater than 0
 * @param quotas at most one for each kind; its tenants may use no other kinds
 * @see <a href="https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/">Kueue, ClusterQueue</a>
 */
public record ClusterQueue(
        QueueId queue, DomainId domain, Instant at, Optional<String> cohort, double weight, List<KindQuota> quotas)
        implements Event {
    public ClusterQueue {
        cohort = cohort.filter(name -> !name.isBlank());
        quotas = List.copyOf(quotas);
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

    @Override
    public <T> T match(Cases<T> cases) {
        return cases.clusterQueue(this);
    }
}
