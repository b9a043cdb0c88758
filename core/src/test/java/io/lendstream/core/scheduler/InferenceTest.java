package io.lendstream.core.scheduler;

import static io.lendstream.core.scheduler.Moment.NOW;
import static io.lendstream.core.scheduler.Moment.gpus;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Tick;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.SlicePlan;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which GPUs services are given, in which order, and why. 5, 15, 25 and 34 requests/s need 1, 2, 3 and 4 replicas. */
class InferenceTest {
    private static final SchedulerSettings SETTINGS = SchedulerSettings.DEFAULTS;

    private final Moment moment = new Moment().node("infer", Pool.INFERENCE, 5).service("chat", 0);
    private final List<Integer> reclaimed = new ArrayList<>();
    private final Map<ServiceId, ReplicaNeed> needs = new TreeMap<>();

    private final StepListener listener = new StepListener() {
        @Override
        public void needed(Map<ServiceId, ReplicaNeed> needed) {
            needs.putAll(needed);
        }

        @Override
        public void reclaimed(ClusterView view, int count, List<GpuId> victims) {
            reclaimed.add(count);
        }
    };

    private StepBuilder served(String policy, Duration after) {
        StepBuilder builder = moment.draft(new Tick(Scenario.DOMAIN, NOW.plus(after)), listener);
        inference(builder, policy).serve();
        return builder;
    }

    /** A step in which all services were given what they need. */
    private StepBuilder served() {
        return served("deepboot", Duration.ZERO);
    }

    private static Inference inference(StepBuilder builder, String policy) {
        return new Inference(builder, Policies.parse(policy), SETTINGS);
    }

    private static List<Decision> decisions(StepBuilder builder) {
        return builder.finished().decisions();
    }

    private static List<Action> actions(StepBuilder builder) {
        return decisions(builder).stream().map(Decision::action).toList();
    }

    private static Owner owner(StepBuilder builder, String gpu) {
        return builder.gpu(new GpuId(gpu)).owner();
    }

    private static Action serve(String service, boolean warm, String... gpus) {
        return new Action.Serve(new ServiceId(service), gpus(gpus), warm);
    }

    private static Action idle(String service, String... gpus) {
        return new Action.Idle(new ServiceId(service), gpus(gpus), NOW.plusSeconds(30));
    }

    @Test
    void startsReplicasOnFreeGpusAndSaysWhy() {
        moment.rate("chat", 15);
        long rate = moment.state().eventSequence();

        StepBuilder builder = served();

        assertThat(decisions(builder)).singleElement().satisfies(start -> {
            assertThat(start.action()).isEqualTo(serve("chat", false, "infer-g0", "infer-g1"));
            assertThat(start.deadline()).as("twice the warm-up of 8 s").isEqualTo(NOW.plusSeconds(16));
            assertThat(start.reason())
                    .isEqualTo(new Reason(
                            "demand",
                            "chat is short of 2 replicas: 2 needed for the current load, 0 running; it starts 2 replicas",
                            Map.of(
                                    "needed", 2.0,
                                    "neededNow", 2.0,
                                    "neededAhead", 0.0,
                                    "floor", 0.0,
                                    "replicas", 0.0,
                                    "short", 2.0,
                                    "running", 0.0,
                                    "starting", 0.0,
                                    "requestsPerSecond", 15.0),
                            List.of(rate, builder.eventSequence())));
        });
        assertThat(owner(builder, "infer-g1"))
                .isEqualTo(new Owner.Binding(
                        Moment.service("chat"), Moment.decision(1), NOW.plusSeconds(16), Optional.empty(), 1));
        assertThat(owner(builder, "infer-g2")).isEqualTo(new Owner.Free());
        assertThat(needs).containsExactly(Map.entry(new ServiceId("chat"), new ReplicaNeed(2, 0, 0)));
    }

    private void forecast(double p99) {
        moment.observe(new DemandForecast(
                new ServiceId("chat"),
                Scenario.DOMAIN,
                NOW,
                ofMinutes(1),
                "test",
                List.of(new HorizonQuantiles(ofMinutes(10), 0, p99, p99, p99)),
                Optional.empty(),
                Optional.empty()));
    }

