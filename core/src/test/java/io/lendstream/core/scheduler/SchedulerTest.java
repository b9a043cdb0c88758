package io.lendstream.core.scheduler;

import static io.lendstream.core.fixtures.Scenario.DOMAIN;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Tick;
import io.lendstream.core.event.Timings;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Owner;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SchedulerTest extends SmallClusterFixture {
    @Test
    void keepsTheFloorOfAServiceBeforeAnyRequest() {
        smallCluster("deepboot");

        assertThat(story.count("serving")).isEqualTo(1);
    }

    @Test
    void keepsTheFloorOfEveryServiceBeforeTheDemandOfAny() {
        story = Scenario.of("deepboot");
        story.service("chat", 0).service("search", 1).rate("chat", 100).node("infer", Pool.INFERENCE, 2);

        assertThat(story.last())
                .filteredOn(decision -> decision.action() instanceof Action.Serve)
                .extracting(decision -> decision.action().target())
                .containsExactly("chat", "search");
        story.settled();
    }

    @Test
    void startsAQueuedJobAtTheNextPlanOnTrainingsOwnGpus() {
        smallCluster("deepboot").job("a", 2).after(ofSeconds(45)).rate("chat", 1);
        assertThat(story.last()).isEmpty();

        story.after(ofSeconds(15));

        assertThat(story.lastKinds()).containsExactly("resize");
        assertThat(story.job("a").allocation().gpus()).containsExactly(new GpuId("train-g0"));
        assertThat(story.owner("train-g0")).isInstanceOf(Owner.Binding.class);
        assertThat(story.last().get(0).reason().text()).startsWith("a starts on 1 GPU: ");
    }

    @Test
    void lendsIdleInferenceGpusOnceTrainingsOwnAreUsed() {
        lending("deepboot");

        List<Decision> lends = story.decisions().stream()
                .filter(decision -> decision.action() instanceof Action.Lend)
                .toList();
        assertThat(lends).hasSize(1);
        assertThat(((Action.Lend) lends.get(0).action()).gpus())
                .hasSize(2)
                .allMatch(gpu -> gpu.value().startsWith("infer"));
    }

    @Test
    void takesLentGpusBackAtOnceWhenDemandComesAndServesOnlyAfterTheirRelease() {
        lending("deepboot").rate("chat", 25);

        assertThat(story.lastKinds()).containsExactly("serve", "reclaim");
        Action.Reclaim reclaim = (Action.Reclaim) story.last().get(1).action();
        assertThat(reclaim.gpus()).hasSize(1);
        assertThat(reclaim.allocation().gpus()).hasSize(3);
        assertThat(story.owner(reclaim.gpus().get(0).value())).isInstanceOf(Owner.Releasing.class);

        story.tell(story.answers(story.last().get(1)).get(0));

        assertThat(story.lastKinds()).containsExactly("serve");
        assertThat(story.last().get(0).action().gpus()).isEqualTo(reclaim.gpus());
        story.settled();
    }

    @Test
    void protectsAReplicaThatIsNoLongerNeededThenLetsItSleepAndWakesItWarm() {
        smallCluster("deepboot").rate("chat", 15).settled();
        assertThat(story.count("serving")).isEqualTo(2);

        story.after(ofSeconds(15)).rate("chat", 1);
        assertThat(story.count("protected")).isEqualTo(1);

        story.after(ofSeconds(15))
                .rate("chat", 1)
                .after(ofSeconds(15))
                .rate("chat", 1)
                .after(ofSeconds(15));
        assertThat(story.count("sleeping")).isEqualTo(1);

        story.rate("chat", 15);
        assertThat(((Action.Serve) story.last().get(0).action()).warm()).isTrue();
        assertThat(story.count("serving")).isEqualTo(2);
        story.settled();
    }

    @Test
    void renewsLoansWhileAllIsWell() {
        lending("deepboot");
        for (int i = 0; i < 30; i++) {
            story.after(ofSeconds(15)).settled().rate("chat", 1).settled();
        }

        assertThat(story.decisions()).anyMatch(decision -> decision.action() instanceof Action.Renew);
        assertThat(story.count("lent")).isEqualTo(2);
    }

    @Test
    void takesEverythingBackWhenDemandIsUnknownForAMinute() {
        lending("deepboot").after(ofSeconds(59));
        assertThat(story.lastKinds()).doesNotContain("reclaim");

        story.after(ofSeconds(2));

        assertThat(story.lastKinds()).containsExactly("hold", "reclaim");
        assertThat(story.last().get(1).reason().text()).contains("the demand of chat is unknown");
        story.settled();
        assertThat(story.count("lent")).isZero();
    }

    @Test
    void lendsNothingNewWhileRatesAreStale() {
        smallCluster("deepboot").rate("chat", 1).settled().rigidJob("a", 4).after(ofMinutes(1));

        assertThat(story.lastKinds()).containsExactly("hold");
        assertThat(story.last().get(0).reason().text()).contains("the request rates of chat are");
    }

    @Test
    void undoesABindWithoutAReport() {
        smallCluster("deepboot")
                .job("a", 2)
                .after(ofSeconds(45))
                .rate("chat", 1)
                .after(ofSeconds(15));
        Decision start = story.last().get(0);

        story.rate("chat", 1).after(ofMinutes(1));

        assertThat(story.decisions())
                .anyMatch(decision -> decision.reason().code().equals("timeout"));
        assertThat(story.owner("train-g0")).isInstanceOf(Owner.Releasing.class);
        assertThat(story.job("a").gpus()).isZero();
        assertThat(start.action()).isInstanceOf(Action.Resize.class);
        story.settled();
        assertThat(story.owner("train-g0")).isNotInstanceOf(Owner.Quarantined.class);
    }

    @Test
    void takesAGpuAsBoundThatALaterDecisionOnTheJobHasBound() {
        smallCluster("deepboot")
                .job("a", 2)
                .after(ofSeconds(45))
                .rate("chat", 1)
                .after(ofSeconds(15));
        DecisionId start = story.last().get(0).id();
        Optional<Tenant> job = Optional.of(new Tenant.Job(new JobId("a")));
        List<GpuId> gpu = List.of(new GpuId("train-g0"));

        story.tell(story.report(
                new DecisionId(start.domain(), start.epoch(), start.sequence() - 1), Outcome.BOUND, gpu, job));
        assertThat(story.owner("train-g0")).isInstanceOf(Owner.Binding.class);

        story.tell(story.report(
                new DecisionId(start.domain(), start.epoch(), start.sequence() + 1), Outcome.BOUND, gpu, job));
        assertThat(story.owner("train-g0")).isInstanceOf(Owner.Training.class);
    }

    @Test
    void quarantinesAGpuWhoseReleaseIsNeverReported() {
        lending("deepboot").rate("chat", 25);
        GpuId gpu = story.last().get(1).action().gpus().get(0);
        Decision serve = story.last().get(0);
        story.answers(serve).forEach(story::tell);

        for (int i = 0; i < 6; i++) {
            story.after(ofSeconds(15)).rate("chat", 25).settled();
        }

        assertThat(story.owner(gpu.value())).isInstanceOf(Owner.Quarantined.class);
        story.control(ControlCommand.Kind.RESET, gpu);
        assertThat(story.owner(gpu.value())).isNotInstanceOf(Owner.Quarantined.class);
    }

    @Test
    void quarantinesAGpuThatCouldNotBeBoundTwiceInARow() {
        story = Scenario.of("deepboot").node("infer", Pool.INFERENCE, 1).service("chat", 1);
        Decision first = story.last().get(0);
        story.tell(story.report(first.id(), Outcome.FAILED, first.action().gpus(), Optional.empty()));
        Decision second = story.last().get(0);
        assertThat(second.action()).isInstanceOf(Action.Serve.class);

        story.tell(story.report(second.id(), Outcome.FAILED, second.action().gpus(), Optional.empty()));

        assertThat(story.owner("infer-g0")).isInstanceOf(Owner.Quarantined.class);
    }

    @Test
    void takesAGpuWithAFatalXidFromItsJobAndIgnoresTheOldXidAfterAReset() {
        lending("deepboot");
        GpuId gpu = story.job("a").allocation().gpus().get(0);

        story.sample(story.state().gpus().require(gpu).nodeId().value(), Optional.of(79));

        assertThat(story.owner(gpu.value())).isInstanceOf(Owner.Quarantined.class);
        assertThat(story.lastKinds()).containsAnyOf("resize", "reclaim");
        assertThat(story.last().get(0).reason().code()).isEqualTo("lost");
        assertThat(story.job("a").allocation().gpus())
                .allMatch(left -> left.value().startsWith("train"));

        story.control(ControlCommand.Kind.RESET, gpu)
                .sample(story.state().gpus().require(gpu).nodeId().value(), Optional.of(79));
        assertThat(story.owner(gpu.value())).isNotInstanceOf(Owner.Quarantined.class);
    }

    @Test
    void aFreezeStopsPlansButNotReclaimsForInference() {
        lending("deepboot").control(ControlCommand.Kind.FREEZE).job("b", 2);
        story.rate("chat", 1).after(ofMinutes(1));
        assertThat(story.lastKinds()).containsOnly("hold");

        story.rate("chat", 25);
        assertThat(story.lastKinds()).contains("reclaim");
        story.settled();
    }

    @Test
    void adviceChangesNothing() {
        smallCluster("deepboot").job("a", 2).after(ofSeconds(45)).rate("chat", 1);
        story.control(ControlCommand.Kind.ADVISORY_ON).after(ofSeconds(15));

        assertThat(story.lastKinds()).containsExactly("resize");
        assertThat(story.last()).allMatch(Decision::advisory);
        assertThat(story.job("a").gpus()).isZero();
        assertThat(story.count("binding")).isZero();
    }

    @Test
    void reclaimAllTakesEveryLoanBackAndLendsNothingUntilThawed() {
        lending("deepboot").control(ControlCommand.Kind.RECLAIM_ALL);
        assertThat(story.lastKinds()).containsExactly("reclaim");
        story.settled();

        story.rate("chat", 1).after(ofMinutes(1)).settled();

        assertThat(story.count("lent")).isZero();
    }

    @Test
    void aForecastBringsGpusBackBeforeDemandUnderLendstreamOnly() {
        lending("deepboot").forecast("chat", 25);
        assertThat(story.last()).isEmpty();
        assertThat(story.verdict().violations()).isEmpty();

        lending("lendstream").forecast("chat", 25);
        assertThat(story.lastKinds()).containsExactly("serve", "reclaim");
        assertThat(story.last().get(0).reason().code()).isEqualTo("forecast");
        story.settled();
    }

    @Test
    void releasesTheGpusOfAFinishedJob() {
        lending("deepboot").progress("a", JobPhase.FINISHED);

        assertThat(story.lastKinds()).containsExactly("reclaim");
        story.settled();
        assertThat(story.count("free")).isEqualTo(5);
        assertThat(story.state().jobs().get(new JobId("a"))).isPresent();
    }

    @Test
    void aLateRecordOfAFinishedJobDoesNotBringItBack() {
        lending("deepboot").progress("a", JobPhase.FINISHED).settled().progress("a", JobPhase.RUNNING);

        story.rate("chat", 1).after(ofMinutes(1));

        assertThat(story.job("a").gpus()).isZero();
    }

    @Test
    void aMeasuredPauseCountsForHalfOfTheAssumedCostOfAChange() {
        smallCluster("deepboot").job("a", 4);
        for (int i = 0; i < 8 && story.job("a").changing().isEmpty(); i++) {
            story.rate("chat", 1).settled().after(ofSeconds(15));
        }
        DecisionId start = story.job("a").changing().orElseThrow();
        RescaleCosts declared = story.job("a").costs();
        Timings measured = Timings.NONE.pausing(Optional.of(ofSeconds(10)));

        story.tell(new ActuationReport(
                DOMAIN,
                start,
                "test",
                story.now(),
                Outcome.APPLIED,
                List.of(),
                Optional.of(new Tenant.Job(new JobId("a"))),
                measured,
                ""));

        assertThat(story.job("a").changing()).isEmpty();
        assertThat(story.job("a").costs())
                .isEqualTo(new RescaleCosts(declared.first().plusSeconds(10).dividedBy(2), declared.next()));
        story.settled();
    }

    @Test
    void refusesALogWithAGap() {
        smallCluster("deepboot");
        DomainEvent event =
                new DomainEvent(DOMAIN, 1, 99, story.now(), Optional.empty(), new Tick(DOMAIN, story.now()));

        assertThatThrownBy(() -> new Scheduler(
                                io.lendstream.core.policy.catalogue.Policies.parse("deepboot"),
                                SchedulerSettings.DEFAULTS)
                        .step(story.state(), event))
                .hasMessageContaining("gap");
    }

    /** A job on two of three GPUs, whose node is moved to inference. */
    @Test
    void aNodeThatChangesItsPoolServesAsSoonAsItsGpusAreFree() {
        Scenario story = Scenario.of("deepboot").node("node", Pool.TRAINING, 3).rigidJob("a", 2);
        story.after(ofSeconds(61)).settled();
        assertThat(story.job("a").gpus()).isEqualTo(2);

        story.node("node", Pool.INFERENCE, 3).service("chat", 3).settled();

        assertThat(story.count("training")).isEqualTo(2);
        assertThat(story.count("serving")).isEqualTo(1);
        story.progress("a", JobPhase.FINISHED).settled();
        assertThat(story.count("serving")).isEqualTo(3);
        assertThat(story.verdict().violations()).isEmpty();
    }
}
