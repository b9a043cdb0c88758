package io.lendstream.launcher.operation;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.state.Lease;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Checks GPUs and their tenants by the leases, which are read once, and the services that use them. */
final class GpuChecks {
    private final Cluster cluster;
    private final TopicScan reading;
    private Optional<Collection<Lease>> leases = Optional.empty();

    GpuChecks(Cluster cluster, TopicScan reading) {
        this.cluster = cluster;
        this.reading = reading;
    }

    /** Which GPUs are out of service. */
    Finding quarantine() {
        return Diagnosis.quarantine(leases(), reading.gpuNames());
    }

    /** Which GPUs others use. */
    Finding foreign() {
        return Diagnosis.foreign(leases(), reading.gpuNames());
    }

    /** Which GPUs of tenants others use too. */
    Finding intruders() {
        return IntruderDiagnosis.of(leases(), reading.gpuNames());
    }

    /** Which GPUs of tenants another node reports. */
    Finding moved() {
        MovedGpus moved = new MovedGpus();
        reading.values(TopicCatalogue.NODES, moved::take);
        return moved.finding(leases(), reading.gpuNames());
    }

    /**
     * How many GPUs of which kind there are, whether policies choose them, which services do not tell them apart, and
     * which jobs and services name others.
     */
    Finding kinds() {
        KindDiagnosis kinds = new KindDiagnosis();
        reading.values(TopicCatalogue.NODES, kinds::take);
        reading.values(TopicCatalogue.SERVICES, kinds::take);
        reading.values(TopicCatalogue.TRAINING_JOBS, kinds::take);
        if (kinds.isAboutJobs(leases())) {
            reading.values(TopicCatalogue.TRAINING_PROGRESS, kinds::ended);
        }
        return kinds.finding(leases())
                .orElseGet(() -> SchedulerDiagnosis.kinds(leases(), kinds.services(), policies()));
    }

    /** The policies of the domains with several kinds. */
    private SeenPolicies policies() {
        SeenPolicies policies = new SeenPolicies();
        Set<DomainId> domains = SchedulerDiagnosis.withSeveralKinds(leases());
        if (!domains.isEmpty()) {
            reading.values(TopicCatalogue.DOMAIN_SETTINGS, policies::take);
            try (LogReader log = new LogReader(reading, cluster.topics())) {
                log.schedulers(domains).forEach(policies::take);
            }
        }
        return policies;
    }

    /** Which tenants have no quota, and which quotas have no GPU. */
    Finding queues() {
        QueueDiagnosis queues = new QueueDiagnosis();
        reading.values(TopicCatalogue.QUEUES, queues::take);
        if (!queues.isEmpty()) {
            reading.values(TopicCatalogue.SERVICES, queues::take);
            reading.values(TopicCatalogue.TRAINING_JOBS, queues::take);
        }
        return queues.finding(queues.isEmpty() ? List.of() : leases());
    }

    private Collection<Lease> leases() {
        if (leases.isEmpty()) {
            Map<GpuId, Lease> found = new HashMap<>();
            reading.all(
                    TopicCatalogue.LEASES,
                    received -> received.value()
                            .ifPresentOrElse(
                                    lease -> found.put(lease.gpuId(), lease),
                                    () -> found.remove(new GpuId(received.key()))));
            leases = Optional.of(found.values());
        }
        return leases.get();
    }
}