    @Test
    void aPolicyThatLooksAheadFollowsTheForecastAndRestsOnIt() {
        moment.rate("chat", 15);
        forecast(25);
        long last = moment.state().eventSequence();

        StepBuilder builder = served("lendstream", Duration.ZERO);

        assertThat(decisions(builder)).singleElement().satisfies(start -> {
            assertThat(start.action().gpus()).hasSize(3);
            assertThat(start.reason().code()).isEqualTo("forecast");
            assertThat(start.reason().text())
                    .isEqualTo(
                            "chat is short of 3 replicas: 3 needed (2 for the current load, 3 by the forecast for 00:10 UTC), 0 running; it starts 3 replicas");
            assertThat(start.reason().numbers()).containsEntry("neededAhead", 3.0);
            assertThat(start.reason().inputs()).containsExactly(last - 1, last, builder.eventSequence());
        });
        assertThat(decisions(served())).singleElement().satisfies(start -> {
            assertThat(start.action().gpus()).as("one that does not").hasSize(2);
            assertThat(start.reason().inputs()).containsExactly(last - 1, builder.eventSequence());
        });
    }

    @Test
    void withoutAForecastThePeakOfTheLastMinutesIsExpected() {
        moment.rate("chat", 25).rate("chat", 5);

        assertThat(decisions(served("lendstream", Duration.ZERO)))
                .singleElement()
                .satisfies(start -> {
                    assertThat(start.reason().code()).isEqualTo("forecast");
                    assertThat(start.reason().text())
                            .startsWith(
                                    "chat is short of 3 replicas: 3 needed (1 for the current load, 3 by the peak of the last 10 minutes)");
                });
    }

    @ParameterizedTest
    @CsvSource({"15, 0, demand", "24, 3, demand", "24, 2, forecast", "0, 3, demand"})
    void theForecastIsTheCauseOnlyWhereNothingElseAsksForAsMuch(double expected, int floor, String cause) {
        moment.service("chat", floor).rate("chat", 15);
        forecast(expected);

        assertThat(decisions(served("lendstream", Duration.ZERO)))
                .singleElement()
                .satisfies(start -> assertThat(start.reason().code()).isEqualTo(cause));
    }

    @Test
    void aReplicaGetsTenSecondsToComeUpAtLeast() {
        moment.service("chat", 1, ofSeconds(2))
                .set(builder -> builder.put(builder.gpu(new GpuId("infer-g0")).withFailedBinds(1)))
                .warmHits(2, "infer-g0");

        StepBuilder builder = served();

        assertThat(owner(builder, "infer-g0"))
                .isEqualTo(new Owner.Binding(
                        Moment.service("chat"), Moment.decision(1), NOW.plusSeconds(10), Optional.empty(), 2));
        assertThat(builder.gpu(new GpuId("infer-g0")).warmHits()).isZero();
        assertThat(decisions(builder).get(0).deadline()).isEqualTo(NOW.plusSeconds(10));
    }

    /** One replica sleeps, and two are protected, of which the second was needed again more often. */
    private void warmReplicas() {
        moment.owned(Moment.sleeping("chat"), "infer-g0")
                .owned(Moment.warm("chat", ofSeconds(30)), "infer-g1", "infer-g2")
                .warmHits(5, "infer-g0")
                .warmHits(1, "infer-g1")
                .warmHits(2, "infer-g2");
    }

    @Test
    void aProtectedReplicaThatIsOftenNeededIsPutToWorkFirst() {
        warmReplicas();
        moment.rate("chat", 5);

        StepBuilder builder = served();

        assertThat(decisions(builder)).singleElement().satisfies(wake -> {
            assertThat(wake.action()).isEqualTo(serve("chat", true, "infer-g2"));
            assertThat(wake.deadline()).isEqualTo(NOW.plusSeconds(45));
            assertThat(wake.reason().text())
                    .isEqualTo(
                            "chat is short of 1 replica: 1 needed for the current load, 0 running; it wakes 1 warm replica");
        });
        assertThat(builder.gpu(new GpuId("infer-g2")).warmHits()).isEqualTo(3);
        assertThat(owner(builder, "infer-g2")).isEqualTo(Moment.serving("chat"));
        assertThat(owner(builder, "infer-g1")).isEqualTo(Moment.warm("chat", ofSeconds(30)));
    }

