package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.catalogue.Policies;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a lowered quota leaves above the limit of a queue is taken back at once, also if no tenant asks for it. */
class LimitReturnsTest {
    private static final QueueId TEAM = new QueueId("team-a");
    private static final Optional<KindId> A100 = Optional.of(new KindId("A100-SXM4-80GB"));
    private static final Optional<KindId> T4 = Optional.of(new KindId("Tesla-T4-16GB"));

    private static Scenario training(int gpus) {
        return Scenario.of("deepboot").node("train", Pool.TRAINING, gpus);
    }

    private static Scenario planned(Scenario story) {
        return story.settled().after(ofSeconds(61)).settled();
    }

    private static Scenario grown(Scenario story, String... jobs) {
        for (int i = 0; i < 12; i++) {
            planned(story);
            for (String job : jobs) {
                if (story.job(job).gpus() > 0) {
                    story.progress(job, JobPhase.RUNNING).settled();
                }
            }
        }
        return story;
    }

    private static Scenario job(Scenario story, String name, int gpus, int priority) {
        return story.tell(story.jobRecord(name, gpus, false)
                        .with(new TrainingJob.Precedence(priority, TEAM, Optional.empty())))
                .settled();
    }

    private static List<Decision> taken(Scenario story) {
        return story.last().stream()
                .filter(decision -> decision.reason().is(ReasonCode.QUOTA)
                        && !decision.action().kind().equals("hold"))
                .toList();
    }

    private static KindQuota quota(double nominal) {
        return KindQuota.of(Optional.empty(), nominal);
    }

    private static KindQuota quota(double nominal, double borrowing) {
        return new KindQuota(Optional.empty(), nominal, Optional.of(borrowing), Optional.empty());
    }

