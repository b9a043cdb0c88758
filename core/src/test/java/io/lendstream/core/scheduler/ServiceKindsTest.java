package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.batching.ServiceBatches;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.event.BatchTimes;
import io.lendstream.core.event.GpuKinds;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.KindNeeds;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.latency.Slice;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.KindChooser;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.PolicyInfo;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Services that declare their capacity by kind of GPU: 85 % of a capacity may be used. */
class ServiceKindsTest {
    private static final String A100 = "NVIDIA A100-SXM4-80GB";
    private static final String T4 = "Tesla T4";
    private static final KindId BIG = new KindId("A100-SXM4-80GB");
    private static final KindId PCIE = new KindId("A100-PCIE-80GB");
    private static final KindId SMALL = new KindId("Tesla-T4-16GB");
    private static final SchedulerSettings KINDS = SchedulerSettings.DEFAULTS.withModel(ClusterModel.KINDS);

    /** Four T4 on a node before that of one A100. */
    private static Scenario mixed(KindCapacity... capacities) {
        return declared(
                new Scenario(new Scheduler(Policies.parse("deepboot"), KINDS))
                        .node("infer-1", Pool.INFERENCE, 4, T4, 16)
                        .node("infer-2", Pool.INFERENCE, 1, A100, 80),
                capacities);
    }

    private static Scenario declared(Scenario story, KindCapacity... capacities) {
        return story.tell(story.serviceRecord("chat", 0).onKinds(List.of(capacities)));
    }

    private static List<GpuId> gpus(String... names) {
        return Arrays.stream(names).map(GpuId::new).toList();
    }

    private static List<GpuId> taken(Scenario story) {
        return story.last().stream()
                .flatMap(decision -> decision.action().gpus().stream())
                .sorted()
                .toList();
    }