    @Test
    void protectedReplicasArePutToWorkBeforeOneThatSleeps() {
        warmReplicas();
        moment.rate("chat", 15);
        assertThat(actions(served())).containsExactly(serve("chat", true, "infer-g1", "infer-g2"));

        moment.rate("chat", 25);
        StepBuilder builder = served();
        assertThat(actions(builder)).containsExactly(serve("chat", true, "infer-g0", "infer-g1", "infer-g2"));
        assertThat(builder.gpu(new GpuId("infer-g0")).warmHits())
                .as("of a replica that slept")
                .isZero();
    }

    @Test
    void whatWarmReplicasDoNotCoverIsStartedAndNoMore() {
        moment.owned(Moment.serving("chat"), "infer-g0")
                .owned(Moment.binding(Moment.service("chat"), ofSeconds(16)), "infer-g1")
                .owned(Moment.sleeping("chat"), "infer-g4")
                .rate("chat", 34);

        assertThat(actions(served()))
                .containsExactly(serve("chat", true, "infer-g4"), serve("chat", false, "infer-g2"));
    }

    @Test
    void replicasBeyondTheNeedAreProtectedForLongerWhereTheyWereNeededAgain() {
        moment.owned(Moment.serving("chat"), "infer-g0", "infer-g1", "infer-g2")
                .warmHits(1, "infer-g2")
                .rate("chat", 5);

        StepBuilder builder = served();

        assertThat(owner(builder, "infer-g0")).isEqualTo(Moment.serving("chat"));
        assertThat(owner(builder, "infer-g1"))
                .isEqualTo(new Owner.Protected(new ServiceId("chat"), NOW.plusSeconds(31), 0));
        assertThat(owner(builder, "infer-g2"))
                .isEqualTo(new Owner.Protected(new ServiceId("chat"), NOW.plusSeconds(46), 1));
        assertThat(actions(builder)).isEmpty();
    }

    @Test
    void aReplicaThatComesUpNeitherRestsNorLetsAnotherRest() {
        moment.owned(Moment.serving("chat"), "infer-g0")
                .owned(Moment.binding(Moment.service("chat"), ofSeconds(16)), "infer-g1")
                .rate("chat", 5);

        StepBuilder builder = served();

        assertThat(owner(builder, "infer-g0")).isEqualTo(Moment.serving("chat"));
        assertThat(owner(builder, "infer-g1")).isInstanceOf(Owner.Binding.class);
    }

    @Test
    void aReplicaForWhichDemandSwingsWorksForTenSecondsAtLeast() {
        moment.owned(Moment.serving("chat"), "infer-g0").warmHits(3, "infer-g0").rate("chat", 0);

        assertThat(owner(served("deepboot", ofMillis(9_999)), "infer-g0")).isEqualTo(Moment.serving("chat"));
        assertThat(owner(served("deepboot", ofSeconds(10)), "infer-g0"))
                .isEqualTo(new Owner.Protected(new ServiceId("chat"), NOW.plusSeconds(86), 3));
        moment.warmHits(2, "infer-g0");
        assertThat(owner(served("deepboot", ofSeconds(1)), "infer-g0")).isInstanceOf(Owner.Protected.class);
    }

    @Test
    void theFloorOfOneServiceComesBeforeWhatAnotherLacksBeyondItsOwn() {
        moment.service("chat", 1)
                .service("search", 1)
                .owned(Moment.serving("chat"), "infer-g0")
                .owned(Moment.training("a"), "infer-g1", "infer-g2", "infer-g3")
                .rate("chat", 25);

        assertThat(actions(served())).containsExactly(serve("search", false, "infer-g4"));
    }

    @Test
    void onlyFreeGpusOfInferenceThatCanBeReachedAreGiven() {
        Moment other = new Moment().node("away", Pool.INFERENCE, 1).node("infer", Pool.INFERENCE, 1);
        other.node("train", Pool.TRAINING, 3)
                .status("away", NodeStatus.UNAVAILABLE)
                .service("chat", 3);
        StepBuilder builder = other.after(Duration.ZERO);

        inference(builder, "deepboot").serve();

        assertThat(actions(builder)).containsExactly(serve("chat", false, "infer-g0"));
    }

    /** All five GPUs are lent to a job, which has one of training, too. */
    private void allLent() {
        moment.node("train", Pool.TRAINING, 1)
                .job("a", 6)
                .allocated("a", "train-g0", "infer-g0", "infer-g1", "infer-g2", "infer-g3", "infer-g4")
                .owned(Moment.training("a"), "train-g0")
                .owned(Moment.lent("a", ofMinutes(10)), "infer-g0", "infer-g1", "infer-g2", "infer-g3", "infer-g4");
    }