    @Test
    void anElasticJobShrinksToTheLoweredLimitInTheSameStep() {
        Scenario story = grown(training(4).queue("team-a", 4).job("a", 4, "team-a"), "a");
        assertThat(story.job("a").gpus()).isEqualTo(4);

        story.queue("team-a", 1);

        assertThat(taken(story)).hasSize(1);
        Decision decision = taken(story).get(0);
        assertThat(decision.reason().text())
                .isEqualTo(
                        "a gives 3 GPUs back and goes on with 1 GPU: queue team-a uses 4 of at most 1 GPU (nominal quota 1), because its limit was lowered");
        assertThat(decision.reason().numbers())
                .containsEntry("nominal", 1.0)
                .containsEntry("used", 4.0)
                .containsEntry("limit", 1.0)
                .containsEntry("over", 3.0)
                .containsEntry("gpusAfter", 1.0);
        assertThat(Duration.between(decision.at(), decision.deadline()))
                .isLessThanOrEqualTo(SchedulerSettings.DEFAULTS.notice());
        assertThat(story.state().queues().require(TEAM).overSince()).isEmpty();
        grown(story, "a");
        assertThat(story.job("a").gpus()).isEqualTo(1);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void whatExceedsTheNominalQuotaButNotTheLimitStays() {
        Scenario story = planned(training(4)
                .queue("team-a", Optional.of("all"), quota(3))
                .queue("team-b", Optional.of("all"), quota(2))
                .rigidJob("a", 4, "team-a"));
        assertThat(story.job("a").gpus()).isEqualTo(4);

        story.queue("team-a", Optional.of("all"), quota(2));
        assertThat(taken(story)).isEmpty();

        story.queue("team-b", Optional.of("all"), quota(1));
        assertThat(taken(story)).hasSize(1);
        assertThat(story.settled().job("a").gpus()).isZero();
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aLoweredBorrowingLimitIsALoweredLimit() {
        Scenario story = grown(
                training(4)
                        .queue("team-a", Optional.of("all"), quota(1, 3))
                        .queue("team-b", Optional.of("all"), quota(3))
                        .job("a", 4, "team-a"),
                "a");
        assertThat(story.job("a").gpus()).isEqualTo(4);

        story.queue("team-a", Optional.of("all"), quota(1, 1)).settled();

        assertThat(story.job("a").gpus()).isEqualTo(2);
    }

    @Test
    void aQueueThatLeavesItsCohortTakesWhatItLent() {
        Scenario story = grown(
                training(4)
                        .queue("team-a", Optional.of("all"), quota(1))
                        .queue("team-b", Optional.of("all"), quota(3))
                        .job("a", 4, "team-a"),
                "a");
        assertThat(story.job("a").gpus()).isEqualTo(4);

        story.queue("team-b", Optional.empty(), quota(3)).settled();

        assertThat(story.job("a").gpus()).isEqualTo(1);
    }

    /** Of two queues that borrow, one gives what both had too much; then the other is within its limit. */
    @Test
    void queuesThatBorrowTheSameQuotaGiveItBackOnce() {
        Scenario story = planned(training(4)
                .queue("team-a", Optional.of("all"), quota(0))
                .queue("team-b", Optional.of("all"), quota(0))
                .queue("team-c", Optional.of("all"), quota(4))
                .rigidJob("a", 2, "team-a")
                .rigidJob("b", 2, "team-b"));
        assertThat(story.count("training")).isEqualTo(4);

        story.queue("team-c", Optional.of("all"), quota(2));

        assertThat(taken(story)).hasSize(1);
        assertThat(story.settled().count("training")).isEqualTo(2);
    }

    /** The owner may use its nominal quota at once if GPUs are free: the borrower has too much until the next plan. */
    @Test
    void whatAnotherQueueMakesTooMuchByItsOwnNominalQuotaWaitsForThePlan() {
        Scenario story = planned(training(6)
                .queue("team-a", Optional.of("all"), quota(2))
                .queue("team-b", Optional.of("all"), quota(2))
                .rigidJob("a", 4, "team-a"));

        story.rigidJob("b", 2, "team-b").settled();

        assertThat(story.job("b").gpus()).isEqualTo(2);
        assertThat(story.job("a").gpus()).isEqualTo(4);
        assertThat(story.state().queues().require(TEAM).overSince()).isEmpty();
        assertThat(story.verdict().violations()).isEmpty();
    }

    /** The borrower was above its limit already, but could have had as much when the owner used less. */
    @Test
    void anOwnerThatUsesWhatItLentAndLeavesTheCohortLowersTheLimitOfTheBorrower() {
        Scenario story = planned(training(6)
                .queue("team-a", Optional.of("all"), quota(2))
                .queue("team-b", Optional.of("all"), quota(2))
                .rigidJob("a", 4, "team-a"));
        story.rigidJob("b", 2, "team-b").settled();
        assertThat(story.job("a").gpus()).isEqualTo(4);

        story.queue("team-b", Optional.empty(), quota(2));

        assertThat(taken(story)).hasSize(1);
        assertThat(story.settled().job("a").gpus()).isZero();
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void theJobOfTheLowestPriorityGivesFirst() {
        Scenario story = training(4).queue("team-a", 4);
        job(story, "low", 2, 0);
        job(story, "high", 2, 1);
        assertThat(story.count("training")).isEqualTo(4);

        story.queue("team-a", 3).settled();

        assertThat(story.job("low").gpus()).isZero();
        assertThat(story.job("high").gpus()).isEqualTo(2);
    }

    @Test
    void anElasticJobGivesLoansFirst() {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 1)
                .node("train", Pool.TRAINING, 1)
                .queue("team-a", 2)
                .service("chat", 0)
                .job("a", 2, "team-a");
        story.settled();
        for (int i = 0; i < 40 && story.job("a").gpus() < 2; i++) {
            story.rate("chat", 0).settled().after(ofSeconds(15)).settled();
            if (story.job("a").gpus() > 0) {
                story.progress("a", JobPhase.RUNNING).settled();
            }
        }
        assertThat(story.count("lent")).isEqualTo(1);

        story.queue("team-a", 1);

        assertThat(story.lastKinds()).contains("reclaim");
        assertThat(story.settled().count("lent")).isZero();
        assertThat(story.count("training")).isEqualTo(1);
    }

    @Test
    void nothingIsTakenWhileTheDomainIsFrozen() {
        Scenario story = planned(training(2).queue("team-a", 2).rigidJob("a", 2, "team-a"));
        story.control(ControlCommand.Kind.FREEZE).queue("team-a", 0).after(ofSeconds(301));
        assertThat(story.job("a").gpus()).isEqualTo(2);
        assertThat(story.state().queues().require(TEAM).overSince()).isPresent();

        story.control(ControlCommand.Kind.THAW);

        assertThat(taken(story)).hasSize(1);
        assertThat(story.settled().job("a").gpus()).isZero();
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aJobThatComesToAQueueWithItsGpusKeepsItsLimit() {
        Scenario story = planned(training(2).queue("team-a", 1).rigidJob("a", 2));
        assertThat(story.job("a").gpus()).isEqualTo(2);

        story.rigidJob("a", 2, "team-a").settled();

        assertThat(story.job("a").gpus()).isZero();
    }

    @Test
    void gpusOfAKindWithoutQuotaAreTakenBack() {
        Scheduler scheduler =
                new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS.withModel(ClusterModel.KINDS));
        Scenario story = planned(new Scenario(scheduler)
                .node("big", Pool.TRAINING, 2, "NVIDIA A100-SXM4-80GB", 80)
                .queue("team-a", Optional.empty(), KindQuota.of(A100, 2))
                .rigidJob("a", 2, "team-a"));
        assertThat(story.job("a").gpus()).isEqualTo(2);

        story.queue("team-a", Optional.empty(), KindQuota.of(T4, 2));

        assertThat(taken(story)).hasSize(1);
        assertThat(taken(story).get(0).reason().text())
                .endsWith("queue team-a uses 2 GPUs of A100-SXM4-80GB, for which it has no quota any more");
        assertThat(story.settled().job("a").gpus()).isZero();
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void jobsOnMigInstancesGiveAPartOfAGpu() {
        Scenario story = Scenario.of("deepboot")
                .migNode("cut", Pool.INFERENCE, "3g.40gb@0 3g.40gb@4")
                .queue("team-a", 1);
        for (String job : List.of("a", "b")) {
            story.tell(story.jobRecord(job, 1, true).onSlicesOf(20L << 30).in(TEAM));
        }
        planned(story);
        assertThat(story.count("lent")).isEqualTo(2);

        story.queue("team-a", 0.5);

        assertThat(taken(story)).hasSize(1);
        assertThat(story.settled().count("lent")).isEqualTo(1);
        assertThat(story.verdict().violations()).isEmpty();
    }

    /** A service with so many serving replicas. */
    private static Scenario serving(int floor, int replicas) {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, replicas)
                .queue("team-a", replicas)
                .service("chat", floor, "team-a")
                .settled()
                .rate("chat", 10 * replicas - 5)
                .settled();
        assertThat(story.count("serving")).isEqualTo(replicas);
        return story;
    }

    @Test
    void aServiceGivesReplicasAboveItsFloorOnly() {
        Scenario story = serving(2, 4);

        story.queue("team-a", 3);
        assertThat(taken(story)).hasSize(1);
        assertThat(taken(story).get(0).action().kind()).isEqualTo("idle");
        assertThat(taken(story).get(0).reason().text())
                .isEqualTo(
                        "chat stops 1 replica on 1 GPU: queue team-a uses 4 of at most 3 GPUs (nominal quota 3), because its limit was lowered");
        story.settled().queue("team-a", 0).settled();

        assertThat(story.count("serving")).isEqualTo(2);
        assertThat(story.state().queues().require(TEAM).overSince()).isPresent();
        story.rate("chat", 35).settled().after(ofSeconds(100)).settled();
        assertThat(story.count("serving")).isEqualTo(2);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aLoweredFloorLetsTheRestGo() {
        Scenario story = serving(2, 2).queue("team-a", 0).settled();
        assertThat(story.count("serving")).isEqualTo(2);

        story.service("chat", 1, "team-a").settled();

        assertThat(story.count("serving")).isEqualTo(1);
    }

    @Test
    void jobsGiveBeforeReplicasThatServe() {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 2)
                .node("train", Pool.TRAINING, 2)
                .queue("team-a", 4)
                .service("chat", 0, "team-a")
                .rate("chat", 15)
                .settled();
        planned(story.rigidJob("a", 2, "team-a"));
        story.rate("chat", 15).settled();
        assertThat(story.job("a").gpus()).isEqualTo(2);

        story.queue("team-a", 2).settled();

        assertThat(story.job("a").gpus()).isZero();
        assertThat(story.count("serving")).isEqualTo(2);
    }

    @Test
    void sleepingReplicasGiveFirst() {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 2)
                .node("train", Pool.TRAINING, 1)
                .queue("team-a", 3)
                .service("chat", 0, "team-a")
                .rate("chat", 15)
                .settled();
        for (int i = 0; i < 20 && story.count("sleeping") < 2; i++) {
            story.rate("chat", 0).settled().after(ofSeconds(15)).settled();
        }
        assertThat(story.count("sleeping")).isEqualTo(2);
        planned(story.rigidJob("a", 1, "team-a"));

        story.queue("team-a", 2);

        assertThat(story.lastKinds()).contains("idle");
        assertThat(story.settled().count("sleeping")).isEqualTo(1);
        assertThat(story.job("a").gpus()).isEqualTo(1);
    }

    /** Replicas of two GPUs each. */
    private static Scenario pairs(int floor, double nominal) {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 4)
                .actuator("one", Abilities.USUAL)
                .queue("team-a", nominal);
        return story.tell(story.serviceRecord("chat", floor)
                        .inShapes(List.of(ReplicaShape.of("tp2", 2, 1, 10, ofSeconds(8))))
                        .in(TEAM))
                .settled()
                .rate("chat", 15)
                .settled();
    }

