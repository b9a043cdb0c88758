package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.catalogue.Policies;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Decisions keep the quotas of queues, and a hold names the queue and its numbers. */
class QuotaGuardTest {
    private static final QueueId TEAM = new QueueId("team-a");
    private static final Optional<KindId> A100 = Optional.of(new KindId("A100-SXM4-80GB"));
    private static final Optional<KindId> T4 = Optional.of(new KindId("Tesla-T4-16GB"));

    private static Scenario training(int gpus) {
        return Scenario.of("deepboot").node("train", Pool.TRAINING, gpus);
    }

    private static Scenario planned(Scenario story) {
        return story.settled().after(ofSeconds(61)).settled();
    }

    /** An elastic job may double its GPUs at each plan, so that it takes some to have all that it may have. */
    private static Scenario grown(Scenario story) {
        for (int i = 0; i < 12; i++) {
            planned(story);
            if (story.job("a").gpus() > 0) {
                story.progress("a", JobPhase.RUNNING).settled();
            }
        }
        return story;
    }

    private static List<Decision> refusals(Scenario story) {
        return story.decisions().stream()
                .filter(decision -> decision.reason().is(ReasonCode.QUOTA)
                        && decision.action().kind().equals("hold"))
                .toList();
    }

    @Test
    void anElasticJobGetsTheQuotaOfItsQueue() {
        Scenario story = grown(training(4).queue("team-a", 3).job("a", 4, "team-a"));

        assertThat(story.job("a").gpus()).isEqualTo(3);
        assertThat(refusals(story)).isNotEmpty();
        Decision hold = refusals(story).get(0);
        assertThat(hold.action())
                .isEqualTo(new Action.Hold(Optional.of(new JobId("a")), Optional.empty(), Optional.of(TEAM)));
        assertThat(hold.reason().text())
                .isEqualTo("1 more GPU for a is refused: queue team-a uses 3 of at most 3 GPUs (nominal quota 3)");
        assertThat(hold.reason().numbers())
                .containsEntry("nominal", 3.0)
                .containsEntry("used", 3.0)
                .containsEntry("limit", 3.0)
                .containsEntry("asked", 1.0);
        assertThat(story.decisions())
                .filteredOn(decision -> decision.action().jobChange().isPresent())
                .last()
                .satisfies(
                        last -> assertThat(last.reason().text())
                                .startsWith(
                                        "a grows from 2 to 3 GPUs: queue team-a uses 3 of at most 3 GPUs (nominal quota 3); without its quota: a grows"));
    }

    /** Jobs {@code z} and {@code a} of two GPUs each in a queue of three. */
    private static Scenario twoJobs() {
        Scenario story =
                training(4).queue("team-a", 3).rigidJob("z", 2, "team-a").settled();
        return story.withoutTicks(ofSeconds(1)).rigidJob("a", 2, "team-a");
    }

    @Test
    void aRigidJobWaitsUntilItsQuotaIsRaised() {
        Scenario story = planned(twoJobs());

        assertThat(story.job("a").gpus()).isZero();
        assertThat(refusals(story).get(0).reason().text())
                .isEqualTo("2 more GPUs for a are refused: queue team-a uses 2 of at most 3 GPUs (nominal quota 3)");

        planned(story.queue("team-a", 4));

        assertThat(story.job("a").gpus()).isEqualTo(2);
        assertThat(story.state().queues().require(TEAM).refusedGpus()).isZero();
    }

    @Test
    void theSameRefusalIsNotDecidedAgain() {
        Scenario story = planned(twoJobs());

        story.after(ofMinutes(5));

        assertThat(refusals(story)).hasSize(1);
    }

    @Test
    void aJobThatComesToTheQueueIsNamedThoughAsManyGpusAreRefusedAsBefore() {
        Scenario story = planned(
                training(8).queue("team-a", 3).rigidJob("x", 2, "team-a").settled());
        planned(story.rigidJob("a", 2, "team-a"));

        planned(story.rigidJob("a", 2, "team-z").rigidJob("b", 2, "team-a"));

        assertThat(story.job("a").gpus()).isEqualTo(2);
        assertThat(refusals(story)).hasSize(2);
        assertThat(refusals(story).get(1).reason().text()).startsWith("2 more GPUs for b are refused");
    }

    @Test
    void aQueueBorrowsWhatItsCohortDoesNotUse() {
        Scenario story = training(4)
                .queue("team-a", Optional.of("all"), KindQuota.of(Optional.empty(), 1))
                .queue("team-b", Optional.of("all"), KindQuota.of(Optional.empty(), 2))
                .job("a", 4, "team-a");

        grown(story);

        assertThat(story.job("a").gpus()).isEqualTo(3);
    }

