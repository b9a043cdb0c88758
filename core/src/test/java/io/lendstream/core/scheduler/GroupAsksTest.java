package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Preemption;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.RoleFloor;
import io.lendstream.core.event.TopologyLabels;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.core.state.Promise;
import io.lendstream.core.state.ReplicaGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Services with shapes ask for the nominal quota of their queue, and give whole replicas where others ask. A replica of
 * "chat" answers 10 requests/s, one of "pair" or "wide" 20, one of "four" 40; 85 % of that is planned.
 */
class GroupAsksTest {
    private static final ReplicaShape PAIR = ReplicaShape.of("pair", 2, 1, 20, ofSeconds(8));
    private static final ReplicaShape FOUR = ReplicaShape.of("four", 4, 1, 40, ofSeconds(8));
    private static final ReplicaShape WIDE = ReplicaShape.of("wide", 1, 2, 20, ofSeconds(8));

    private static Scenario nodes(String policy, int... gpus) {
        SchedulerSettings settings =
                SchedulerSettings.DEFAULTS.withModel(ClusterModel.ALIKE.with(TopologyLabels.of("", "rack")));
        Scenario story = new Scenario(new Scheduler(Policies.parse(policy), settings));
        for (int i = 0; i < gpus.length; i++) {
            story.node("infer-" + (char) ('a' + i), Pool.INFERENCE, gpus[i]);
        }
        return story.actuator("one", Abilities.USUAL);
    }

    /** Queues of one cohort. */
    private static Scenario teams(Scenario story, double a, double b) {
        return story.queue("team-a", Optional.of("all"), KindQuota.of(Optional.empty(), a))
                .queue("team-b", Optional.of("all"), KindQuota.of(Optional.empty(), b));
    }

    private static Scenario grouped(Scenario story, String name, int floor, String queue, ReplicaShape... shapes) {
        return story.tell(
                story.serviceRecord(name, floor).inShapes(List.of(shapes)).in(new QueueId(queue)));
    }

    private static long units(Scenario story, String service) {
        return story.state().gpus().stream()
                .filter(unit -> unit.isHeldBy(new Tenant.Service(new ServiceId(service)))
                        && unit.owner().isServing())
                .count();
    }

    private static long promised(Scenario story, String service) {
        return story.state().promises().stream()
                .map(Promise::tenant)
                .filter(new Tenant.Service(new ServiceId(service))::equals)
                .count();
    }

    private static List<Decision> taken(Scenario story) {
        return story.decisions().stream()
                .filter(decision -> decision.reason().is(ReasonCode.QUOTA)
                        && decision.action().asIdle().isPresent())
                .toList();
    }

    /** Two replicas of "llm" use four GPUs; its queue owns some of them. */
    private static Scenario twoPairs(String policy, int floor, double a, double b) {
        Scenario story = teams(nodes(policy, 4), a, b);
        grouped(story, "llm", floor, "team-b", PAIR).settled().rate("llm", 30).settled();
        assertThat(units(story, "llm")).isEqualTo(4);
        return story.service("chat", 0, "team-a");
    }

    @ParameterizedTest
    @ValueSource(strings = {"deepboot", "lendstream", "tiresias", "afs"})
    void aServiceWithShapesGivesWholeReplicasToAServiceOfSingleGpus(String policy) {
        Scenario story = twoPairs(policy, 1, 2, 2);

        story.rate("chat", 15);

        assertThat(taken(story)).hasSize(1);
        Decision decision = taken(story).get(0);
        assertThat(decision.action().asIdle().orElseThrow().replicas())
                .singleElement()
                .satisfies(replica -> assertThat(replica.units()).hasSize(2));
        assertThat(decision.reason().text())
                .isEqualTo("llm stops 1 replica on 2 GPUs: chat of queue team-a is short of 2 replicas, its queue uses"
                        + " 0 of at most 2 GPUs (nominal quota 2), and queue team-b uses 4 of at most 4 GPUs"
                        + " (nominal quota 2)");
        assertThat(decision.reason().numbers())
                .containsEntry("stopped", 2.0)
                .containsEntry("replicas", 1.0)
                .containsEntry("used", 4.0)
                .containsEntry("nominal", 2.0);
        assertThat(promised(story, "chat")).isEqualTo(2);
        story.settled();
        assertThat(units(story, "chat")).isEqualTo(2);
        assertThat(units(story, "llm")).isEqualTo(2);
        story.rate("llm", 30).rate("chat", 15).after(ofSeconds(60)).settled();
        assertThat(taken(story)).as("nothing is taken back and forth").hasSize(1);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aReplicaIsStoppedWholeForFewerUnits() {
        Scenario story = twoPairs("deepboot", 0, 1, 3).rate("chat", 5);

        assertThat(taken(story)).hasSize(1);
        assertThat(promised(story, "chat")).isEqualTo(1);
        story.settled();
        assertThat(units(story, "chat")).isEqualTo(1);
        assertThat(units(story, "llm")).isEqualTo(2);
        story.rate("llm", 30).after(ofSeconds(60)).settled();
        assertThat(taken(story)).hasSize(1);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"2, 2, 2", "0, 0, 4", "0, 2, 4"})
    void nothingIsGivenForAFloorOrBeyondOneNominalQuotaOrWithinTheOther(int floor, double a, double b) {
        Scenario story = twoPairs("deepboot", floor, a, b).rate("chat", 15).settled();

        assertThat(taken(story)).isEmpty();
        assertThat(units(story, "llm")).isEqualTo(4);
    }