    @Test
    void aServiceWithShapesGivesWholeReplicas() {
        Scenario story = pairs(1, 4);
        assertThat(story.count("serving")).isEqualTo(4);

        story.queue("team-a", 3);

        assertThat(taken(story)).hasSize(1);
        assertThat(taken(story).get(0).action().asIdle().orElseThrow().replicas())
                .singleElement()
                .satisfies(replica -> assertThat(replica.units()).hasSize(2));
        assertThat(taken(story).get(0).reason().text())
                .isEqualTo(
                        "chat stops 1 replica on 2 GPUs: queue team-a uses 4 of at most 3 GPUs (nominal quota 3), because its limit was lowered");
        story.settled().queue("team-a", 0).settled();
        assertThat(story.count("serving")).as("the floor stays").isEqualTo(2);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aHoldNamesTheQuotaThatRefusesReplicasWithShapes() {
        Scenario story = pairs(0, 3);

        assertThat(story.count("serving")).isEqualTo(2);
        List<Decision> holds = story.decisions().stream()
                .filter(decision -> decision.action().kind().equals("hold"))
                .toList();
        assertThat(holds).hasSize(1);
        assertThat(holds.get(0).action())
                .isEqualTo(new Action.Hold(Optional.empty(), Optional.of(new ServiceId("chat")), Optional.of(TEAM)));
        assertThat(holds.get(0).reason().text())
                .isEqualTo("2 more GPUs for chat are refused: queue team-a uses 2 of at most 3 GPUs (nominal quota 3)");
        assertThat(holds.get(0).reason().numbers()).containsEntry("asked", 2.0).containsEntry("limit", 3.0);
        assertThat(story.state().queues().require(TEAM).refusedInShapes()).contains(2);

        story.rate("chat", 15).after(ofSeconds(30)).rate("chat", 15).settled();
        assertThat(story.decisions().stream()
                        .filter(decision -> decision.action().kind().equals("hold")))
                .hasSize(1);

        story.queue("team-a", 4).settled();
        assertThat(story.count("serving")).isEqualTo(4);
        assertThat(story.state().queues().require(TEAM).refusedInShapes()).isEmpty();
    }

    @Test
    void noQuotaIsNamedWhereGpusAreMissing() {
        Scenario story = pairs(0, 100).rate("chat", 45).settled();

        assertThat(story.count("serving")).isEqualTo(4);
        assertThat(story.decisions())
                .noneMatch(decision -> decision.action().kind().equals("hold"));
    }
}
