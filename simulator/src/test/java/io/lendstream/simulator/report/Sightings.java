package io.lendstream.simulator.report;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.SlotKnowledge;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Records as an onlooker sees them, with everything filled in that a spec does not care about. */
final class Sightings {
    static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    static final DomainId DOMAIN = new DomainId("test");
    static final Allocation NOTHING = Allocation.suspended(Mechanism.AFE);

    private Sightings() {}

    static Instant at(double seconds) {
        return START.plusMillis((long) (seconds * 1000));
    }

    static Owner lent(String job) {
        return new Owner.Lent(new JobId(job), id(1), START.plus(Duration.ofDays(30)));
    }

    static Owner serving(String service) {
        return new Owner.Serving(new ServiceId(service));
    }

    static Lease lease(String gpu, Owner owner, double seconds) {
        return new Lease(
                new GpuId(gpu), new NodeId("node"), DOMAIN, Pool.INFERENCE, owner, 1, 1, at(seconds), Optional.empty());
    }

    static Owner binding(String job) {
        return new Owner.Binding(
                new Tenant.Job(new JobId(job)), id(1), START.plus(Duration.ofDays(30)), Optional.empty(), 1);
    }

    static Owner releasing(String job) {
        Instant end = START.plus(Duration.ofDays(30));
        return new Owner.Releasing(new Tenant.Job(new JobId(job)), id(1), end, end);
    }

    /** The lease of a GPU whose name stands for a slot, changed by an event. */
    static Lease slot(String gpu, Owner owner, double seconds, long event) {
        return new Lease(
                new GpuId(gpu),
                new NodeId("node"),
                DOMAIN,
                Pool.INFERENCE,
                owner,
                1,
                event,
                at(seconds),
                Optional.empty(),
                Optional.empty(),
                owner.isFree() ? Optional.empty() : Optional.of(SlotKnowledge.slot(Optional.empty())),
                Optional.empty());
    }

    /** The window of 15 s that ends then. */
    static RequestRate rate(String service, String source, long sequence, double endSeconds, long arrivals) {
        return new RequestRate(
                new ServiceId(service),
                DOMAIN,
                source,
                "boot",
                sequence,
                at(endSeconds - 15),
                at(endSeconds),
                RequestRate.Requests.answered(arrivals),
                RequestRate.Latency.NOT_MEASURED,
                List.of(),
                List.of());
    }

    /** A forecast at horizons of 1 and 5 minutes; the later one expects twice as much. */
    static DemandForecast forecast(String service, double issuedSeconds, double p50, double p99) {
        return new DemandForecast(
                new ServiceId(service),
                DOMAIN,
                at(issuedSeconds),
                Duration.ofMinutes(1),
                "test",
                List.of(
                        new HorizonQuantiles(Duration.ofMinutes(1), 0, p50 / 2, p99 / 2, p99 / 2),
                        new HorizonQuantiles(Duration.ofMinutes(5), 0, p50, p99, p99)),
                Optional.empty(),
                Optional.empty());
    }

    static InferenceService service(String name, double replicaCapacityPerSecond) {
        return new InferenceService(
                new ServiceId(name),
                DOMAIN,
                START,
                List.of(),
                Duration.ofMillis(500),
                replicaCapacityPerSecond,
                Optional.empty(),
                0,
                Duration.ofSeconds(8));
    }

    static TrainingJob job(String name, double seconds) {
        return new TrainingJob(
                new JobId(name),
                DOMAIN,
                at(seconds),
                "vision",
                new TrainingJob.Scaling(4, 1, 8, true),
                TrainingJob.Precedence.USUAL,
                new TrainingJob.Traits(
                        new BatchRange(128, 4096, 32, 1024, Optional.empty()),
                        new GoodputProfile(
                                new ThroughputParameters(0.05, 0.002, 0.05, 0.001, 0.02, 0.0005, 1.5),
                                new GradientNoise(1, 1000)),
                        new RescaleCosts(Duration.ofSeconds(24), Duration.ofSeconds(3))),
                "simulated",
                Optional.empty());
    }

    static TrainingProgress finished(String name, double seconds) {
        return new TrainingProgress(
                new JobId(name),
                DOMAIN,
                at(seconds),
                JobPhase.FINISHED,
                100,
                Optional.of(100.0),
                TrainingProgress.Parallelism.NONE,
                TrainingProgress.StepTiming.NOT_MEASURED,
                TrainingProgress.GradientStatistics.NOT_MEASURED);
    }

    static DecisionId id(long sequence) {
        return new DecisionId(DOMAIN, 1, sequence);
    }

    static Decision decision(long sequence, double seconds, Action action, String code, String text) {
        return new Decision(
                id(sequence),
                at(seconds),
                at(seconds + 45),
                false,
                new Reason(code, text, Map.of(), List.of(sequence)),
                action);
    }

    static Action lend(String job, String... gpus) {
        return new Action.Lend(new JobId(job), gpus(gpus), START.plus(Duration.ofDays(30)), running(gpus));
    }

    static Action reclaim(String job, String... gpus) {
        return new Action.Reclaim(new JobId(job), gpus(gpus), START.plus(Duration.ofDays(30)), NOTHING);
    }

    static Action hold(String service) {
        return new Action.Hold(Optional.empty(), Optional.of(new ServiceId(service)));
    }

    static Allocation running(String... gpus) {
        return new Allocation(gpus(gpus), 64, 1, 1.0, Mechanism.RESTART);
    }

    static List<GpuId> gpus(String... gpus) {
        return Stream.of(gpus).map(GpuId::new).toList();
    }
}