    /** The second replica starts: it is not whole, and a part of it helps no service. */
    @Test
    void aReplicaThatIsNotWholeYetIsNotGiven() {
        Scenario story = teams(nodes("deepboot", 4), 2, 2);
        grouped(story, "llm", 1, "team-b", PAIR).settled().rate("llm", 30);
        assertThat(story.count("binding")).isEqualTo(2);
        story.service("chat", 0, "team-a").rate("chat", 15);
        assertThat(taken(story)).as("the other one is the floor").isEmpty();

        Decision serve = story.decisions().stream()
                .filter(decision -> decision.action().kind().equals("serve"))
                .reduce((one, other) -> other)
                .orElseThrow();
        story.answers(serve).forEach(story::tell);

        story.rate("chat", 15);
        assertThat(taken(story)).hasSize(1);
        assertThat(story.verdict().violations()).isEmpty();
    }

    /** Four replicas of "chat" use all GPUs of one node or of several. */
    private static Scenario fourSingles(Scenario story, int floor, double a, double b) {
        teams(story, a, b)
                .service("chat", floor, "team-a")
                .settled()
                .rate("chat", 33)
                .settled();
        assertThat(units(story, "chat")).isEqualTo(4);
        return story;
    }

    @ParameterizedTest
    @ValueSource(strings = {"deepboot", "lendstream", "tiresias", "afs"})
    void aServiceWithShapesGetsTheNominalQuotaOfItsQueue(String policy) {
        Scenario story = fourSingles(nodes(policy, 4), 1, 2, 2);
        grouped(story, "llm", 0, "team-b", PAIR);

        story.rate("llm", 15);

        assertThat(taken(story)).hasSize(1);
        assertThat(taken(story).get(0).reason().text())
                .isEqualTo("chat stops 2 replicas on 2 GPUs: llm of queue team-b is short of 1 x pair (2 GPUs), its"
                        + " queue uses 0 of at most 2 GPUs (nominal quota 2), and queue team-a uses 4 of at most 4"
                        + " GPUs (nominal quota 2)");
        assertThat(promised(story, "llm")).isEqualTo(2);
        story.rate("llm", 15).rate("chat", 33);
        assertThat(promised(story, "llm")).as("the promise stands").isEqualTo(2);
        story.tell(story.report(
                taken(story).get(0).id(),
                Outcome.RELEASED,
                taken(story).get(0).action().gpus(),
                Optional.of(new Tenant.Service(new ServiceId("chat")))));
        story.settled();
        assertThat(units(story, "llm")).isEqualTo(2);
        assertThat(units(story, "chat")).isEqualTo(2);
        story.rate("llm", 15).rate("chat", 33).after(ofSeconds(60)).settled();
        assertThat(taken(story)).hasSize(1);
        assertThat(story.verdict().violations()).isEmpty();
    }

    /** The floor leaves one replica to give, and a replica of "llm" needs two GPUs. */
    @ParameterizedTest
    @CsvSource({"3, 2, 2", "0, 3, 1", "0, 4, 0"})
    void whatMakesUpNoWholeReplicaIsNotTaken(int floor, double a, double b) {
        Scenario story = fourSingles(nodes("deepboot", 4), floor, a, b);
        grouped(story, "llm", 0, "team-b", PAIR).rate("llm", 15).settled();

        assertThat(taken(story)).isEmpty();
        assertThat(units(story, "chat")).isEqualTo(4);
    }

