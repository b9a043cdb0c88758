package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.batching.BatchLatency;
import io.lendstream.core.batching.ModelLatency;
import io.lendstream.core.batching.ServiceBatches;
import io.lendstream.core.batching.SizeHistogram;
import io.lendstream.core.batching.TabulatedLatency;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.SlicePlan;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** When instances are planned again, for how many requests, and when another plan is put in force. */
class SlicePlanningTest {
    private static final ServiceId CHAT = new ServiceId("chat");
    private static final ServiceId SEARCH = new ServiceId("search");
    private static final SchedulerSettings SETTINGS = SchedulerSettings.DEFAULTS.withRepartition(true);

    private String policy = "deepboot";
    private Latencies latencies = Slices.LATENCIES;
    private Scenario story = new Scenario(new Scheduler(new ScriptedPolicy(), SchedulerSettings.DEFAULTS));
    private EditedState state = new EditedState(story);

    private void begin(String service, double perSecond, int gpus) {
        String[] cuts = new String[gpus];
        Arrays.fill(cuts, "");
        story.service(service, 0).migNode("cut", Pool.INFERENCE, cuts).rate(service, perSecond);
        state = new EditedState(story);
    }

    private SlicePlanning planning(StepBuilder builder) {
        return new SlicePlanning(builder, Policies.parse(policy), SETTINGS, latencies);
    }

    private boolean isDue() {
        return planning(state.draft()).isDue();
    }

    /** A plan of one instance that answers 200 requests/s of chat, considered so long ago. */
    private SlicePlan inForce(Duration age) {
        return plan(age, "A100-80GB", List.of(new SlicePlan.Cut(List.of("2g.20gb"), List.of(CHAT))));
    }

    private SlicePlan plan(Duration age, String model, List<SlicePlan.Cut> cuts) {
        return new SlicePlan(
                state.now().minus(age),
                model,
                cuts,
                List.of(new SlicePlan.Demand(CHAT, 100, Map.of("2g.20gb", 200.0))),
                0,
                Instant.EPOCH,
                story.now().minusSeconds(7),
                "the reason of before");
    }

    /** Considers another plan; returns the plan in force then. */
    private SlicePlan planned() {
        StepBuilder builder = state.draft();
        planning(builder).plan(CuttableGpus.of(builder));
        return builder.slices().orElseThrow();
    }

    // When.

    @Test
    void nothingIsPlannedBeforeTheDemandOfEveryServiceIsKnown() {
        begin("chat", 100, 1);
        assertThat(isDue()).isTrue();

        story.service("search", 0);
        state = new EditedState(story);
        assertThat(isDue()).isFalse();
    }

    @Test
    void nothingIsPlannedWhileDemandIsStale() {
        begin("chat", 100, 1);
        state.later(ofSeconds(45));
        assertThat(isDue()).isTrue();

        state.later(ofSeconds(1));
        assertThat(isDue()).isFalse();
    }

    @Test
    void aPlanThatSufficesIsConsideredAgainAfterAPeriod() {
        begin("chat", 100, 1);

        state.slices(inForce(ofMinutes(5).minusMillis(1)));
        assertThat(isDue()).isFalse();
        state.slices(inForce(ofMinutes(5)));
        assertThat(isDue()).isTrue();
    }

    @Test
    void aPlanThatDoesNotSufficeIsLeftAloneForThirtySeconds() {
        begin("chat", 201, 1);

        state.slices(inForce(ofSeconds(30).minusMillis(1)));
        assertThat(isDue()).isFalse();
        state.slices(inForce(ofSeconds(30)));
        assertThat(isDue()).isTrue();
    }

    @Test
    void aPlanThatAnswersJustWhatIsAskedForSuffices() {
        begin("chat", 200, 1);

        state.slices(inForce(ofSeconds(31)));

        assertThat(isDue()).isFalse();
    }

    @Test
    void aPlanForNoKindOfGpuIsConsideredAgainAfterThirtySeconds() {
        begin("chat", 100, 1);

        state.slices(plan(ofSeconds(29), "", List.of(new SlicePlan.Cut(List.of("2g.20gb"), List.of(CHAT)))));
        assertThat(isDue()).isFalse();
        state.slices(plan(ofSeconds(30), "", List.of(new SlicePlan.Cut(List.of("2g.20gb"), List.of(CHAT)))));
        assertThat(isDue()).isTrue();
    }

