package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.ClusterState;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What reports of transfers lead to for those who wait for GPUs. */
class ReportsTest {
    private final Scheduler scheduler = new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS);
    private final Scenario story = new Scenario(scheduler);

    @AfterEach
    void theHistoryIsClean() {
        assertThat(story.settled().verdict().violations()).isEmpty();
    }

    /**
     * Two training GPUs, four of inference, one service that needs one replica, and a job that was just lent two, which
     * it has not yet.
     */
    private Decision lending() {
        story.node("train", Pool.TRAINING, 2)
                .node("infer", Pool.INFERENCE, 4)
                .service("chat", 1)
                .settled()
                .job("a", 4);
        for (int i = 0; i < 48; i++) {
            story.rate("chat", 1).settled().after(ofSeconds(15));
            for (Decision decision : story.last()) {
                if (decision.action() instanceof Action.Lend) {
                    return decision;
                }
            }
            story.settled();
            if (story.job("a").gpus() > 0) {
                story.progress("a", JobPhase.RUNNING).settled();
            }
        }
        throw new AssertionError("nothing was lent");
    }

    @Test
    void aLoanThatIsBoundIsTakenBackAtOnceForAServiceThatWaitedForIt() {
        Decision lend = lending();
        story.rate("chat", 35);
        assertThat(story.lastKinds())
                .as("loans in transfer cannot be taken back")
                .containsExactly("serve");

        tell(story.answers(lend));

        assertThat(story.decisions())
                .filteredOn(decision -> decision.action() instanceof Action.Reclaim)
                .singleElement()
                .satisfies(reclaim -> assertThat(reclaim.action().gpus()).hasSize(2));
    }

    @Test
    void aBoundLoanIsNoReasonToComputeNeedsWhereNoServiceWaits() {
        Decision lend = lending();

        for (ActuationReport report : story.answers(lend)) {
            assertThat(asks(report)).as("%s", report.outcome()).isFalse();
            story.tell(report);
        }
        assertThat(story.count("lent")).isEqualTo(2);
    }

    @Test
    void everyServiceIsAskedOnceAGpuOfInferenceIsFree() {
        tell(story.answers(lending()));
        story.rate("chat", 25);
        Decision reclaim = story.last().stream()
                .filter(decision -> decision.action() instanceof Action.Reclaim)
                .findFirst()
                .orElseThrow();

        assertThat(asks(story.answers(reclaim).get(0))).isTrue();
    }

    @Test
    void everyServiceIsAskedBeforeAPlan() {
        ActuationReport report = story.answers(lending()).get(0);
        Instant plan = story.state().nextPlanAt().orElseThrow();

        assertThat(asks(scheduler, report, plan.minusMillis(1))).isFalse();
        assertThat(asks(scheduler, report, plan)).isTrue();
    }

    @Test
    void everyServiceIsAskedWhereNothingWasDecidedBefore() {
        ActuationReport report = story.answers(lending()).get(0);
        Instant later = story.now().plusSeconds(1);

        assertThat(asks(scheduler.decidingFrom(Optional.of(later)), report, later))
                .isTrue();
    }

    @Test
    void everyServiceIsAskedForAdvice() {
        ActuationReport report = story.answers(lending()).get(0);
        story.control(ControlCommand.Kind.ADVISORY_ON);

        assertThat(asks(report)).isTrue();
        story.control(ControlCommand.Kind.ADVISORY_OFF);
    }

    private void tell(List<ActuationReport> reports) {
        reports.forEach(story::tell);
    }

    private boolean asks(ActuationReport report) {
        return asks(scheduler, report, report.at());
    }

    /** Whether services are asked for their needs at a report. */
    private boolean asks(Scheduler whose, ActuationReport report, Instant at) {
        ClusterState state = story.state();
        AtomicInteger asked = new AtomicInteger();
        StepListener listener = new StepListener() {
            @Override
            public void needed(Map<ServiceId, ReplicaNeed> needs) {
                asked.incrementAndGet();
            }
        };
        whose.step(
                state,
                new DomainEvent(
                        Scenario.DOMAIN, state.epoch(), state.eventSequence() + 1, at, Optional.empty(), report),
                listener);
        return asked.get() > 0;
    }
}