    @Test
    void nothingIsTakenWhereNoNodeHasEnough() {
        Scenario story = fourSingles(nodes("deepboot", 1, 1, 1, 1), 0, 2, 2);
        grouped(story, "llm", 0, "team-b", PAIR).rate("llm", 15).settled();

        assertThat(taken(story)).isEmpty();
        assertThat(units(story, "chat")).isEqualTo(4);
    }

    @Test
    void aQueueThatTakesNothingInItsCohortGetsNothing() {
        Scenario story = fourSingles(nodes("deepboot", 4), 0, 2, 2);
        ClusterQueue queue =
                story.state().queues().require(new QueueId("team-b")).spec();
        story.tell(queue.preempting(Preemption.NEVER, Preemption.NEVER));
        grouped(story, "llm", 0, "team-b", PAIR).rate("llm", 15).settled();

        assertThat(taken(story)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"rack-1, rack-1, 2", "rack-1, rack-2, 0"})
    void theNodesOfAReplicaShareTheDomainOfItsShape(String first, String second, int gets) {
        Scenario story = fourSingles(nodes("deepboot", 1, 3), 0, 2, 2)
                .rack("infer-a", first)
                .rack("infer-b", second);
        grouped(story, "llm", 0, "team-b", WIDE.within(TopologyLevel.RACK))
                .rate("llm", 15)
                .settled();

        assertThat(units(story, "llm")).isEqualTo(gets);
        assertThat(units(story, "chat")).isEqualTo(4 - gets);
        assertThat(story.verdict().violations()).isEmpty();
    }

    /** Two small replicas make room for a large one. */
    @ParameterizedTest
    @CsvSource({"0, 4", "1, 0"})
    void aServiceWithShapesTakesFromAnotherOne(int floor, int gets) {
        Scenario story = twoPairs("deepboot", floor, 4, 0);
        grouped(story, "big", 0, "team-a", FOUR).rate("big", 30);

        assertThat(promised(story, "big")).isEqualTo(gets);
        story.settled();
        assertThat(units(story, "big")).isEqualTo(gets);
        assertThat(units(story, "llm")).isEqualTo(4 - gets);
        assertThat(story.verdict().violations()).isEmpty();
    }

    /** On one node two replicas would have to stop, on the other one. */
    @Test
    void theNodeWhereOthersLoseTheFewestGpusGives() {
        Scenario story = teams(nodes("deepboot", 2, 4), 2, 4);
        grouped(story, "four", 0, "team-b", FOUR).rate("four", 30).settled();
        story.service("chat", 0, "team-b").rate("chat", 15).settled();
        assertThat(units(story, "four") + units(story, "chat")).isEqualTo(6);

        grouped(story, "llm", 0, "team-a", PAIR).rate("llm", 15).settled();

        assertThat(units(story, "llm")).isEqualTo(2);
        assertThat(units(story, "four")).isEqualTo(4);
        assertThat(units(story, "chat")).isZero();
    }

    @Test
    void replicasThatRestAreGivenFirst() {
        Scenario story = teams(nodes("deepboot", 2, 2), 2, 2);
        grouped(story, "llm", 0, "team-b", PAIR).rate("llm", 30).settled();
        story.rate("llm", 10);
        assertThat(story.count("protected")).isEqualTo(2);
        story.service("chat", 0, "team-a").rate("chat", 15).settled();

        assertThat(units(story, "chat")).isEqualTo(2);
        assertThat(units(story, "llm")).isEqualTo(2);
        assertThat(story.count("protected")).isZero();
    }

    @Test
    void replicasOfOneGpuAreGivenBeforeThoseOfSeveral() {
        Scenario story = teams(nodes("deepboot", 4), 1, 3);
        grouped(story, "llm", 0, "team-b", PAIR).rate("llm", 15).settled();
        story.service("code", 0, "team-b").rate("code", 15).settled();
        assertThat(units(story, "llm") + units(story, "code")).isEqualTo(4);

        story.service("chat", 0, "team-a").rate("chat", 5).settled();

        assertThat(units(story, "chat")).isEqualTo(1);
        assertThat(units(story, "code")).isEqualTo(1);
        assertThat(units(story, "llm")).isEqualTo(2);
    }