    @Test
    void aServiceThatThePlanLeavesOutCountsOnceItsLatencyIsKnownAndItHasRequests() {
        begin("chat", 100, 1);
        story.service("search", 0).rate("search", 0);
        story.service("unknown", 0).rate("unknown", 50);
        state = new EditedState(story);
        state.slices(inForce(ofSeconds(31)));
        assertThat(isDue()).isFalse();

        story.after(ofSeconds(15)).rate("search", 10).rate("chat", 100);
        state = new EditedState(story);
        state.slices(inForce(ofSeconds(31)));
        assertThat(isDue()).isTrue();
    }

    @Test
    void aServiceWithAFloorNeedsAnInstanceWithoutRequests() {
        begin("chat", 100, 1);
        story.service("search", 1).rate("search", 0);
        state = new EditedState(story);

        state.slices(inForce(ofSeconds(31)));

        assertThat(isDue()).isTrue();
    }

    @Test
    void aForecastCountsForPoliciesThatLookAheadAndForThreeOfItsStepsOnly() {
        begin("chat", 180, 1);
        story.forecast("chat", 1000);
        state = new EditedState(story);
        state.slices(inForce(ofSeconds(31)));
        assertThat(isDue()).as("under deepboot").isFalse();

        policy = "lendstream";
        assertThat(isDue()).as("180 and 15 %% more are 207").isTrue();

        story.after(ofMinutes(3).minusMillis(1)).rate("chat", 180);
        state = new EditedState(story);
        state.slices(inForce(ofSeconds(31)));
        assertThat(isDue()).as("shortly before three minutes").isTrue();

        story.after(Duration.ofMillis(1)).rate("chat", 180);
        state = new EditedState(story);
        state.slices(inForce(ofSeconds(31)));
        assertThat(isDue()).as("after three minutes").isFalse();
    }

    // For how many requests.

    @Test
    void aServiceIsPlannedForTheGreatestDemandOfLate() {
        begin("chat", 500, 2);
        story.after(ofMinutes(1)).rate("chat", 300);
        state = new EditedState(story);

        assertThat(planned().demand(CHAT).orElseThrow().ratePerSecond()).isEqualTo(500);
    }

    @Test
    void underPoliciesThatLookAheadAServiceIsPlannedForTheForecastUpToThirtyPercentMore() {
        policy = "lendstream";
        begin("chat", 300, 2);
        story.forecast("chat", 330);
        state = new EditedState(story);
        assertThat(planned().demand(CHAT).orElseThrow().ratePerSecond()).isEqualTo(330);

        story.after(ofSeconds(15)).rate("chat", 300).forecast("chat", 1000);
        state = new EditedState(story);
        assertThat(planned().demand(CHAT).orElseThrow().ratePerSecond()).isEqualTo(390);
    }

    @Test
    void aServiceWithoutRequestsIsPlannedOnlyIfItHasAFloor() {
        begin("chat", 100, 2);
        story.service("search", 0).rate("search", 0);
        story.service("vision", 1).rate("vision", 0);
        state = new EditedState(story);

        SlicePlan plan = planned();

        assertThat(plan.services()).containsExactlyInAnyOrder(CHAT, new ServiceId("vision"));
        assertThat(plan.demand(new ServiceId("vision")).orElseThrow().ratePerSecond())
                .isEqualTo(0.01);
    }

    @Test
    void theFirstPlanHasInstancesForTheDemandAndSaysWhy() {
        begin("chat", 300, 2);

        SlicePlan plan = planned();

        assertThat(plan.at()).isEqualTo(state.now());
        assertThat(plan.model()).isEqualTo("A100-80GB");
        assertThat(plan.cuts()).hasSize(1);
        assertThat(plan.cuts().get(0).services()).isNotEmpty().allMatch(CHAT::equals);
        assertThat(plan.cuts().get(0).profiles())
                .hasSameSizeAs(plan.cuts().get(0).services());
        assertThat(plan.capacity(CHAT)).isBetween(300.0, 600.0);
        assertThat(plan.demands()).singleElement().satisfies(demand -> {
            assertThat(demand.service()).isEqualTo(CHAT);
            assertThat(demand.ratePerSecond()).isEqualTo(300);
            assertThat(demand.capacities().keySet())
                    .containsExactly("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb");
            assertThat(demand.capacity("7g.80gb")).isGreaterThan(demand.capacity("1g.10gb"));
        });
        assertThat(plan.reason()).isEqualTo("no GPU is planned for services, and 1 GPU would cover the demand");
        assertThat(plan.agreed()).isZero();
        assertThat(plan.cutsFrom()).isEqualTo(Instant.EPOCH);
    }