    @Test
    void theNeedBeyondFreeGpusIsReclaimedForTheServiceWithTheLatestRate() {
        allLent();
        moment.service("search", 0).rate("search", 15).rate("chat", 5);
        long rate = moment.state().eventSequence();

        StepBuilder builder = served();

        assertThat(reclaimed).containsExactly(3);
        assertThat(decisions(builder)).singleElement().satisfies(reclaim -> {
            assertThat(reclaim.action()).isInstanceOfSatisfying(Action.Reclaim.class, back -> {
                assertThat(back.job()).isEqualTo(new JobId("a"));
                assertThat(back.gpus()).hasSize(3);
                assertThat(back.by()).isEqualTo(NOW.plusSeconds(45));
                assertThat(back.allocation().gpus()).hasSize(3);
            });
            assertThat(reclaim.reason().code()).isEqualTo("demand");
            assertThat(reclaim.reason().text())
                    .isEqualTo(
                            "a gives 3 GPUs back and goes on with 3 GPUs: chat is short of 1 replica (1 needed for the current load, 0 running); policy deepboot takes these loans first");
            assertThat(reclaim.reason().numbers())
                    .containsEntry("gpusBefore", 6.0)
                    .containsEntry("gpusAfter", 3.0)
                    .containsEntry("short", 1.0);
            assertThat(reclaim.reason().inputs()).containsExactly(rate, builder.eventSequence());
        });
        assertThat(builder.changesPlans())
                .as("what the job has is not what was planned")
                .isTrue();
    }

    @Test
    void aServiceThatWasGivenAllItLackedIsNotTheOneForWhichMoreIsReclaimed() {
        allLent();
        moment.owned(new Owner.Free(), "infer-g0")
                .service("search", 0)
                .rate("search", 15)
                .rate("chat", 5);

        StepBuilder builder = served();

        assertThat(reclaimed).containsExactly(2);
        assertThat(actions(builder).get(0)).isEqualTo(serve("chat", false, "infer-g0"));
        assertThat(decisions(builder).get(1).reason().text())
                .startsWith("a gives 2 GPUs back and ")
                .contains(": search is short of 2 replicas (2 needed for the current load, 0 running); ");
    }

    @Test
    void gpusThatAreAboutToBeFreeAreNotReclaimedTwice() {
        allLent();
        moment.owned(Moment.releasing(Moment.job("a"), ofSeconds(90)), "infer-g0", "infer-g1");

        moment.rate("chat", 15);
        assertThat(actions(served())).isEmpty();
        assertThat(reclaimed).isEmpty();

        moment.rate("chat", 25);
        served();
        assertThat(reclaimed).containsExactly(1);
    }

    @Test
    void whatIsReleasedElsewhereIsNotWaitedFor() {
        allLent();
        moment.node("away", Pool.INFERENCE, 1)
                .owned(Moment.releasing(Moment.job("b"), ofSeconds(90)), "away-g0")
                .status("away", NodeStatus.PAUSED)
                .migNode("cut", Pool.INFERENCE, "3g.40gb@0")
                .owned(Moment.releasing(Moment.job("b"), ofSeconds(90)), "cut-g0/0:4")
                .owned(Moment.releasing(Moment.job("a"), ofSeconds(90)), "train-g0")
                .node("warm", Pool.INFERENCE, 1)
                .service("search", 0)
                .owned(Moment.warm("search", ofSeconds(90)), "warm-g0")
                .rate("chat", 15);

        served();

        assertThat(reclaimed).containsExactly(2);
    }