    /** They answer its load until its floor serves in the shape that it declares now. */
    @Test
    void replicasOfOneGpuOfAServiceThatDeclaresShapesNowKeepItsFloor() {
        Scenario story = teams(nodes("deepboot", 4), 2, 2);
        story.service("llm", 2, "team-b").settled().rate("llm", 33).settled();
        assertThat(units(story, "llm")).isEqualTo(4);
        grouped(story, "llm", 2, "team-b", PAIR);

        story.service("chat", 0, "team-a").rate("chat", 15);
        assertThat(taken(story)).isEmpty();
        story.settled();

        assertThat(taken(story)).isEmpty();
        assertThat(units(story, "chat")).isZero();
        assertThat(story.verdict().violations()).isEmpty();
    }

    /** Each role keeps its floor: only the role with more gives. */
    @Test
    void aRoleGivesOnlyWhatItHasAboveItsFloor() {
        Scenario story = teams(nodes("deepboot", 8), 4, 4);
        InferenceService agents = story.serviceRecord("agents", 1)
                .inShapes(List.of(
                        ReplicaShape.of("in", 2, 1, 20, ofSeconds(8)).as(ReplicaRole.PREFILL),
                        ReplicaShape.of("out", 2, 1, 20, ofSeconds(8)).as(ReplicaRole.DECODE)))
                .withFloors(List.of(new RoleFloor(ReplicaRole.DECODE, 2)))
                .in(new QueueId("team-b"));
        story.tell(agents).settled().rate("agents", 30).settled();
        assertThat(units(story, "agents")).isEqualTo(8);

        story.service("chat", 0, "team-a").rate("chat", 33).settled();

        assertThat(roles(story)).containsExactlyInAnyOrder(ReplicaRole.PREFILL, ReplicaRole.DECODE, ReplicaRole.DECODE);
        assertThat(units(story, "chat")).isEqualTo(2);
        assertThat(story.verdict().violations()).isEmpty();
    }

    private static List<ReplicaRole> roles(Scenario story) {
        return ReplicaGroup.all(story.state().clusterIndex()).stream()
                .filter(ReplicaGroup::isWarm)
                .map(group -> group.part().role())
                .toList();
    }

    @Test
    void bothRolesAskForWhatTheyLack() {
        Scenario story = teams(nodes("deepboot", 4), 0, 4);
        story.service("chat", 0, "team-a").rate("chat", 33).settled();
        story.tell(story.serviceRecord("agents", 0)
                .inShapes(List.of(
                        ReplicaShape.of("in", 1, 1, 20, ofSeconds(8)).as(ReplicaRole.PREFILL),
                        ReplicaShape.of("out", 2, 1, 20, ofSeconds(8)).as(ReplicaRole.DECODE)))
                .in(new QueueId("team-b")));

        story.rate("agents", 15).settled();

        assertThat(roles(story)).containsExactlyInAnyOrder(ReplicaRole.PREFILL, ReplicaRole.DECODE);
        assertThat(units(story, "chat")).isEqualTo(1);
        assertThat(story.verdict().violations()).isEmpty();
    }

    /** What waits for a promise is counted, so that nothing is asked for twice; a higher need asks for more. */
    @Test
    void aServiceThatWaitsForAPromiseMayAskForMore() {
        Scenario story = fourSingles(nodes("deepboot", 4), 0, 0, 4);
        grouped(story, "llm", 0, "team-b", PAIR).rate("llm", 15);
        assertThat(promised(story, "llm")).isEqualTo(2);

        story.after(ofSeconds(5)).rate("llm", 15);
        assertThat(taken(story)).hasSize(1);
        story.after(ofSeconds(5)).rate("llm", 30);

        assertThat(taken(story)).hasSize(2);
        assertThat(promised(story, "llm")).isEqualTo(4);
    }