    @Test
    void aServiceNeverGetsAKindThatItDoesNotDeclare() {
        Scenario story = mixed(KindCapacity.of(BIG, 10));

        story.rate("chat", 40);

        assertThat(taken(story)).isEqualTo(gpus("infer-2-g0"));
        story.settled().after(ofSeconds(30)).rate("chat", 60);
        assertThat(taken(story)).as("a T4 is free").isEmpty();
        assertThat(story.count("free")).isEqualTo(4);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aServiceGetsNothingInADomainOfAnotherKind() {
        Scenario story = declared(
                new Scenario(new Scheduler(Policies.parse("deepboot"), KINDS)).node("infer", Pool.INFERENCE, 4, T4, 16),
                KindCapacity.of(BIG, 10));

        story.rate("chat", 40);

        assertThat(story.last()).isEmpty();
    }

    @Test
    void eachReplicaCountsWithWhatItAnswersOnItsKind() {
        // 10 requests/s need a capacity of 11.8: an A100 has 10, and a T4 has 2
        Scenario story = mixed(KindCapacity.of(BIG, 10), KindCapacity.of(SMALL, 2));

        story.rate("chat", 10);

        assertThat(story.last()).singleElement().satisfies(decision -> {
            assertThat(decision.action().gpus()).containsExactlyInAnyOrderElementsOf(gpus("infer-1-g0", "infer-2-g0"));
            assertThat(decision.reason().text())
                    .isEqualTo("chat is short of 2 replicas on A100-SXM4-80GB: 2 needed for the current load, 0 running"
                            + "; it starts 2 replicas on 1 A100-SXM4-80GB and 1 Tesla-T4-16GB");
        });
    }

    @Test
    void thePreferredKindIsTakenFirst() {
        Scenario small = mixed(KindCapacity.of(SMALL, 2), KindCapacity.of(BIG, 10));

        small.rate("chat", 3);

        assertThat(taken(small)).isEqualTo(gpus("infer-1-g0", "infer-1-g1"));
    }

    @Test
    void aRatioCountsWithItsUncertainty() {
        // 6 requests/s need a capacity of 7.1: three T4 with 2.5 each, or four with 2 each
        Scenario sure = mixed(KindCapacity.of(SMALL, new KindRatio(0.25, 0)));
        Scenario unsure = mixed(KindCapacity.of(SMALL, new KindRatio(0.25, 0.2)));

        assertThat(taken(sure.rate("chat", 6))).hasSize(3);
        assertThat(taken(unsure.rate("chat", 6))).hasSize(4);
    }

    @Test
    void replicasOnLessPreferredKindsRestFirstAndAreWokenAgain() {
        Scenario story = mixed(KindCapacity.of(BIG, 10), KindCapacity.of(SMALL, 2));
        story.rate("chat", 10).settled().after(ofSeconds(15));
        assertThat(story.count("serving")).isEqualTo(2);

        story.rate("chat", 5);

        assertThat(story.owner("infer-2-g0").label()).isEqualTo("serving");
        assertThat(story.owner("infer-1-g0").label()).isEqualTo("protected");

        story.after(ofSeconds(5)).rate("chat", 10);

        assertThat(story.owner("infer-1-g0").label()).isEqualTo("serving");
        assertThat(story.last())
                .singleElement()
                .satisfies(decision -> assertThat(
                                decision.action().asServe().orElseThrow().warm())
                        .isTrue())
                .satisfies(decision ->
                        assertThat(decision.reason().text()).endsWith("; it wakes 1 warm replica on 1 Tesla-T4-16GB"));
    }

    @Test
    void warmReplicasOnPreferredKindsAreWokenFirst() {
        Scenario story = mixed(KindCapacity.of(BIG, 10), KindCapacity.of(SMALL, 2));
        story.rate("chat", 10).settled().after(ofSeconds(15)).rate("chat", 0);
        assertThat(story.count("protected")).isEqualTo(2);

        story.after(ofSeconds(5)).rate("chat", 8);

        assertThat(story.owner("infer-2-g0").label()).isEqualTo("serving");
        assertThat(story.owner("infer-1-g0").label())
                .as("an A100 is enough, so that a T4 would rest at once")
                .isEqualTo("protected");
    }

    /** A job has the only A100 on loan. */
    private static Scenario withALoanedA100(Scenario story) {
        story.job("a", 1, new KindNeeds(List.of(BIG), Optional.empty(), Optional.empty(), List.of()));
        for (int i = 0; i < 10; i++) {
            story.rate("chat", 0).after(ofSeconds(30)).settled();
        }
        assertThat(story.owner("infer-2-g0").label()).isEqualTo("lent");
        return story;
    }

    @Test
    void aReclaimNamesWhatIsMissingBesideTheReplicasThatStart() {
        // 14 requests/s need a capacity of 16.5: four T4 have 8, and an A100 has 10
        Scenario story = withALoanedA100(mixed(KindCapacity.of(BIG, 10), KindCapacity.of(SMALL, 2)));

        story.rate("chat", 14);

        assertThat(story.last())
                .filteredOn(decision -> decision.action() instanceof Action.Reclaim)
                .singleElement()
                .satisfies(decision -> {
                    assertThat(decision.action().gpus()).isEqualTo(gpus("infer-2-g0"));
                    assertThat(decision.reason().text())
                            .contains("chat is short of 1 replica on A100-SXM4-80GB"
                                    + " (5 needed for the current load, 0 running, 4 starting)");
                    assertThat(decision.reason().numbers()).containsEntry("short", 1.0);
                });
    }

    @Test
    void aReclaimTakesAsManyLoansAsMakeUpForTheLoad() {
        Scenario story = mixed(KindCapacity.of(BIG, 10), KindCapacity.of(SMALL, 2));
        for (String job : List.of("a", "b", "c", "d", "e")) {
            story.rigidJob(job, 1);
        }
        for (int i = 0; i < 10; i++) {
            story.rate("chat", 0).after(ofSeconds(30)).settled();
        }
        assertThat(story.count("lent")).isEqualTo(5);

        story.rate("chat", 10);

        List<GpuId> reclaimed = taken(story);
        double capacity = reclaimed.stream()
                .mapToDouble(gpu -> gpu.value().startsWith("infer-2") ? 10 : 2)
                .sum();
        assertThat(story.last())
                .isNotEmpty()
                .allMatch(decision -> decision.action() instanceof Action.Reclaim)
                .allMatch(decision -> decision.reason()
                        .text()
                        .endsWith("takes these loans first of those of the kinds that it declares"));
        assertThat(capacity).isGreaterThanOrEqualTo(10 / 0.85);
        assertThat(story.rate("chat", 10).last())
                .as("GPUs that are about to be free are counted")
                .isEmpty();
    }

    /** Takes loans back in the order of their names. */
    private record TakesFirstNames(Policy plain) implements Policy {
        @Override
        public List<GpuId> victims(ClusterView cluster, int count) {
            List<GpuId> loans = new ArrayList<>();
            cluster.loans().forEach(lent -> loans.addAll(lent.getValue().ids()));
            return loans.stream().sorted().limit(count).toList();
        }

        @Override
        public Optional<KindChooser> kinds() {
            return plain.kinds();
        }

        @Override
        public Plan plan(ClusterView cluster) {
            return plain.plan(cluster);
        }

        @Override
        public PolicyInfo info() {
            return plain.info();
        }

        @Override
        public Duration planEvery() {
            return plain.planEvery();
        }

        @Override
        public List<Alternative> losses(ClusterView cluster, int count) {
            return plain.losses(cluster, count);
        }

        @Override
        public String spec() {
            return plain.spec();
        }
    }

    @Test
    void aReclaimLeavesSlowGpusWhereAFastOneIsEnough() {
        // 8 requests/s need a capacity of 9.4: four T4 have 8, so that the A100 is taken too, and is enough alone
        Scenario story = declared(
                new Scenario(new Scheduler(new TakesFirstNames(Policies.parse("deepboot")), KINDS))
                        .node("infer-1", Pool.INFERENCE, 4, T4, 16)
                        .node("infer-2", Pool.INFERENCE, 1, A100, 80),
                KindCapacity.of(BIG, 10),
                KindCapacity.of(SMALL, 2));
        for (String job : List.of("a", "b", "c", "d", "e")) {
            story.rigidJob(job, 1);
        }
        for (int i = 0; i < 10; i++) {
            story.rate("chat", 0).after(ofSeconds(30)).settled();
        }
        assertThat(story.count("lent")).isEqualTo(5);

        story.rate("chat", 8);

        assertThat(taken(story)).isEqualTo(gpus("infer-2-g0"));
    }

    @Test
    void aReclaimLeavesLoansOfOtherKinds() {
        Scenario story = mixed(KindCapacity.of(SMALL, 2));
        for (String job : List.of("a", "b", "c", "d", "e")) {
            story.rigidJob(job, 1);
        }
        for (int i = 0; i < 10; i++) {
            story.rate("chat", 0).after(ofSeconds(30)).settled();
        }
        assertThat(story.count("lent")).isEqualTo(5);

        story.rate("chat", 3);

        assertThat(taken(story)).hasSize(2).allMatch(gpu -> gpu.value().startsWith("infer-1"));
    }

    /** A service of one queue borrows from the cohort of another. */
    private static Scenario borrowing(Scenario nodes, double nominal, double nominalOfOther) {
        return nodes.queue("team-a", Optional.of("all"), KindQuota.of(Optional.empty(), nominal))
                .queue("team-b", Optional.of("all"), KindQuota.of(Optional.empty(), nominalOfOther))
                .service("chat", 1, "team-a")
                .settled();
    }

    private static InferenceService inQueue(Scenario story, String service, int floor, String queue, double onBig) {
        return story.serviceRecord(service, floor).in(new QueueId(queue)).onKinds(List.of(KindCapacity.of(BIG, onBig)));
    }

    @Test
    void aQueueTakesBackTheReplicasThatAServiceLacksOnItsKinds() {
        Scenario story = borrowing(
                new Scenario(new Scheduler(Policies.parse("deepboot"), KINDS))
                        .node("infer", Pool.INFERENCE, 4, A100, 80),
                1,
                3);
        story.tell(inQueue(story, "code", 0, "team-b", 40)).rate("chat", 33).settled();
        assertThat(story.count("serving")).isEqualTo(4);

        story.rate("code", 25);

        assertThat(story.state().promises())
                .as("one A100 answers 40 requests/s")
                .hasSize(1);
    }

    @Test
    void aFloorOnKindsStaysWhenAQueueTakesBackItsQuota() {
        Scenario story = borrowing(
                new Scenario(new Scheduler(Policies.parse("deepboot"), KINDS))
                        .node("infer-1", Pool.INFERENCE, 1, T4, 16)
                        .node("infer-2", Pool.INFERENCE, 1, A100, 80),
                1,
                1);
        story.rate("chat", 12).settled();
        assertThat(story.count("serving")).isEqualTo(2);
        story.tell(inQueue(story, "chat", 1, "team-a", 10)).tell(inQueue(story, "code", 0, "team-b", 10));

        story.rate("code", 5);

        assertThat(story.state().promises()).isEmpty();
        assertThat(story.owner("infer-2-g0").label()).isEqualTo("serving");
    }

    /** Jobs without a queue have the four A100 on loan; the queue of the services has these quotas. */
    private static Scenario withQuotas(KindQuota... quotas) {
        Scenario story = new Scenario(new Scheduler(Policies.parse("deepboot"), KINDS))
                .node("infer-1", Pool.INFERENCE, 1, T4, 16)
                .node("infer-2", Pool.INFERENCE, 4, A100, 80)
                .queue("team-a", Optional.empty(), quotas);
        for (String name : List.of("chat", "code")) {
            story.tell(
                    story.serviceRecord(name, 0).in(new QueueId("team-a")).onKinds(List.of(KindCapacity.of(BIG, 10))));
        }
        for (String job : List.of("a", "b", "c", "d")) {
            story.job(job, 1, new KindNeeds(List.of(BIG), Optional.empty(), Optional.empty(), List.of()));
        }
        for (int i = 0; i < 10; i++) {
            story.rate("chat", 0).rate("code", 0).after(ofSeconds(30)).settled();
        }
        assertThat(story.count("lent")).isEqualTo(4);
        return story;
    }

    @Test
    void aReclaimKeepsToTheQuotaOfTheKindsThatAServiceUses() {
        Scenario story = withQuotas(KindQuota.of(Optional.of(BIG), 1), KindQuota.of(Optional.of(SMALL), 4));

        story.rate("chat", 20);

        assertThat(taken(story)).hasSize(1);
        assertThat(story.last())
                .filteredOn(decision -> decision.action() instanceof Action.Hold)
                .singleElement()
                .satisfies(decision ->
                        assertThat(decision.reason().text()).startsWith("2 more GPUs for chat are refused"));
    }

    @Test
    void servicesOfAQueueShareItsQuota() {
        Scenario story = withQuotas(KindQuota.of(Optional.empty(), 3));

        story.rate("chat", 12);

        assertThat(taken(story)).hasSize(2);

        story.rate("code", 12);

        assertThat(taken(story)).as("chat gets two of three").hasSize(1);
    }

    @Test
    void aReplicaOnAKindThatIsNotDeclaredAnyMoreRestsWhenAnotherAnswers() {
        Scenario story = mixed();
        story.rate("chat", 5).settled();
        assertThat(story.owner("infer-1-g0").label()).isEqualTo("serving");

        declared(story.after(ofSeconds(5)), KindCapacity.of(BIG, 10));

        assertThat(taken(story)).isEqualTo(gpus("infer-2-g0"));
        assertThat(story.last())
                .singleElement()
                .satisfies(decision -> assertThat(decision.reason().text())
                        .isEqualTo("chat is short of 1 replica on A100-SXM4-80GB: 1 needed for the current load"
                                + ", 0 running, 1 on kinds that it does not declare"
                                + "; it starts 1 replica on 1 A100-SXM4-80GB"));
        assertThat(story.owner("infer-1-g0").label())
                .as("until then it answers")
                .isEqualTo("serving");

        story.settled().after(ofSeconds(5)).rate("chat", 5);

        assertThat(story.owner("infer-2-g0").label()).isEqualTo("serving");
        assertThat(story.owner("infer-1-g0").label()).isIn("protected", "sleeping");
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aReplicaOnAKindThatIsNotDeclaredAnyMoreDoesNotCountInTheFloor() {
        Scenario story = new Scenario(new Scheduler(Policies.parse("deepboot"), KINDS))
                .node("infer-1", Pool.INFERENCE, 1, T4, 16)
                .node("infer-2", Pool.INFERENCE, 1, A100, 80)
                .service("chat", 1)
                .settled();
        assertThat(story.owner("infer-1-g0").label()).isEqualTo("serving");
        withALoanedA100(story);
        story.tell(story.serviceRecord("chat", 1).onKinds(List.of(KindCapacity.of(BIG, 10))));
        assertThat(taken(story)).isEqualTo(gpus("infer-2-g0"));
        Decision reclaim = story.last().get(0);

        story.service("bulk", 0).rate("bulk", 5);
        story.answers(reclaim).forEach(story::tell);

        assertThat(story.owner("infer-2-g0").holdingService())
                .as("a floor comes before a need")
                .contains(new ServiceId("chat"));
    }

    @Test
    void withoutKindsCapacitiesDoNotCount() {
        Scenario story = declared(
                Scenario.of("deepboot")
                        .node("infer-1", Pool.INFERENCE, 1, T4, 16)
                        .node("infer-2", Pool.INFERENCE, 1, A100, 80),
                KindCapacity.of(BIG, 5));

        story.rate("chat", 15);

        assertThat(taken(story))
                .as("a replica answers 10 requests/s anywhere")
                .isEqualTo(gpus("infer-1-g0", "infer-2-g0"));
    }

    @Test
    void theSlowestWarmUpOfTheKindsThatThereAreCounts() {
        Scenario story = mixed(
                KindCapacity.of(BIG, 10),
                KindCapacity.of(SMALL, 2).warmingUpIn(ofSeconds(40)),
                KindCapacity.of(new KindId("L4-24GB"), 4).warmingUpIn(ofSeconds(90)));
        ServiceState chat = story.state().services().require(new ServiceId("chat"));

        assertThat(KindNeed.warmUp(chat.spec(), Set.of(BIG, SMALL)::contains)).isEqualTo(ofSeconds(40));
        assertThat(KindNeed.warmUp(chat.spec(), Set.of(BIG)::contains)).isEqualTo(ofSeconds(8));

        Decision start = story.rate("chat", 10).last().get(0);

        assertThat(Duration.between(start.at(), start.deadline()))
                .as("twice the warm-up on a T4")
                .isEqualTo(ofSeconds(80));
    }

    @Test
    void theNeedIsShownByTheKindsOfTheReplicas() {
        Scenario story = mixed(KindCapacity.of(BIG, 10), KindCapacity.of(SMALL, 2));
        story.rate("chat", 10);
        ServiceState chat = story.state().services().require(new ServiceId("chat"));
        Scheduler scheduler = new Scheduler(Policies.parse("deepboot"), KINDS);

        ReplicaNeed onBoth =
                scheduler.need(chat, story.now(), List.of(BIG, SMALL), List.of(Optional.of(SMALL), Optional.of(BIG)));
        ReplicaNeed onSmall =
                scheduler.need(chat, story.now(), List.of(SMALL), List.of(Optional.of(SMALL), Optional.of(SMALL)));

        assertThat(onBoth.replicas()).isEqualTo(2);
        assertThat(onSmall.replicas()).as("11.8 / 2").isEqualTo(6);
        assertThat(scheduler.need(chat, story.now(), List.of(), List.of()))
                .as("kinds are not told apart")
                .isEqualTo(scheduler.need(chat, story.now()));
    }

    private static SchedulerSettings withAlias() {
        return KINDS.withModel(new ClusterModel(true, GpuKinds.parse("A100-PCIE-80GB=A100-SXM4-80GB")));
    }

    @Test
    void kindsThatServicesDeclareCountByTheirAliases() {
        Scheduler scheduler = new Scheduler(Policies.parse("deepboot"), withAlias());
        Scenario story = declared(
                new Scenario(scheduler).node("infer", Pool.INFERENCE, 2, "NVIDIA A100-PCIE-80GB", 80),
                KindCapacity.of(PCIE, 5));

        story.rate("chat", 8);

        assertThat(taken(story)).isEqualTo(gpus("infer-g0", "infer-g1"));
        assertThat(story.verdict().violations()).isEmpty();
        InferenceService declared = story.serviceRecord("chat", 0).onKinds(List.of(KindCapacity.of(PCIE, 5)));
        ServiceState asDeclared = ServiceState.of(declared)
                .with(story.state().services().require(new ServiceId("chat")).sources());
        assertThat(scheduler
                        .need(asDeclared, story.now(), List.of(BIG), List.of(Optional.of(BIG), Optional.of(BIG)))
                        .replicas())
                .as("for the record of the service, which has its own names")
                .isEqualTo(2);
    }

    @Test
    void aNewAliasCountsForKnownServicesToo() {
        Scenario story = declared(
                new Scenario(new Scheduler(Policies.parse("deepboot"), KINDS))
                        .node("infer", Pool.INFERENCE, 1, "NVIDIA A100-PCIE-80GB", 80),
                KindCapacity.of(PCIE, 10));

        story.takenOverBy(new Scheduler(Policies.parse("deepboot"), withAlias()));

        ServiceState chat = story.state().services().require(new ServiceId("chat"));
        assertThat(chat.spec().uses(Optional.of(BIG))).isTrue();
    }

    @Test
    void ofKindsThatCountAsOneTheSlowestCounts() {
        Scenario story = mixed();
        InferenceService declared = story.serviceRecord("chat", 0)
                .onKinds(List.of(
                        KindCapacity.of(BIG, 10),
                        KindCapacity.of(SMALL, 2),
                        KindCapacity.of(PCIE, 7).warmingUpIn(ofSeconds(40))));

        InferenceService counted = declared.countedBy(GpuKinds.parse("A100-PCIE-80GB=A100-SXM4-80GB"));

        assertThat(counted.capacities())
                .containsExactly(KindCapacity.of(BIG, 7).warmingUpIn(ofSeconds(40)), KindCapacity.of(SMALL, 2));
        assertThat(declared.countedBy(GpuKinds.PLAIN)).isSameAs(declared);
    }

    private static List<BatchTimes> batches(KindId kind, double slower) {
        List<BatchTimes> times = new ArrayList<>();
        for (int batch : List.of(1, 8, 32, 64)) {
            times.add(new BatchTimes(Optional.empty(), batch, 0, 30, slower * (20 + 5 * batch)).on(kind));
        }
        return times;
    }

    /** A service on an A100 and an H100, whose batches take twice as long on the A100. */
    private static Scenario batching() {
        KindId hopper = new KindId("H100-80GB-HBM3");
        Scenario story = declared(
                new Scenario(new Scheduler(Policies.parse("deepboot"), KINDS))
                        .node("infer-1", Pool.INFERENCE, 1, A100, 80)
                        .node("infer-2", Pool.INFERENCE, 1, "NVIDIA H100 80GB HBM3", 80),
                KindCapacity.of(BIG, 5),
                KindCapacity.of(hopper, 10));
        story.rate("chat", 12).settled();
        for (int i = 0; i < 10; i++) {
            List<BatchTimes> both = new ArrayList<>(batches(BIG, 2));
            both.addAll(batches(hopper, 1));
            story.after(ofSeconds(15)).settled().served("chat", 12, .1, both).settled();
        }
        return story;
    }

    @Test
    void batchesAreLearnedByKind() {
        ServiceState chat = batching().state().services().require(new ServiceId("chat"));

        assertThat(chat.batches()).isPresent();
        assertThat(chat.otherBatches()).hasSize(1);
        MigGpu ampere = MigGpu.named("A100-80GB").orElseThrow();
        MigGpu hopper = MigGpu.ofProduct("NVIDIA H100 80GB HBM3", 80L << 30).orElseThrow();
        double slow = wholeMillis(chat, ampere);
        double fast = wholeMillis(chat, hopper);
        assertThat(slow / fast).isBetween(1.8, 2.2);
        assertThat(Latencies.LEARNED.learned(chat, ampere)).isPresent();
        assertThat(Latencies.LEARNED.learned(chat, hopper)).isPresent();
    }

    /** How long a batch of 8 takes on a whole GPU. */
    private static double wholeMillis(ServiceState service, MigGpu gpu) {
        return service.batchesOn(gpu.model())
                .flatMap(batches -> batches.learner().model())
                .orElseThrow()
                .millis(Slice.whole(gpu), 8, 1);
    }

    @Test
    void eachKindGetsASettingOfItsOwn() {
        List<Action.Batching> decided = batching().decisions().stream()
                .map(Decision::action)
                .filter(Action.Batching.class::isInstance)
                .map(Action.Batching.class::cast)
                .toList();

        Action.Batching ampere = last(decided, "infer-1-g0");
        Action.Batching hopper = last(decided, "infer-2-g0");
        assertThat(ampere.gpus()).containsExactly(new GpuId("infer-1-g0"));
        assertThat(hopper.gpus()).containsExactly(new GpuId("infer-2-g0"));
        assertThat(hopper.buckets().get(0).maxBatch())
                .isGreaterThan(ampere.buckets().get(0).maxBatch());
    }

    private static Action.Batching last(List<Action.Batching> decided, String gpu) {
        return decided.stream()
                .filter(batching -> batching.gpus().contains(new GpuId(gpu)))
                .reduce((first, second) -> second)
                .orElseThrow();
    }

    /** What a service on one A100, which may use an H100 too, has learned of batches. */
    private static Optional<ServiceBatches> learnedOnOneKind(List<BatchTimes> batches) {
        Scenario story = declared(
                new Scenario(new Scheduler(Policies.parse("deepboot"), KINDS))
                        .node("infer-1", Pool.INFERENCE, 1, A100, 80)
                        .node("infer-2", Pool.INFERENCE, 1, "NVIDIA H100 80GB HBM3", 80),
                KindCapacity.of(BIG, 10),
                KindCapacity.of(new KindId("H100-80GB-HBM3"), 10));
        story.rate("chat", 5).settled().after(ofSeconds(15));
        assertThat(story.owner("infer-1-g0").label()).isEqualTo("serving");
        story.served("chat", 5, .1, batches);
        return story.state().services().require(new ServiceId("chat")).batches();
    }

    @Test
    void batchesOfAKindWithoutReplicasAreNotTakenForThoseOfAnother() {
        List<BatchTimes> late = new ArrayList<>(batches(BIG, 2));
        late.addAll(batches(new KindId("H100-80GB-HBM3"), 1));

        assertThat(learnedOnOneKind(late)).isPresent().isEqualTo(learnedOnOneKind(batches(BIG, 2)));
        assertThat(learnedOnOneKind(batches(new KindId("H100-80GB-HBM3"), 1))).isEmpty();
        assertThat(learnedOnOneKind(batches(new KindId("A100"), 2)))
                .as("a name that the domain does not have is left aside where there is one kind only")
                .isEqualTo(learnedOnOneKind(batches(BIG, 2)));
    }

    @Test
    void batchesThatNameNoKindDoNotCountWhereThereAreSeveral() {
        Scenario story = declared(new Scenario(new Scheduler(Policies.parse("deepboot"), KINDS))
                .node("infer-1", Pool.INFERENCE, 1, A100, 80)
                .node("infer-2", Pool.INFERENCE, 1, "NVIDIA H100 80GB HBM3", 80));
        story.rate("chat", 12).settled().after(ofSeconds(15));

        story.served("chat", 12, .1, List.of(new BatchTimes(Optional.empty(), 8, 0, 30, 60)));

        ServiceState chat = story.state().services().require(new ServiceId("chat"));
        assertThat(chat.batches()).isEmpty();
        assertThat(chat.otherBatches()).isEmpty();
    }
}
