package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.StartTimes;
import io.lendstream.core.event.Timings;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.StartUp;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Start-up times are learned from reports of actuators, and count instead of the declared 8 s. */
class StartReportsTest {
    private static final ServiceId CHAT = new ServiceId("chat");
    private static final SchedulerSettings LEARNS = SchedulerSettings.DEFAULTS.withLearn(true);
    private static final Duration NOTICE = LEARNS.notice();

    private Scenario story = story("deepboot", LEARNS);

    private static Scenario story(String policy, SchedulerSettings settings) {
        return new Scenario(new Scheduler(Policies.parse(policy), settings)).node("infer", Pool.INFERENCE, 12);
    }

    private static ServiceState service(Scenario story) {
        return story.state().services().require(CHAT);
    }

    private static Decision start(Scenario story) {
        return story.decisions().stream()
                .filter(decision -> decision.action().asServe().isPresent())
                .reduce((first, last) -> last)
                .orElseThrow();
    }

    private static List<GpuId> gpus(Decision start) {
        return start.action().asServe().map(Action.Serve::gpus).orElseThrow();
    }

    private static ActuationReport report(
            Scenario story, Decision start, List<GpuId> gpus, Outcome outcome, Duration took) {
        return new ActuationReport(
                Scenario.DOMAIN,
                start.id(),
                "actuator",
                story.now(),
                outcome,
                gpus,
                Optional.of(new Tenant.Service(CHAT)),
                new Timings(Optional.empty(), Optional.empty(), Optional.of(took), Optional.empty()),
                "");
    }

    /** One more replica starts in some time. */
    private static void startsIn(Scenario story, Duration took) {
        int floor = service(story).spec().floorReplicas() + 1;
        InferenceService now = service(story).spec();
        story.tell(new InferenceService(
                now.service(),
                now.domain(),
                story.now(),
                now.models(),
                now.slo(),
                now.replicaCapacityPerSecond(),
                now.replicaConcurrency(),
                floor,
                now.warmUp(),
                now.sliceMemoryBytes(),
                now.queue(),
                now.hardware()));
        Decision start = start(story);
        story.after(took).tell(report(story, start, gpus(start), Outcome.BOUND, took));
    }

    private static Duration given(Scenario story) {
        Decision start = start(story);
        return Duration.between(start.at(), start.deadline());
    }

    @Test
    void aLongerStartCountsAtOnceAndAShorterOneFromFiveOn() {
        story.service("chat", 0);
        startsIn(story, ofSeconds(20));
        assertThat(service(story).timed().warmUp()).isEqualTo(ofSeconds(20));

        story = story("deepboot", LEARNS).service("chat", 0);
        for (int i = 0; i < StartUp.ENOUGH - 1; i++) {
            startsIn(story, ofSeconds(2));
        }
        assertThat(service(story).timed().warmUp()).isEqualTo(ofSeconds(8));
        startsIn(story, ofSeconds(2));
        assertThat(service(story).timed().warmUp()).isEqualTo(ofSeconds(2));
        assertThat(service(story).spec().warmUp()).as("as declared").isEqualTo(ofSeconds(8));
    }

    @Test
    void nothingIsLearnedUnlessTheSettingIsOn() {
        story = story("deepboot", SchedulerSettings.DEFAULTS).service("chat", 0);
        startsIn(story, ofSeconds(15));

        assertThat(service(story).startUps()).isEmpty();
        assertThat(given(story)).as("twice the declared time").isEqualTo(ofSeconds(16));
        assertThat(SchedulerSettings.DEFAULTS.toMap()).doesNotContainKey("learn");
        assertThat(SchedulerSettings.of(LEARNS.toMap())).isEqualTo(LEARNS);
        assertThat(SchedulerSettings.keys()).contains("learn");
    }

    /** A setting that is switched off again has effect, although the times are still in the state. */
    @Test
    void learnedTimesCountOnlyWhileTheSettingIsOn() {
        story.service("chat", 0);
        startsIn(story, ofSeconds(20));

        assertThat(LEARNS.timed(service(story)).warmUp()).isEqualTo(ofSeconds(20));
        assertThat(SchedulerSettings.DEFAULTS.timed(service(story)).warmUp()).isEqualTo(ofSeconds(8));
    }