    @Test
    void sleepingReplicasOfOthersAreStoppedBeforeAnythingIsReclaimed() {
        allLent();
        moment.node("more", Pool.INFERENCE, 2)
                .service("search", 0)
                .owned(Moment.sleeping("search"), "more-g0", "more-g1")
                .rate("search", 0)
                .rate("chat", 15);

        StepBuilder builder = served();

        assertThat(reclaimed).isEmpty();
        assertThat(decisions(builder)).singleElement().satisfies(stop -> {
            assertThat(stop.action()).isEqualTo(idle("search", "more-g0", "more-g1"));
            assertThat(stop.deadline()).isEqualTo(NOW.plusSeconds(30));
            assertThat(stop.reason().text())
                    .isEqualTo(
                            "search idles 2 replicas: their GPUs are free for chat, which is short of 2 replicas (2 needed for the current load, 0 running)");
        });
        assertThat(owner(builder, "more-g0"))
                .isEqualTo(new Owner.Releasing(
                        Moment.service("search"), Moment.decision(1), NOW.plusSeconds(30), NOW.plusSeconds(75)));

        moment.rate("chat", 34);
        served();
        assertThat(reclaimed).as("beside the two that are stopped").containsExactly(2);
    }

    @Test
    void noMoreSleepingReplicasAreStoppedThanAreMissing() {
        moment.service("search", 0)
                .service("vision", 0)
                .owned(Moment.sleeping("search"), "infer-g0", "infer-g1")
                .owned(Moment.sleeping("vision"), "infer-g2", "infer-g3")
                .owned(Moment.serving("chat"), "infer-g4");

        moment.rate("chat", 15);
        assertThat(actions(served())).containsExactly(idle("search", "infer-g0"));
        moment.rate("chat", 34);
        assertThat(actions(served()))
                .containsExactly(idle("search", "infer-g0", "infer-g1"), idle("vision", "infer-g2"));
    }

    @Test
    void aServiceOfWhichOneReplicaSleepsWakesItAndStopsThoseOfOthersForTheRest() {
        moment.service("search", 0)
                .owned(Moment.sleeping("chat"), "infer-g0")
                .owned(Moment.sleeping("search"), "infer-g1")
                .owned(Moment.training("a"), "infer-g2", "infer-g3", "infer-g4")
                .rate("chat", 15);

        assertThat(actions(served())).containsExactly(serve("chat", true, "infer-g0"), idle("search", "infer-g1"));
    }

    @Test
    void loansAreTakenBackJobByJobAndARigidJobIsSuspended() {
        moment.job("a", 2)
                .rigidJob("b", 2)
                .allocated("a", "infer-g0", "infer-g1")
                .allocated("b", "infer-g2", "infer-g3")
                .owned(Moment.lent("a", ofMinutes(10)), "infer-g0", "infer-g1")
                .owned(Moment.lent("b", ofMinutes(10)), "infer-g2", "infer-g3")
                .owned(Moment.training("a"), "infer-g4");
        StepBuilder builder = moment.after(Duration.ZERO);

        new JobChanges(builder, SETTINGS)
                .takeBack(
                        gpus("infer-g4", "infer-g2", "infer-g1"),
                        back -> builder.because(ReasonCode.PLAN, back.inWords(), Map.of(), List.of()));

        assertThat(decisions(builder))
                .extracting(decision -> decision.reason().text())
                .containsExactly("a gives 1 GPU back and goes on with 1 GPU", "b gives 2 GPUs back and waits");
        assertThat(actions(builder))
                .extracting(Action::gpus)
                .containsExactly(gpus("infer-g1"), gpus("infer-g2", "infer-g3"));
        assertThat(builder.changesPlans()).isTrue();
        assertThat(owner(builder, "infer-g4")).as("not lent").isEqualTo(Moment.training("a"));
    }

    private boolean isContentAt(double rate) {
        moment.rate("chat", rate);
        return inference(moment.after(Duration.ZERO), "deepboot").isContent(moment.serviceState("chat"));
    }

    @Test
    void aServiceIsContentWithReplicasThatServeOrComeUpAsItNeedsThem() {
        moment.owned(Moment.serving("chat"), "infer-g0")
                .owned(Moment.binding(Moment.service("chat"), ofSeconds(16)), "infer-g1")
                .owned(Moment.sleeping("chat"), "infer-g2")
                .owned(Moment.serving("search"), "infer-g3");

        assertThat(isContentAt(5)).isFalse();
        assertThat(isContentAt(15)).isTrue();
        assertThat(isContentAt(25)).isFalse();
    }

    @Test
    void aServiceWithAReplicaOnAnInstanceIsAlwaysLookedAt() {
        moment.migNode("cut", Pool.INFERENCE, "3g.40gb@0").owned(Moment.serving("chat"), "cut-g0/0:4");

        assertThat(isContentAt(5)).isFalse();
    }