    @Test
    void aJobWithoutADeclaredQueueHasNoQuota() {
        Scenario story = planned(training(4).queue("team-a", 1).rigidJob("a", 2).rigidJob("b", 2, "team-z"));

        assertThat(story.job("a").gpus() + story.job("b").gpus()).isEqualTo(4);
        assertThat(refusals(story)).isEmpty();
    }

    @Test
    void anEarlierJobComesFirst() {
        Scenario story =
                training(4).queue("team-a", 2).rigidJob("z", 2, "team-a").settled();
        story.withoutTicks(ofSeconds(1)).rigidJob("a", 2, "team-a");

        planned(story);

        assertThat(story.job("z").gpus()).isEqualTo(2);
        assertThat(story.job("a").gpus()).isZero();
    }

    @Test
    void aServiceGetsReplicasUpToItsQuota() {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 4)
                .queue("team-a", 1)
                .service("chat", 0, "team-a")
                .rate("chat", 25);

        assertThat(story.lastKinds()).containsExactly("serve", "hold");
        Decision hold = refusals(story).get(0);
        assertThat(hold.action())
                .isEqualTo(new Action.Hold(Optional.empty(), Optional.of(new ServiceId("chat")), Optional.of(TEAM)));
        assertThat(hold.reason().text())
                .isEqualTo("2 more GPUs for chat are refused: queue team-a uses 1 of at most 1 GPU (nominal quota 1)");
        assertThat(story.count("binding")).isEqualTo(1);

        story.settled().rate("chat", 25);