    @Test
    void twoServicesShareAGpuAndEachInstanceIsNamedForItsOwn() {
        begin("chat", 200, 2);
        story.service("search", 0).rate("search", 200);
        state = new EditedState(story);

        SlicePlan plan = planned();

        assertThat(plan.cuts()).hasSize(1);
        assertThat(plan.capacity(CHAT)).isGreaterThanOrEqualTo(200);
        assertThat(plan.capacity(SEARCH)).isGreaterThanOrEqualTo(200);
    }

    @Test
    void whereThereAreTooFewGpusEachServiceIsPlannedForTheSameShareOfItsDemand() {
        begin("chat", 20_000, 2);
        story.service("search", 0).rate("search", 10_000);
        state = new EditedState(story);

        SlicePlan plan = planned();

        double chat = plan.demand(CHAT).orElseThrow().ratePerSecond();
        double search = plan.demand(SEARCH).orElseThrow().ratePerSecond();
        assertThat(plan.cuts()).hasSize(2);
        assertThat(chat).isLessThan(20_000).isLessThanOrEqualTo(plan.capacity(CHAT));
        assertThat(search).isLessThanOrEqualTo(plan.capacity(SEARCH));
        assertThat(chat / search).isBetween(1.999, 2.001);
        assertThat(chat + search)
                .as("most of the rate of two GPUs")
                .isGreaterThan(.8 * (plan.capacity(CHAT) + plan.capacity(SEARCH)));
    }

    @Test
    void aServiceThatIsInTimeOnNoInstanceIsNotPlanned() {
        latencies = (service, gpu) -> Optional.of(model(4000));
        begin("chat", 100, 1);

        SlicePlan plan = planned();

        assertThat(plan.demands()).isEmpty();
        assertThat(plan.reason()).isEqualTo("no service runs on MIG instances");
    }

    @Test
    void aServiceWhoseModelRunsOnNoInstanceIsNotPlanned() {
        latencies = (service, gpu) -> Optional.of(new ModelLatency() {
            @Override
            public Optional<BatchLatency> on(MigProfile profile, int size) {
                return Optional.empty();
            }

            @Override
            public int largestSize() {
                return 1;
            }
        });
        begin("chat", 100, 1);

        assertThat(planned().demands()).isEmpty();
    }

    @Test
    void aServiceIsPlannedForTheSizesOfItsInputsWhereItsSourcesTellThem() {
        latencies = (service, gpu) -> Optional.of(new ModelLatency() {
            @Override
            public Optional<BatchLatency> on(MigProfile profile, int size) {
                return Optional.of(new TabulatedLatency(new TreeMap<>(Map.of(1, 1.0 * size, 2, 2.0 * size))));
            }

            @Override
            public int largestSize() {
                return 64;
            }
        });
        begin("chat", 10, 1);
        double unknown = planned().demand(CHAT).orElseThrow().capacity("7g.80gb");

        ServiceBatches none = ServiceBatches.of(MigGpu.named("A100-80GB").orElseThrow(), state.now());
        SizeHistogram sizes = new SizeHistogram(List.of(new SizeHistogram.Bar(8, 1)), state.now());
        state.service(
                "chat",
                service -> service.with(new ServiceBatches(
                        none.gpu(), 64, none.learned(), sizes, Optional.empty(), state.now(), none.guard())));

        assertThat(planned().demand(CHAT).orElseThrow().capacity("7g.80gb"))
                .as("inputs of 8 take an eighth of the time of those of 64")
                .isGreaterThan(4 * unknown);
    }