    @Test
    void aStartGetsThriceAsLongUntilEnoughAreMeasured() {
        story.service("chat", 1);
        assertThat(given(story)).isEqualTo(ofSeconds(48));
        story.settled();

        for (int i = 0; i < StartUp.ENOUGH; i++) {
            startsIn(story, ofSeconds(6));
        }
        startsIn(story, ofSeconds(6));
        assertThat(given(story)).isEqualTo(ofSeconds(12));
    }

    @Test
    void aStartWithoutAReportIsGivenUpOnceThatTimeIsOver() {
        story.service("chat", 1).after(ofSeconds(47));
        assertThat(story.last()).isEmpty();

        story.after(ofSeconds(1));
        assertThat(story.last().get(0).reason().text()).contains("it did not start in time, so another GPU is tried");
        assertThat(service(story).startUps())
                .as("no actuator has started anything")
                .isEmpty();
    }

    @Test
    void severalReplicasInAReportCountOnce() {
        story.service("chat", 5);
        Decision start = start(story);
        story.after(ofSeconds(3)).tell(report(story, start, gpus(start), Outcome.BOUND, ofSeconds(3)));

        assertThat(gpus(start)).hasSize(5);
        assertThat(service(story)
                        .startUp(Optional.empty(), Optional.empty(), false)
                        .millis())
                .containsExactly(3000L);
    }

    @Test
    void aReportThatComesAgainCountsOnce() {
        story.service("chat", 1);
        Decision start = start(story);
        ActuationReport bound = report(story, start, gpus(start), Outcome.BOUND, ofSeconds(3));
        story.tell(bound).tell(bound);

        assertThat(service(story)
                        .startUp(Optional.empty(), Optional.empty(), false)
                        .millis())
                .hasSize(1);
    }

    @Test
    void aReportWithoutATimeCountsNotAtAll() {
        story.service("chat", 1).settled();

        assertThat(service(story).startUps()).isEmpty();
    }

    /** Whether the scheduler has given the start up before the report, or not yet. */
    @Test
    void aStartThatRanOutOfTimeTakesAtLeastThatTime() {
        for (Duration late : List.of(Duration.ZERO, ofSeconds(5))) {
            story = story("deepboot", LEARNS).service("chat", 1);
            Decision start = start(story);
            story.withoutTicks(ofSeconds(47));
            if (!late.isZero()) {
                story.after(late);
            }
            ActuationReport failed = report(
                    story, start, gpus(start), Outcome.FAILED, ofSeconds(47).plus(late));
            story.tell(failed).tell(failed);

            assertThat(service(story).timed().warmUp()).isEqualTo(ofSeconds(48));
            story.settled();
            startsIn(story, ofSeconds(1));
            assertThat(given(story)).isEqualTo(ofSeconds(96));
        }
    }

    @Test
    void aStartThatFailsEarlySaysNothingAboutTheTime() {
        story.service("chat", 1);
        Decision start = start(story);
        story.after(ofSeconds(9)).tell(report(story, start, gpus(start), Outcome.FAILED, ofSeconds(9)));

        assertThat(service(story).startUps()).isEmpty();
    }

    @Test
    void aStartThatRanOutOfTimeCountsForTenMinutesAtMost() {
        story.service("chat", 1);
        for (int i = 0; i < 12; i++) {
            Duration given = new BindTime(LEARNS).of(service(story), Optional.empty(), Optional.empty());
            Decision start = start(story);
            story.tell(report(story, start, gpus(start), Outcome.FAILED, given));
        }

        assertThat(service(story).timed().warmUp()).isEqualTo(ofMinutes(10));
    }

    @Test
    void aNewDeclarationOfTimesDropsWhatWasMeasured() {
        story.service("chat", 0);
        startsIn(story, ofSeconds(20));
        story.tell(service(story).spec().warmingUpIn(ofSeconds(8)));
        assertThat(service(story).timed().warmUp()).as("the same again").isEqualTo(ofSeconds(20));

        story.tell(service(story).spec().warmingUpIn(ofSeconds(9)));
        assertThat(service(story).timed().warmUp()).isEqualTo(ofSeconds(9));
    }

