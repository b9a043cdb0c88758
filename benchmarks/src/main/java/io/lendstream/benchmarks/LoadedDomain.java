package io.lendstream.benchmarks;

import io.lendstream.core.actuation.Actuation;
import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.simulated.ChangeTiming;
import io.lendstream.core.simulated.SimulatedDriver;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.RecordWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A domain with services, jobs, nodes of eight GPUs, and its actuator, which acts at once. A hundred services have
 * steady demand and fifty only spikes; there is a job for each node.
 */
final class LoadedDomain {
    static final int STEADY = 100;
    static final int SPIKING = 50;
    static final Duration WINDOW = Duration.ofSeconds(15);
    /** Requests per second of one replica, which is also the size of a spike, for at most 80 replicas. */
    static final double CAPACITY = 1000;

    /** The age of its jobs: old enough for many changes to pay off. */
    private static final Duration AGE = Duration.ofDays(7);

    private static final int PER_SPIKE = 840;
    private static final int GPUS_PER_NODE = 8;

    private final DomainId id;
    private final int nodeCount;
    private final SimulatedNodes nodes;
    private final Actuation actuation =
            new Actuation("bench", Duration.ofSeconds(45), new SimulatedDriver(change -> ChangeTiming.AT_ONCE));
    private final AtomicInteger lent = new AtomicInteger();

    LoadedDomain(int number, int gpus) {
        this.id = new DomainId("bench-%02d".formatted(number));
        this.nodeCount = gpus / GPUS_PER_NODE;
        var layout = new SimulatedNodes.Layout(id, nodeCount, GPUS_PER_NODE, 0, number);
        this.nodes = new SimulatedNodes(layout, now(), Duration.ofMinutes(1), "bench");
    }

    DomainId id() {
        return id;
    }

    int jobs() {
        return nodeCount;
    }

    /** A sample of each node in its present state. */
    List<GpuTelemetry> samples() {
        return nodes.sampleNow(now()).stream()
                .map(sample -> new GpuTelemetry(
                        named(sample.nodeId()), id, sample.bootId(), sample.sequence(), sample.at(), sample.gpus()))
                .toList();
    }

    /** Names are unique over domains, as a name stands for one node. */
    private NodeId named(NodeId node) {
        return new NodeId(id + "-" + node);
    }

    Actuation actuation() {
        return actuation;
    }

    /** The GPUs on loan by the reports of the actuator. */
    int lent() {
        return lent.get();
    }

    ServiceId spiking(int number) {
        return new ServiceId("%s-spiking-%02d".formatted(id, number));
    }

    ServiceId steady(int number) {
        return new ServiceId("%s-steady-%02d".formatted(id, number));
    }

    /** Declares nodes, services and jobs. */
    void describe(RecordWriter writer) {
        for (Node each : nodes.inventory()) {
            Node node = new Node(
                    named(each.nodeId()), id, each.pool(), each.bootId(), each.at(), each.status(), each.gpus());
            actuation.know(node);
            writer.write(TopicCatalogue.NODES, node.nodeId().value(), node);
        }
        for (int i = 0; i < STEADY; i++) {
            describe(writer, steady(i), 1);
        }
        for (int i = 0; i < SPIKING; i++) {
            describe(writer, spiking(i), 0);
        }
        for (int i = 0; i < nodeCount; i++) {
            TrainingJob job = job(i);
            actuation.know(job);
            writer.write(TopicCatalogue.TRAINING_JOBS, job.job().value(), job);
        }
    }

    private void describe(RecordWriter writer, ServiceId name, int floor) {
        var service = new InferenceService(
                name,
                id,
                now(),
                List.of(),
                Duration.ofMillis(500),
                CAPACITY,
                Optional.empty(),
                floor,
                Duration.ofSeconds(60));
        actuation.know(service);
        writer.write(TopicCatalogue.SERVICES, name.value(), service);
    }

    private JobId jobName(int number) {
        return new JobId("%s-job-%04d".formatted(id, number));
    }

    private TrainingJob job(int number) {
        return new TrainingJob(
                jobName(number),
                id,
                now().minus(AGE),
                "bench",
                new TrainingJob.Scaling(GPUS_PER_NODE, 1, GPUS_PER_NODE, true),
                TrainingJob.Precedence.USUAL,
                new TrainingJob.Traits(
                        new BatchRange(128, 8192, 32, 1024, Optional.empty()),
                        new GoodputProfile(
                                new ThroughputParameters(0.05, 0.002, 0.05, 0.001, 0.02, 0.0005, 1.5),
                                new GradientNoise(1, 10_000)),
                        new RescaleCosts(Duration.ofSeconds(30), Duration.ofSeconds(3))),
                "simulated",
                Optional.empty());
    }

    /** A job that trains and has run on a whole node, up to which it may grow at once. */
    TrainingProgress progress(int number, long iterations) {
        return new TrainingProgress(
                jobName(number),
                id,
                now(),
                JobPhase.RUNNING,
                iterations,
                Optional.empty(),
                new TrainingProgress.Parallelism(1, GPUS_PER_NODE, 32, 0),
                TrainingProgress.StepTiming.NOT_MEASURED,
                TrainingProgress.GradientStatistics.NOT_MEASURED);
    }

    /** A forecast of no requests. */
    DemandForecast nothing(ServiceId service) {
        return new DemandForecast(
                service,
                id,
                now(),
                Duration.ofMinutes(1),
                "bench",
                List.of(new HorizonQuantiles(Duration.ofHours(1), 0, 0, 0, 0)),
                Optional.empty(),
                Optional.empty());
    }

    /** A rate that needs this many replicas. */
    RequestRate spike(ServiceId service, int replicas, long sequence) {
        return window(service, "gateway", sequence, (long) replicas * PER_SPIKE * WINDOW.toSeconds());
    }

    RequestRate window(ServiceId service, String source, long sequence, long arrivals) {
        Instant end = now();
        return new RequestRate(
                service,
                id,
                source,
                "bench",
                sequence,
                end.minus(WINDOW),
                end,
                RequestRate.Requests.answered(arrivals),
                RequestRate.Latency.NOT_MEASURED,
                List.of(),
                List.of());
    }

    /** Counts the loans in a report. */
    void follow(ActuationReport report) {
        if (report.tenant().filter(Tenant::isJob).isEmpty()) {
            return;
        }
        if (report.outcome() == Outcome.BOUND) {
            lent.addAndGet(report.gpus().size());
        } else if (report.outcome() == Outcome.RELEASED || report.outcome() == Outcome.FORCED) {
            lent.addAndGet(-report.gpus().size());
        }
    }

    static Instant now() {
        return Instant.now().truncatedTo(ChronoUnit.MILLIS);
    }
}
