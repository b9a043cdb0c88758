package io.lendstream.scheduler;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Origin;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Intruders;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Applies events to domains in two phases. The first makes the step and encodes all its outputs and state changes; it
 * may fail, and then nothing has changed. The second applies the step, and fails only if the broker does.
 */
final class StepRunner {
    private static final Logger log = LoggerFactory.getLogger(StepRunner.class);

    private final ProcessorContext<byte[], byte[]> context;
    private final DomainStore store;
    private final StepEncoder encoder;
    private final Snapshots snapshots;
    private final KeptReasons reasons;
    private final CommitPace commits;
    private final SchedulerMetrics metrics;

    /**
     * A step that is made and encoded, but not applied.
     *
     * @param scheduler with the settings that the domain has declared
     */
    record PreparedStep(
            Scheduler scheduler,
            DomainEvent event,
            ReasonNotes notes,
            Step step,
            List<StepEncoder.Output> outputs,
            DomainStore.Changes changes) {
        /** The event as it is written to the log. */
        byte[] logged() {
            return outputs.stream()
                    .filter(output -> output.sink().equals(SchedulerTopology.EVENT_LOG))
                    .findFirst()
                    .map(output -> output.record().value())
                    .orElseThrow();
        }
    }

    StepRunner(
            ProcessorContext<byte[], byte[]> context,
            DomainStore store,
            StepEncoder encoder,
            Snapshots snapshots,
            CommitPace commits,
            SchedulerMetrics metrics) {
        this.context = context;
        this.store = store;
        this.encoder = encoder;
        this.snapshots = snapshots;
        this.reasons = new KeptReasons(encoder);
        this.commits = commits;
        this.metrics = metrics;
    }

    /**
     * Makes a step.
     *
     * @param before state that the step starts from: the domain's, or a trial state
     * @param at time of the event in the log
     * @param arrived when the record that caused the step was appended to its topic, in milliseconds
     * @throws RefusedException if the step fails, or its output cannot be encoded
     */
    PreparedStep prepare(
            Domain domain,
            ClusterState before,
            Scheduler scheduler,
            Event event,
            Instant at,
            Optional<Origin> origin,
            long arrived)
            throws RefusedException {
        return RefusingCall.of(() -> {
            long epoch = event.asStarted().map(SchedulerStarted::epoch).orElse(before.epoch());
            DomainEvent logged = new DomainEvent(domain.id(), epoch, before.eventSequence() + 1, at, origin, event);
            ReasonNotes notes = new ReasonNotes();
            Step step = step(scheduler, before, logged, notes);
            return new PreparedStep(
                    scheduler.in(step.state()),
                    logged,
                    notes,
                    step,
                    encoder.encode(logged, step, arrived),
                    store.prepare(step.state(), domain.answered(), step.changed(), origin.isPresent()));
        });
    }

    private Step step(Scheduler scheduler, ClusterState before, DomainEvent event, ReasonNotes notes) {
        long start = System.nanoTime();
        try {
            return scheduler.step(before, event, notes);
        } finally {
            metrics.stepTime().record(Duration.ofNanos(System.nanoTime() - start));
        }
    }

    /** Counts a sample that is held: it is accepted, but not yet in the log. */
    void held(Event sample) {
        metrics.accepted(sample);
        metrics.held();
    }

    /** Applies a step. */
    void commit(Domain domain, PreparedStep pending, long arrived) {
        Step step = pending.step();
        ClusterState before = domain.state();
        tellTrust(before, step);
        tellIntruders(before, step);
        domain.state(step.state());
        publish(pending.outputs());
        store.commit(pending.changes());
        publish(reasons.after(pending, commits.isWaitedFor(), arrived, context.currentSystemTimeMs()));
        publish(snapshots.after(before, step.state(), pending.scheduler(), arrived));
        for (Decision decision : step.decisions()) {
            metrics.decided(decision, Duration.ofMillis(context.currentSystemTimeMs() - arrived));
        }
        if (!step.decisions().isEmpty()) {
            commits.decided(pending.event().event().asRate().isPresent());
        } else if (pending.outputs().stream().anyMatch(each -> !each.sink().equals(SchedulerTopology.EVENT_LOG))) {
            commits.owed();
        }
        domain.worked();
        metrics.accepted(pending.event().event());
        pending.event()
                .event()
                .asReport()
                .filter(report -> report.outcome() == Outcome.HOLDS)
                .ifPresent(report -> tellDrift(report, step));
    }