    private static ModelLatency model(double millis) {
        return new ModelLatency() {
            @Override
            public Optional<BatchLatency> on(MigProfile profile, int size) {
                return Optional.of(new TabulatedLatency(new TreeMap<>(Map.of(1, millis, 2, 2 * millis))));
            }

            @Override
            public int largestSize() {
                return 1;
            }
        };
    }

    // The plan that comes into force.

    @Test
    void whereNothingCanBeCutThePlanStaysAndIsOnlyConsidered() {
        story.service("chat", 0).rate("chat", 100);
        state = new EditedState(story);
        assertThat(planned())
                .isEqualTo(new SlicePlan(state.now(), "", List.of(), List.of(), 0, Instant.EPOCH, Instant.EPOCH, ""));

        SlicePlan before = inForce(ofMinutes(6));
        state.slices(before);
        assertThat(planned()).isEqualTo(before.consideredAt(state.now()));
    }

    @Test
    void whereAllGpusHaveReplicasOfOtherServicesThePlanStaysToo() {
        story.service("chat", 0).rate("chat", 100).switchableNode("cut", Pool.INFERENCE, "");
        state = new EditedState(story);
        state.owner("cut-g0", new Owner.Serving(new ServiceId("other")));
        SlicePlan before = inForce(ofMinutes(6));
        state.slices(before);

        assertThat(planned()).isEqualTo(before.consideredAt(state.now()));
    }

    @Test
    void withoutServicesThePlanBecomesEmptyAndAPauseOfCutsStays() {
        begin("unknown", 100, 1);
        state.slices(inForce(ofMinutes(6)));

        assertThat(planned())
                .isEqualTo(new SlicePlan(
                        state.now(),
                        "A100-80GB",
                        List.of(),
                        List.of(),
                        0,
                        Instant.EPOCH,
                        state.now().minusSeconds(7),
                        "no service runs on MIG instances"));
    }

    @Test
    void aPlanThatStillCoversTheDemandKeepsItsCutsAndItsReason() {
        begin("chat", 200, 2);
        List<SlicePlan.Cut> cuts = List.of(new SlicePlan.Cut(List.of("7g.80gb"), List.of(CHAT)));
        state.slices(plan(ofMinutes(6), "A100-80GB", cuts));

        SlicePlan plan = planned();

        assertThat(plan.cuts()).isEqualTo(cuts);
        assertThat(plan.reason()).isEqualTo("the reason of before");
        assertThat(plan.at()).isEqualTo(state.now());
        assertThat(plan.demand(CHAT).orElseThrow().ratePerSecond()).isEqualTo(200);
        assertThat(plan.demand(CHAT).orElseThrow().capacity("7g.80gb")).isGreaterThan(200);
        assertThat(plan.cutsFrom()).isEqualTo(state.now().minusSeconds(7));
    }

    @Test
    void fewerGpusAreTakenOnceTwoPeriodsInARowAgree() {
        begin("chat", 200, 2);
        SlicePlan.Cut seven = new SlicePlan.Cut(List.of("7g.80gb"), List.of(CHAT));
        state.slices(plan(ofMinutes(5), "A100-80GB", List.of(seven, seven)));

        SlicePlan first = planned();
        assertThat(first.cuts()).hasSize(2);
        assertThat(first.agreed()).isEqualTo(1);
        assertThat(first.counted()).isEqualTo(state.now());
        assertThat(first.reason()).isEqualTo("the reason of before");

        story.after(ofMinutes(5)).rate("chat", 200);
        state = new EditedState(story);
        state.slices(first);
        SlicePlan second = planned();
        assertThat(second.cuts()).hasSize(1);
        assertThat(second.agreed()).isZero();
        assertThat(second.reason()).isEqualTo("1 GPU fewer suffices for 30 min, and 2 periods in a row agree");
    }

    @Test
    void aPlanForAnotherKindOfGpuDoesNotCoverAnything() {
        begin("chat", 200, 2);
        state.slices(
                plan(ofMinutes(6), "H100-SXM5-80GB", List.of(new SlicePlan.Cut(List.of("7g.80gb"), List.of(CHAT)))));

        SlicePlan plan = planned();

        assertThat(plan.model()).isEqualTo("A100-80GB");
        assertThat(plan.reason()).isEqualTo("1 GPU no longer covers the demand, 1 would");
    }
}
