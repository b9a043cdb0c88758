package io.lendstream.core.scheduler;

import static io.lendstream.core.fixtures.Scenario.DOMAIN;
import static io.lendstream.core.fixtures.Scenario.START;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.BatchTimes;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.Owner;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which events lead to decisions, and of which services' needs a step takes a look. */
class SchedulerStepTest {
    private static final Scheduler DEEPBOOT = new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS);
    private static final Scheduler CUTTING =
            new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS.withRepartition(true));

    /** Two services that have the one replica each that they need. */
    private static Scenario content(Scheduler scheduler) {
        return new Scenario(scheduler)
                .node("infer", Pool.INFERENCE, 4, "NVIDIA A100-SXM4-80GB")
                .service("chat", 1)
                .settled()
                .service("search", 1)
                .settled()
                .rate("chat", 5)
                .rate("search", 5);
    }

    /** What a listener sees of the step that an event leads to; empty where nothing is decided. */
    private static Optional<Set<String>> asked(Scheduler scheduler, Scenario story, Event event) {
        List<Set<String>> begun = new ArrayList<>();
        StepListener listener = new StepListener() {
            @Override
            public void rulesStand(Supplier<List<SafetyRule>> rules) {
                assertThat(rules.get()).hasSize(5);
                begun.add(new TreeSet<>());
            }

            @Override
            public void needed(Map<ServiceId, ReplicaNeed> needs) {
                needs.keySet().forEach(service -> begun.get(0).add(service.value()));
            }
        };
        scheduler.step(story.state(), next(story.state(), event), listener);
        return begun.stream().findFirst();
    }

    private static DomainEvent next(ClusterState state, Event event) {
        return new DomainEvent(DOMAIN, state.epoch(), state.eventSequence() + 1, event.at(), Optional.empty(), event);
    }

    private static DemandForecast forecast(String service, Instant at, double p99) {
        return new DemandForecast(
                new ServiceId(service),
                DOMAIN,
                at,
                ofMinutes(1),
                "test",
                List.of(new HorizonQuantiles(ofMinutes(10), 0, 1, 2, p99)),
                Optional.empty(),
                Optional.empty());
    }

    @Test
    void aRateOfAServiceThatHasWhatItNeedsLeadsToNothing() {
        Scenario story = content(DEEPBOOT);

        assertThat(asked(DEEPBOOT, story, story.rateRecord("chat", 6, 9))).isEmpty();
        assertThat(asked(DEEPBOOT, story, story.rateRecord("unknown", 6, 9))).isEmpty();
        assertThat(asked(DEEPBOOT, story, new Tick(DOMAIN, story.now()))).contains(Set.of("chat", "search"));
    }

    @Test
    void aServiceThatNeedsMoreIsServedAlone() {
        Scenario story = content(DEEPBOOT);

        assertThat(asked(DEEPBOOT, story, story.rateRecord("chat", 15, 9))).contains(Set.of("chat"));
    }

    @Test
    void allServicesAreLookedAtWhereAPlanIsDue() {
        Scenario story = content(DEEPBOOT);
        Instant plan = story.state().nextPlanAt().orElseThrow();
        story.after(Duration.between(story.now(), plan).minusMillis(1));
        RequestRate early = story.rateRecord("chat", 15, 9);
        assertThat(asked(DEEPBOOT, story, early)).contains(Set.of("chat"));

        RequestRate due = new RequestRate(
                early.service(),
                DOMAIN,
                early.source(),
                early.bootId(),
                9,
                plan.minusSeconds(15),
                plan,
                RequestRate.Requests.answered(225),
                RequestRate.Latency.NOT_MEASURED,
                List.of(),
                List.of());
        assertThat(asked(DEEPBOOT, story, due)).contains(Set.of("chat", "search"));
    }

    @Test
    void whereGpusAreCutEveryRateLeadsToALookAtAllServices() {
        Scenario story = content(CUTTING);

        assertThat(asked(CUTTING, story, story.rateRecord("chat", 5, 9))).contains(Set.of("chat", "search"));
    }

    @Test
    void aServiceThatBatchesIsLookedAtAtEveryRate() {
        Scenario story = content(DEEPBOOT);
        story.served("chat", 5, 0.1, List.of(new BatchTimes(Optional.empty(), 4, 0, 10, 20.0)));

        assertThat(asked(DEEPBOOT, story, story.rateRecord("chat", 5, 9))).contains(Set.of("chat"));
        assertThat(asked(DEEPBOOT, story, story.rateRecord("search", 5, 9))).isEmpty();
    }

    @Test
    void aForecastCountsOnlyForAPolicyThatLooksAheadAndOnlyWhereItAsksForMore() {
        Scheduler ahead = new Scheduler(Policies.parse("lendstream"), SchedulerSettings.DEFAULTS);
        Scenario story = content(DEEPBOOT);
        Scenario looking = content(ahead);

        assertThat(asked(DEEPBOOT, story, forecast("chat", story.now(), 25))).isEmpty();
        assertThat(asked(ahead, looking, forecast("chat", looking.now(), 5))).isEmpty();
        assertThat(asked(ahead, looking, forecast("chat", looking.now(), 25))).contains(Set.of("chat"));
    }

    @Test
    void whatChangesNothingThatMattersLeadsToNothing() {
        Scenario story =
                content(DEEPBOOT).node("train", Pool.TRAINING, 1).job("a", 1).settled();
        while (story.job("a").gpus() == 0) {
            story.after(ofSeconds(15)).settled();
        }
        story.settled().progress("a", JobPhase.RUNNING);
        assertThat(story.last()).isEmpty();
        long before = story.state().eventSequence();

        story.progress("a", JobPhase.RUNNING).sample("infer", Optional.empty());

        assertThat(story.last()).isEmpty();
        assertThat(story.state().eventSequence()).isEqualTo(before + 2);
        assertThat(story.job("a").lastEvent()).isEqualTo(before + 1);
    }

    /** Two nodes, of which one is silent for so long that nothing is changed. */
    private static Scenario deaf(Scenario story) {
        story.node("train", Pool.TRAINING, 2).node("infer", Pool.INFERENCE, 1).settled();
        story.after(ofMinutes(5)).settled();
        story.sample("train", Optional.empty()).sample("infer", Optional.empty());
        return story.after(ofSeconds(61));
    }

    @Test
    void whileTooFewNodesReportAChangeStillBringsTheNextPlanForward() {
        Scenario story = deaf(Scenario.of("deepboot"));
        Instant rest = story.state().nextPlanAt().orElseThrow();
        assertThat(rest).as("nothing to plan for").isAfter(story.now().plus(ofMinutes(10)));

        story.job("a", 2);
        story.tell(new Tick(DOMAIN, story.now()));

        assertThat(story.state().nextPlanAt()).contains(START.plusSeconds(420));
        story.after(ofMinutes(1));
        assertThat(story.last().get(0).reason().text())
                .isEqualTo(
                        "no training plan is made: 2 of 2 nodes do not report, more than 40 %, so the fault is likely in the reporting path");
        assertThat(story.job("a").gpus()).isZero();
    }

    @Test
    void whileTooFewNodesReportAServiceIsGivenNothing() {
        Scenario story = deaf(Scenario.of("deepboot"));

        story.service("chat", 1);
        assertThat(story.last()).isEmpty();

        story.sample("infer", Optional.empty()).sample("train", Optional.empty());
        assertThat(story.decisions().get(0).action().target())
                .as("at once when they report again")
                .isEqualTo("chat");
    }

    @Test
    void adviceFollowsWhatWasObservedAndDeadlinesAreKept() {
        Scenario story =
                Scenario.of("deepboot").node("infer", Pool.INFERENCE, 1).service("chat", 1);
        assertThat(story.owner("infer-g0")).isInstanceOf(Owner.Binding.class);
        story.control(ControlCommand.Kind.ADVISORY_ON).after(ofSeconds(16));

        assertThat(story.owner("infer-g0"))
                .isEqualTo(new Owner.Quarantined("no actuator reported it as bound in time (test/1/1)"));
        assertThat(story.decisions()).hasSize(1);
    }

    @Test
    void aJobFollowsTheLossOfItsGpuThoughDecisionsAreOnlyAdvice() {
        Scenario story = trainingOnTwo();
        story.control(ControlCommand.Kind.ADVISORY_ON).sample("train", Optional.of(79));

        assertThat(story.job("a").allocation().gpus()).isEmpty();
        assertThat(story.last()).isEmpty();
    }

    private static Scenario trainingOnTwo() {
        Scenario story = Scenario.of("deepboot").node("train", Pool.TRAINING, 2).job("a", 2);
        for (int i = 0; i < 40 && story.job("a").gpus() < 2; i++) {
            story.after(ofSeconds(15)).settled().progress("a", JobPhase.RUNNING).settled();
        }
        assertThat(story.job("a").gpus()).isEqualTo(2);
        return story;
    }

    @Test
    void aStartedSchedulerIsDescribedByItsLog() {
        Optional<Instant> from = Optional.of(START.plusSeconds(5));
        Scheduler scheduler = new Scheduler(Policies.parse("lendstream"), SchedulerSettings.DEFAULTS.withAfe(false))
                .decidingFrom(from)
                .planningAt(ofSeconds(15));

        SchedulerStarted started = scheduler.started(Scenario.of("deepboot").state(), START);

        assertThat(started)
                .isEqualTo(new SchedulerStarted(
                        DOMAIN,
                        START,
                        2,
                        scheduler.policy().spec(),
                        SchedulerSettings.DEFAULTS
                                .withAfe(false)
                                .withPlanPhase(ofSeconds(15))
                                .toMap(),
                        from));
        assertThat(Scheduler.of(started)).isEqualTo(scheduler);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 4})
    void anEventThatRepeatsOrLeavesAGapIsRefused(long sequence) {
        Scenario story = Scenario.of("deepboot").service("chat", 0);
        Event tick = new Tick(DOMAIN, story.now());

        assertThat(story.state().eventSequence()).isEqualTo(2);
        assertThatThrownBy(() -> DEEPBOOT.step(
                        story.state(), new DomainEvent(DOMAIN, 1, sequence, story.now(), Optional.empty(), tick)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("event %d of domain test cannot follow event 2: the log has a gap or repeats", sequence);
    }

    @Test
    void theNextTickOfASchedulerThatCatchesUpIsWhenItBeginsToDecide() {
        Instant from = START.plusSeconds(300);
        Scheduler late = DEEPBOOT.decidingFrom(Optional.of(from));
        Scenario story = new Scenario(late).node("infer", Pool.INFERENCE, 1);
        assertThat(late.nextTimer(story.state())).contains(from);

        story.service("chat", 1);
        assertThat(story.last()).isEmpty();
        story.after(ofMinutes(5));

        assertThat(story.last()).extracting(Decision::at).containsExactly(from);
        assertThat(late.nextTimer(story.state())).as("of the replica").contains(from.plusSeconds(16));
    }

    @Test
    void aJobLosesAGpuThatFailedBeforeItsSchedulerBeginsToDecide() {
        Scenario story = trainingOnTwo();
        Scheduler late = DEEPBOOT.decidingFrom(Optional.of(story.now().plusSeconds(60)));
        GpuId lost = new GpuId("train-g0");
        ActuationReport release = story.report(
                story.decisions().get(0).id(),
                Outcome.RELEASED,
                List.of(lost),
                story.owner("train-g0").holder());
        story.after(ofSeconds(1));

        ActuationReport later = new ActuationReport(
                DOMAIN,
                release.decision(),
                release.actuator(),
                story.now(),
                release.outcome(),
                release.gpus(),
                release.tenant(),
                release.timings(),
                "");
        Step step = late.step(story.state(), next(story.state(), later));

        assertThat(step.decisions()).isEmpty();
        assertThat(step.state().jobs().stream()
                        .findFirst()
                        .orElseThrow()
                        .allocation()
                        .gpus())
                .containsExactly(new GpuId("train-g1"));
    }
}