    /** Writes reasons that have waited, where no record comes; once a second. */
    void rest() {
        if (!commits.isWaitedFor()) {
            publish(reasons.atRest(context.currentSystemTimeMs()));
        }
    }

    /** Tells each change of the level of trust, whether or not a decision answers it. */
    private static void tellTrust(ClusterState before, Step step) {
        TrustLevel was = before.mode().level();
        TrustLevel is = step.state().mode().level();
        if (was == is) {
            return;
        }
        boolean isLower = before.mode().trust().isPresent() && is.compareTo(was) < 0;
        String text = step.decisions().stream()
                .filter(decision -> decision.reason().is(ReasonCode.TRUST)
                        && decision.action().isHold())
                .map(decision -> decision.reason().text())
                .findFirst()
                .orElseGet(() -> "the level of trust is %s, and was %s".formatted(is.label(), was.label()));
        log.atLevel(isLower ? Level.WARN : Level.INFO)
                .log("domain {}: {}", step.state().domain(), text);
    }

    /** Tells who uses a unit beside its tenant, once for the same users. */
    private static void tellIntruders(ClusterState before, Step step) {
        for (GpuId id : step.changed().owners()) {
            Optional<Intruders> was = before.gpus().get(id).flatMap(GpuState::intruders);
            Optional<GpuState> unit = step.state().gpus().get(id);
            unit.flatMap(GpuState::intruders)
                    .filter(is -> !was.equals(Optional.of(is)))
                    .ifPresent(is -> log.warn(
                            "domain {}: {} of {} is {}; nothing is stopped",
                            step.state().domain(),
                            id,
                            unit.flatMap(each -> each.owner().holder())
                                    .map(Tenant::toString)
                                    .orElse("nothing"),
                            is.inWords()));
        }
    }

    void publish(List<StepEncoder.Output> outputs) {
        for (StepEncoder.Output output : outputs) {
            context.forward(output.record(), output.sink());
        }
    }

    private void tellDrift(ActuationReport report, Step step) {
        boolean isByCount = report.gpus().isEmpty() || !report.placements().isEmpty();
        Set<GpuId> drifted = new TreeSet<>(isByCount ? step.changed().owners() : report.gpus());
        drifted.retainAll(step.changed().owners());
        if (isByCount) {
            drifted.removeIf(gpu -> !isFree(step, gpu) && !isOutOfService(step, gpu));
        }
        boolean isOut = isByCount
                ? drifted.stream().anyMatch(gpu -> isOutOfService(step, gpu))
                : report.tenant().isPresent();
        if (!drifted.isEmpty()) {
            metrics.drifted(drifted.size());
            log.warn(
                    "ownership drift in domain {}: actuator {} found {} running on {}, which differs from the decisions; now {}",
                    report.domain(),
                    report.actuator(),
                    report.tenant().map(Tenant::toString).orElse("nothing"),
                    drifted,
                    isOut ? "out of service until `lendstream reset GPU`" : "free again");
        }
    }

    private static boolean isFree(Step step, GpuId gpu) {
        return step.state().gpus().get(gpu).filter(GpuState::isFree).isPresent();
    }

    private static boolean isOutOfService(Step step, GpuId gpu) {
        return step.state()
                .gpus()
                .get(gpu)
                .filter(unit -> unit.owner().isQuarantined() && !unit.owner().isForeign())
                .isPresent();
    }
}