        assertThat(story.last()).isEmpty();
        assertThat(story.state().queues().require(TEAM).refusedReplicas()).isEqualTo(2);
    }

    @Test
    void aRaisedQuotaGivesReplicasAtOnce() {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 4)
                .queue("team-a", 1)
                .service("chat", 0, "team-a")
                .rate("chat", 25)
                .settled();

        story.queue("team-a", 3);

        assertThat(story.lastKinds()).containsExactly("serve");
        assertThat(story.count("binding")).isEqualTo(2);
        assertThat(story.state().queues().require(TEAM).refusedReplicas()).isZero();
    }

    @Test
    void floorsOfServicesKeepTheirPartOfTheQuota() {
        Scenario story = grown(
                training(4).queue("team-a", 2).service("chat", 1, "team-a").job("a", 4, "team-a"));

        assertThat(story.job("a").gpus()).isEqualTo(1);
        assertThat(refusals(story).get(refusals(story).size() - 1).reason().text())
                .contains("of which it keeps 1 GPU for floors of its services");
    }

    @Test
    void aServiceReclaimsLoansOfItsOwnQueueAtTheLimit() {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 2)
                .queue("team-a", 2)
                .service("chat", 0, "team-a")
                .job("a", 2, "team-a");
        lend(story, 2);

        story.rate("chat", 5);

        assertThat(story.lastKinds()).containsExactly("reclaim");
        story.settled();
        assertThat(story.count("serving") + story.count("binding")).isEqualTo(1);
    }

    @Test
    void aServiceReclaimsNoLoansThatItsQuotaWouldNotAllow() {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 2)
                .queue("team-a", 0)
                .service("chat", 0, "team-a")
                .job("a", 2);
        lend(story, 2);

        story.rate("chat", 5);

        assertThat(story.lastKinds()).containsExactly("hold");
    }

    @Test
    void aServiceWithoutAQuotaForTheKindsOfTheDomainIsRefused() {
        KindQuota other = KindQuota.of(T4, 4);
        for (ClusterModel model : List.of(ClusterModel.KINDS, ClusterModel.ALIKE)) {
            Scheduler scheduler =
                    new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS.withModel(model));
            Scenario story = new Scenario(scheduler)
                    .node("infer", Pool.INFERENCE, 2, "NVIDIA A100-SXM4-80GB", 80)
                    .queue("team-a", Optional.empty(), other)
                    .service("chat", 0, "team-a")
                    .rate("chat", 5);

            assertThat(story.lastKinds()).as("%s", model).containsExactly("hold");
            assertThat(story.last().get(0).reason().text())
                    .isEqualTo("1 more GPU for chat is refused: queue team-a has no quota for GPUs of this kind");
        }
    }

    private static Scenario twoKinds(String policy, KindQuota... quotas) {
        Scheduler scheduler =
                new Scheduler(Policies.parse(policy), SchedulerSettings.DEFAULTS.withModel(ClusterModel.KINDS));
        return new Scenario(scheduler)
                .node("big", Pool.TRAINING, 4, "NVIDIA A100-SXM4-80GB", 80)
                .node("small", Pool.TRAINING, 2, "Tesla T4", 16)
                .queue("team-a", Optional.empty(), quotas);
    }

    @Test
    void aJobUsesTheKindThatItsQueueHasAQuotaFor() {
        for (String policy : List.of("deepboot", "tiresias")) {
            Scenario story = planned(twoKinds(policy, KindQuota.of(T4, 2)).rigidJob("a", 2, "team-a"));

            assertThat(story.job("a").gpus()).as(policy).isEqualTo(2);
        }
    }

    @Test
    void aJobWaitsForNoKindWhoseQuotaIsInUseIfItMayHaveAnother() {
        Scenario story = twoKinds("deepboot", KindQuota.of(A100, 2), KindQuota.of(T4, 2));
        planned(story.rigidJob("a", 2, "team-a"));

        planned(planned(story.rigidJob("b", 2, "team-a")));

        assertThat(story.job("a").gpus()).isEqualTo(2);
        assertThat(story.job("b").gpus()).isEqualTo(2);
    }

    @Test
    void aJobWithoutAQuotaForAnyKindIsRefused() {
        KindQuota other = KindQuota.of(Optional.of(new KindId("L4-24GB")), 2);

        Scenario story = planned(twoKinds("deepboot", other).rigidJob("a", 2, "team-a"));

        assertThat(story.job("a").gpus()).isZero();
        assertThat(story.decisions().stream()
                        .filter(decision -> decision.reason().is(ReasonCode.ADMISSION))
                        .map(decision -> decision.reason().text()))
                .containsExactly(
                        "a is refused: it needs 2 GPUs at once, and queue team-a has no quota for a kind that it may use");
    }

    @Test
    void servicesOfAQueueShareItsRoom() {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 2)
                .queue("team-a", 1)
                .service("chat", 0, "team-a")
                .job("a", 2);
        lend(story, 2);

        story.rate("chat", 5);
        assertThat(story.lastKinds()).containsExactly("reclaim");
        story.service("code", 0, "team-a").rate("code", 5);

        assertThat(story.lastKinds()).containsExactly("hold");
        assertThat(story.count("lent")).isEqualTo(1);
    }

    /** Lends GPUs to job {@code a} while the service {@code chat} has no demand. */
    private static void lend(Scenario story, int gpus) {
        story.settled();
        for (int i = 0; i < 40 && story.count("lent") < gpus; i++) {
            story.rate("chat", 0).settled().after(ofSeconds(15)).settled();
            if (story.job("a").gpus() > 0) {
                story.progress("a", JobPhase.RUNNING).settled();
            }
        }
        assertThat(story.count("lent")).isEqualTo(gpus);
    }

    @Test
    void migInstancesCountByComputeSlices() {
        Scenario story = Scenario.of("deepboot")
                .migNode("cut", Pool.INFERENCE, "3g.40gb@0 3g.40gb@4")
                .queue("team-a", 0.5);
        for (String job : List.of("a", "b")) {
            story.tell(story.jobRecord(job, 1, true).onSlicesOf(20L << 30).in(TEAM));
        }

        planned(story);

        assertThat(story.count("lent")).isEqualTo(1);
        planned(story.queue("team-a", 1));
        assertThat(story.count("lent")).isEqualTo(2);
    }

    @Test
    void adviceIsNotApprovedBeyondTheQuota() {
        Scenario story = training(4).queue("team-a", 4).control(ControlCommand.Kind.ADVISORY_ON);
        story.rigidJob("a", 3, "team-a").after(ofSeconds(61));
        Decision advice = story.decisions().stream()
                .filter(decision -> decision.action().jobChange().isPresent())
                .findFirst()
                .orElseThrow();

        story.queue("team-a", 2).approve(advice.id());

        assertThat(story.last()).hasSize(1);
        assertThat(story.last().get(0).reason().text())
                .endsWith("cannot be carried out any more: queue team-a uses 0 of at most 2 GPUs (nominal quota 2)");
    }

    @Test
    void theReviewOfAGpuNamesTheQuota() {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 2)
                .queue("team-a", 1)
                .service("chat", 0)
                .job("a", 2, "team-a");
        lend(story, 1);
        for (int i = 0; i < 12; i++) {
            story.rate("chat", 0).settled().after(ofSeconds(30)).settled();
            story.progress("a", JobPhase.RUNNING).settled();
        }

        Scheduler scheduler = new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS);
        List<UnitReview> reviews =
                LendingReview.of(scheduler, story.state(), story.now()).inference();

        assertThat(reviews).anySatisfy(review -> {
            assertThat(review.cause()).isEqualTo(UnitReview.Cause.LIMIT);
            assertThat(review.reason()).contains("queue team-a uses 1 of at most 1 GPU (nominal quota 1)");
        });
    }
}