    /** On each node one GPU is lent; the other one has a replica whose queue has more than its quota. */
    @Test
    void loansOfTheSameNodeComeBackWithTheUnitsThatAreGiven() {
        Scenario story = teams(nodes("deepboot", 2), 0, 2);
        story.service("chat", 0, "team-a").rate("chat", 5).settled();
        story.rigidJob("job", 1);
        for (int i = 0; i < 40 && story.count("lent") < 1; i++) {
            story.rate("chat", 5).settled().after(ofSeconds(15)).settled();
            if (story.job("job").gpus() > 0) {
                story.progress("job", JobPhase.RUNNING).settled();
            }
        }
        assertThat(story.count("lent")).isEqualTo(1);

        grouped(story, "llm", 0, "team-b", PAIR).rate("llm", 15);
        assertThat(story.lastKinds()).contains("idle", "reclaim");
        story.settled();

        assertThat(units(story, "llm")).isEqualTo(2);
        assertThat(story.job("job").gpus()).isZero();
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void onlyQuotasOfTheSameKindAndKindsOfTheShapeCount() {
        KindId big = new KindId("A100-SXM4-80GB");
        KindId small = new KindId("L4-24GB");
        for (KindId wanted : List.of(big, small)) {
            Scenario story = new Scenario(new Scheduler(
                            Policies.parse("deepboot"), SchedulerSettings.DEFAULTS.withModel(ClusterModel.KINDS)))
                    .node("infer-a", Pool.INFERENCE, 2, "NVIDIA A100-SXM4-80GB", 80)
                    .node("infer-b", Pool.INFERENCE, 2, "NVIDIA L4", 24)
                    .actuator("one", Abilities.USUAL);
            List<KindQuota> mine = new ArrayList<>();
            mine.add(KindQuota.of(Optional.of(big), 0));
            mine.add(KindQuota.of(Optional.of(small), 2));
            story.queue("team-a", Optional.of("all"), mine.toArray(KindQuota[]::new))
                    .queue(
                            "team-b",
                            Optional.of("all"),
                            KindQuota.of(Optional.of(big), 2),
                            KindQuota.of(Optional.of(small), 0))
                    .service("chat", 0, "team-a")
                    .rate("chat", 33)
                    .settled();
            assertThat(units(story, "chat")).isEqualTo(4);

            grouped(story, "llm", 0, "team-b", PAIR.onKinds(List.of(KindCapacity.of(wanted, 20))))
                    .rate("llm", 15)
                    .settled();

            assertThat(units(story, "llm")).as("%s", wanted).isEqualTo(wanted.equals(big) ? 2 : 0);
        }
    }

    /** A borrower uses all GPUs of nodes that are alike, in replicas of which some make up one of the owner. */
    @Seeds(100)
    void anOwnerGetsWhatIsWholeOfItsNominalQuotaWithinANotice(Random random) {
        int count = 1 + random.nextInt(4);
        int size = 2 + 2 * random.nextInt(3);
        int small = 1 + random.nextInt(2);
        int gpus = small * (1 + random.nextInt(size / small));
        int wide = count > 1 && (gpus == 1 || random.nextInt(3) == 0) ? 2 : 1;
        int nominal = 1 + random.nextInt(count * size);
        int needed = 1 + random.nextInt(4);
        String policy = List.of("deepboot", "lendstream", "tiresias").get(random.nextInt(3));
        Scenario story =
                nodes(policy, IntStream.range(0, count).map(any -> size).toArray());
        teams(story, nominal, (double) count * size - nominal);
        ReplicaShape theirs = ReplicaShape.of("small", small, 1, 10, ofSeconds(8));
        grouped(story, "borrower", 0, "team-b", theirs)
                .rate("borrower", 8.5 * count * size / small - 1)
                .settled();
        assertThat(units(story, "borrower")).isEqualTo((long) count * size);

        ReplicaShape mine = ReplicaShape.of("mine", gpus, wide, 20, ofSeconds(8));
        int before = story.decisions().size();
        grouped(story, "owner", 0, "team-a", mine)
                .rate("owner", 17 * needed - 1)
                .settled();

        int places = wide == 1 ? count * (size / gpus) : count / 2 * (size / gpus);
        int whole = Math.min(needed, Math.min(nominal / mine.units(), places));
        assertThat(units(story, "owner")).isGreaterThanOrEqualTo((long) whole * mine.units());
        assertThat(units(story, "owner")).isLessThanOrEqualTo(nominal).matches(all -> all % mine.units() == 0);
        assertThat(units(story, "borrower")).isEqualTo((long) count * size - units(story, "owner"));
        story.decisions().subList(before, story.decisions().size()).stream()
                .filter(decision -> decision.reason().is(ReasonCode.QUOTA))
                .forEach(decision -> assertThat(Duration.between(decision.at(), decision.deadline()))
                        .isLessThanOrEqualTo(SchedulerSettings.DEFAULTS.notice()));
        assertThat(story.verdict().violations()).isEmpty();
    }
}
