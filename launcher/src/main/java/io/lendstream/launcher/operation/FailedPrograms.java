package io.lendstream.launcher.operation;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.id.Tenant;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The jobs and services whose program some actuator could not run a short time ago. The scheduler may wait before it
 * tries them again.
 */
public final class FailedPrograms {
    /** The longest wait of the scheduler is 10 minutes; clocks may differ a little. */
    private static final Duration LATELY = Duration.ofMinutes(11);

    private final Set<Tenant> tenants = new HashSet<>();

    /**
     * Reads the last reports of actuators.
     *
     * @param progress receives a line every two seconds while the topic is read
     */
    public static FailedPrograms read(Cluster cluster, Consumer<String> progress) {
        FailedPrograms failed = new FailedPrograms();
        new TopicScan(cluster, progress)
                .written(TopicCatalogue.ACTUATION_REPORTS, Instant.now().minus(LATELY), Instant.MAX, failed::take);
        return failed;
    }

    void take(ActuationReport report) {
        if (report.programFault()) {
            report.tenant().ifPresent(tenants::add);
        }
    }

    /** Whether the program of a job or service could not be run. */
    public boolean has(Tenant tenant) {
        return tenants.contains(tenant);
    }
}