    @Test
    void theTimeIsLearnedForEachKindThatTheServiceDeclares() {
        story = story("deepboot", LEARNS.withModel(ClusterModel.KINDS))
                .node("slow", Pool.INFERENCE, 4, "NVIDIA L4", 24);
        KindId fast = story.state().gpus().require(new GpuId("infer-g0")).kind().orElseThrow();
        KindId slow = story.state().gpus().require(new GpuId("slow-g0")).kind().orElseThrow();
        story.tell(story.serviceRecord("chat", 0)
                .onKinds(List.of(
                        new KindCapacity(fast, Optional.empty(), Optional.empty(), Optional.empty()),
                        new KindCapacity(slow, Optional.empty(), Optional.empty(), Optional.of(ofSeconds(30))))));
        startsIn(story, ofSeconds(20));

        InferenceService timed = service(story).timed();
        assertThat(timed.warmUpOn(Optional.of(fast))).isEqualTo(ofSeconds(20));
        assertThat(timed.warmUpOn(Optional.of(slow))).isEqualTo(ofSeconds(30));
        assertThat(service(story).longestStart()).isEqualTo(ofSeconds(30));
    }

    @Test
    void startsFromCacheAreLearnedApart() {
        story.tell(story.serviceRecord("chat", 0)
                .inShapes(List.of(ReplicaShape.of("one", 1, 1, 10, ofSeconds(40))
                        .starting(new StartTimes(ofSeconds(40), Optional.of(ofSeconds(5)), Optional.empty())))));
        startsIn(story, ofSeconds(50));
        story.after(ofSeconds(1));
        startsIn(story, ofSeconds(9));

        assertThat(service(story).timed().singleStarts())
                .contains(new StartTimes(ofSeconds(50), Optional.of(ofSeconds(9)), Optional.empty()));
    }

    @Test
    void aReplicaOfSeveralGpusCountsOnceItIsWhole() {
        story.actuator("actuator", io.lendstream.core.event.Abilities.USUAL);
        story.tell(story.serviceRecord("chat", 1).inShapes(List.of(ReplicaShape.of("two", 2, 1, 10, ofSeconds(40)))));
        Decision start = start(story);
        List<GpuId> gpus = gpus(start);
        story.after(ofSeconds(50)).tell(report(story, start, gpus.subList(0, 1), Outcome.BOUND, ofSeconds(50)));
        assertThat(service(story).startUps()).isEmpty();

        story.after(ofSeconds(10)).tell(report(story, start, gpus.subList(1, 2), Outcome.BOUND, ofSeconds(60)));
        assertThat(service(story).timed().hardware().shapes().get(0).starts().cold())
                .isEqualTo(ofSeconds(60));
        assertThat(service(story).longestStart()).isEqualTo(ofSeconds(60));
    }

    /** The forecast rises after the notice and the declared time, but before the measured one. */
    @Test
    void theLeadOfForecastsHasTheLearnedTimeFromTheReportOn() {
        story = story("lendstream", LEARNS).service("chat", 1);
        Decision start = start(story);
        story.rate("chat", 5).tell(risingAfter(story, NOTICE.plus(ofSeconds(30))));
        assertThat(start(story)).isEqualTo(start);

        story.tell(report(story, start, gpus(start), Outcome.BOUND, ofSeconds(40)));

        assertThat(gpus(start(story)))
                .as("replicas for 40 requests/s beside the first")
                .hasSizeGreaterThan(2);
        assertThat(start(story).reason().numbers())
                .containsEntry("startUpSeconds", 40.0)
                .containsEntry("startUpsMeasured", 1.0);
    }

    private static DemandForecast risingAfter(Scenario story, Duration flat) {
        return new DemandForecast(
                CHAT,
                Scenario.DOMAIN,
                story.now(),
                ofMinutes(1),
                "test",
                List.of(new HorizonQuantiles(flat, 0, 5, 5, 5), new HorizonQuantiles(ofMinutes(5), 0, 40, 40, 40)),
                Optional.empty(),
                Optional.empty());
    }
}