    @Test
    void aServiceThatIsServedAloneIsGivenNothingForOthers() {
        moment.service("alpha", 2).service("search", 2).rate("chat", 5);
        StepBuilder builder = moment.draft(new Tick(Scenario.DOMAIN, NOW), listener);

        inference(builder, "deepboot").serve(moment.serviceState("chat"));

        assertThat(needs).containsOnlyKeys(new ServiceId("chat"));
        assertThat(actions(builder)).containsExactly(serve("chat", false, "infer-g0"));
    }

    /** The service chat is planned onto instances for 30 requests/s; a 3g.40gb answers 20 of them, and a 7g.80gb 40. */
    private static SlicePlan plan() {
        SlicePlan.Demand demand =
                new SlicePlan.Demand(new ServiceId("chat"), 30, Map.of("3g.40gb", 20.0, "7g.80gb", 40.0));
        return new SlicePlan(NOW, "A100-80GB", List.of(), List.of(demand), 0, NOW, NOW, "for the test");
    }

    /** Two instances and a whole GPU that may be cut, in a domain that shares GPUs by a plan. */
    private void sliced() {
        moment.switchableNode("cut", Pool.INFERENCE, "3g.40gb@0 3g.40gb@4", "").set(builder -> builder.slices(plan()));
    }

    @Test
    void whatInstancesDoNotAnswerIsServedOnWholeGpus() {
        sliced();
        moment.owned(Moment.serving("chat"), "cut-g0/0:4");

        assertThat(actions(servedAt(20))).isEmpty();
        assertThat(actions(servedAt(28))).containsExactly(serve("chat", false, "cut-g1"));
        assertThat(needs).containsEntry(new ServiceId("chat"), new ReplicaNeed(1, 0, 0, Optional.empty(), true));
        assertThat(actions(servedAt(36))).as("beyond 20").containsExactly(serve("chat", false, "cut-g1", "infer-g0"));
    }

    private StepBuilder servedAt(double rate) {
        moment.rate("chat", rate);
        return served();
    }

    @Test
    void anInstanceThatComesUpCountsForWhatIsNeededButNotForWhatMayRest() {
        sliced();
        moment.owned(Moment.serving("chat"), "cut-g0/0:4", "infer-g0", "infer-g1", "infer-g2")
                .owned(Moment.binding(Moment.service("chat"), ofSeconds(16)), "cut-g0/4:4");

        StepBuilder builder = servedAt(20);

        assertThat(actions(builder)).isEmpty();
        assertThat(owner(builder, "infer-g0"))
                .as("10 of the 30 planned requests/s are not answered on instances yet: 2 replicas")
                .isEqualTo(Moment.serving("chat"));
        assertThat(owner(builder, "infer-g1")).isEqualTo(Moment.serving("chat"));
        assertThat(owner(builder, "infer-g2")).isInstanceOf(Owner.Protected.class);
        assertThat(needs).containsEntry(new ServiceId("chat"), new ReplicaNeed(0, 0, 0, Optional.empty(), true));
    }

    @Test
    void aWholeGpuThatMayBeCutCountsAsTheLargestInstanceWhereItServesOrComesUp() {
        sliced();
        moment.owned(Moment.serving("chat"), "cut-g1");
        assertThat(actions(servedAt(40))).isEmpty();
        assertThat(actions(servedAt(45))).containsExactly(serve("chat", false, "infer-g0"));

        moment.owned(new Owner.Free(), "cut-g1").owned(Moment.binding(Moment.service("chat"), ofSeconds(16)), "cut-g1");
        assertThat(actions(servedAt(40))).isEmpty();
    }

    @Test
    void aSleepingReplicaOnAWholeGpuThatMayBeCutIsAWarmReplicaAsAnyOther() {
        sliced();
        moment.owned(Moment.sleeping("chat"), "cut-g1");

        assertThat(actions(servedAt(5))).containsExactly(serve("chat", true, "cut-g1"));
    }

    @Test
    void aReplicaOnAnInstanceOfWhichThePlanKnowsNothingAnswersNothing() {
        moment.migNode("cut", Pool.INFERENCE, "3g.40gb@0").owned(Moment.serving("chat"), "cut-g0/0:4");

        assertThat(actions(servedAt(15))).containsExactly(serve("chat", false, "infer-g0", "infer-g1"));
    }
}
