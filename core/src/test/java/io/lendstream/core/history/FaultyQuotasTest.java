package io.lendstream.core.history;

import static io.lendstream.core.fixtures.Scenario.DOMAIN;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.HostShare;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.Preemption;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.fixtures.ClusterStates;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Promise;
import io.lendstream.core.state.QueueState;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Faults in steps with quotas of queues and shares of hosts. */
class FaultyQuotasTest extends FaultyStepFixture {
    @Test
    @Breaks("quota")
    void noticesAQueueAboveItsLimit() {
        Scenario queued = Scenario.of("deepboot")
                .node("train", Pool.TRAINING, 2)
                .queue("team-a", 1)
                .job("a", 2, "team-a");
        queued.settled().after(Duration.ofSeconds(61)).settled().progress("a", JobPhase.RUNNING);
        assertThat(queued.job("a").gpus()).isEqualTo(1);

        assertThat(brokenByGiving(queued, "a")).contains("quota");
    }

    @Test
    void noticesThatTwoQueuesBorrowTheSameQuota() {
        Optional<String> cohort = Optional.of("all");
        Scenario queued = Scenario.of("deepboot")
                .node("train", Pool.TRAINING, 4)
                .queue("team-a", cohort, KindQuota.of(Optional.empty(), 1))
                .queue("team-b", cohort, KindQuota.of(Optional.empty(), 1))
                .queue("team-c", cohort, KindQuota.of(Optional.empty(), 1))
                .rigidJob("a", 1, "team-a")
                .settled()
                .rigidJob("b", 1, "team-b");
        queued.settled().after(Duration.ofSeconds(61)).settled().progress("a", JobPhase.RUNNING);
        assertThat(queued.count("training")).isEqualTo(2);

        assertThat(brokenByGiving(queued, "a")).doesNotContain("quota");
        assertThat(brokenByGiving(queued, "a", "b")).contains("quota");
    }

    /** Nothing is given back after a quota was lowered. */
    @Test
    void noticesThatALoweredQuotaTakesNothingBack() {
        Scenario queued = Scenario.of("deepboot")
                .node("train", Pool.TRAINING, 2)
                .queue("team-a", 2)
                .rigidJob("a", 2, "team-a")
                .settled();
        assertThat(queued.job("a").gpus()).isEqualTo(2);
        queued.queue("team-a", 1);
        long lowered = queued.log().get(queued.log().size() - 1).sequence();
        queued.after(ofSeconds(121));

        HistoryChecker checker = new HistoryChecker(DOMAIN, Scheduler::of, (scheduler, state, event) -> {
            Step step = scheduler.step(state, event);
            return event.sequence() == lowered ? keeping(state, step) : step;
        });
        queued.log().forEach(checker::take);

        assertThat(checker.verdict(queued.decisions(), queued.leases()).violations())
                .extracting(Violation::text)
                .anyMatch(text -> text.startsWith("queue team-a still has 1 GPU above its limit"));
        assertThat(rules(queued.verdict())).doesNotContain("quota");
    }

    /** The step without its decisions; the queue does not know that it has too much. */
    private static Step keeping(ClusterState before, Step step) {
        ClusterEntities kept = before.entities();
        for (QueueState queue : step.state().entities().queues().values()) {
            kept = kept.with(queue.over(Optional.empty()));
        }
        return new Step(ClusterStates.with(step.state(), kept), List.of(), step.changed());
    }

    /** The rules that are broken if a decision at the last event also gives each of these jobs a free GPU. */
    private static Set<String> brokenByGiving(Scenario queued, String... jobs) {
        long last = queued.log().get(queued.log().size() - 1).sequence();
        Decision decision = new Decision(
                DECISION,
                queued.now(),
                queued.now().plusSeconds(45),
                false,
                new Reason("test", "", Map.of(), List.of()),
                new Action.Hold(Optional.empty(), Optional.empty(), Optional.of(new QueueId("team-a"))));
        HistoryChecker checker = new HistoryChecker(DOMAIN, Scheduler::of, (scheduler, state, event) -> {
            Step step = scheduler.step(state, event);
            return event.sequence() == last ? beyondQuota(step, decision, jobs) : step;
        });
        queued.log().forEach(checker::take);
        return Set.copyOf(rules(checker.verdict(queued.decisions(), queued.leases())));
    }

    @Test
    @Breaks("host")
    void noticesMoreHostMemoryThanANodeHas() {
        Scenario hosted = Scenario.of("deepboot")
                .node("train", Pool.TRAINING, 2)
                .host("train", 8, 64)
                .rigidJob("a", 2)
                .after(ofSeconds(61))
                .settled()
                .progress("a", JobPhase.RUNNING);
        assertThat(hosted.job("a").allocation().host()).contains(new HostShare(4000, 32L << 30));

        assertThat(givenHost(hosted, 32)).doesNotContain("host");
        assertThat(givenHost(hosted, 33)).contains("host");
    }

    /** The rules that are broken if a decision at the last event gives a job so many GiB for each GPU. */
    private static Set<String> givenHost(Scenario hosted, int gib) {
        JobState job = hosted.job("a");
        Allocation given = job.allocation().with(new HostShare(4000, (long) gib << 30));
        Decision decision = new Decision(
                DECISION,
                hosted.now(),
                hosted.now().plusSeconds(45),
                false,
                new Reason("test", "", Map.of(), List.of()),
                new Action.Resize(new JobId("a"), List.of(), given));
        JobState after =
                job.allocated(given, Optional.empty(), DECISION, hosted.now().plusSeconds(45), hosted.now());
        long last = hosted.log().get(hosted.log().size() - 1).sequence();
        HistoryChecker checker = new HistoryChecker(DOMAIN, Scheduler::of, (scheduler, state, event) -> {
            Step step = scheduler.step(state, event);
            Step faulty = with(step, after);
            return event.sequence() == last ? new Step(faulty.state(), List.of(decision), faulty.changed()) : step;
        });
        hosted.log().forEach(checker::take);
        return rules(checker.verdict(hosted.decisions(), hosted.leases()));
    }

    @Test
    void noticesGpusTakenFromAQueueWithinItsNominalQuota() {
        assertThat(takenFor(Optional.empty(), Preemption.NEVER, 0)).isTrue();
    }

    @Test
    void aPromiseOfTheSameQueueExcusesOnlyWhatAHigherPriorityMayTake() {
        Optional<String> other = Optional.of("train-g2");
        Optional<String> taken = Optional.of("train-g0");

        assertThat(takenFor(other, Preemption.LOWER_PRIORITY, 1)).isFalse();
        assertThat(takenFor(taken, Preemption.LOWER_PRIORITY, 1)).isFalse();
        assertThat(takenFor(taken, Preemption.LOWER_PRIORITY, 0)).isTrue();
        assertThat(takenFor(taken, Preemption.NEVER, 1)).isTrue();
    }

    /**
     * Whether GPUs of a queue within its nominal quota seem to be taken for another one.
     *
     * @param promised a GPU that is promised to a waiting job of the same queue, which asks for too many GPUs
     */
    private static boolean takenFor(Optional<String> promised, Preemption within, int priority) {
        QueueId team = new QueueId("team-a");
        Scenario queued = Scenario.of("deepboot").node("train", Pool.TRAINING, 3);
        queued.tell(new ClusterQueue(
                                team,
                                DOMAIN,
                                queued.now(),
                                Optional.empty(),
                                1,
                                List.of(KindQuota.of(Optional.empty(), 3)))
                        .preempting(within, Preemption.ANY))
                .rigidJob("a", 2, "team-a")
                .settled()
                .tell(queued.jobRecord("b", 4, false)
                        .with(new TrainingJob.Precedence(priority, team, Optional.empty())));
        queued.progress("a", JobPhase.FINISHED);
        long last = queued.log().get(queued.log().size() - 1).sequence();
        HistoryChecker checker = new HistoryChecker(DOMAIN, Scheduler::of, (scheduler, state, event) -> {
            Step step = scheduler.step(state, event);
            return event.sequence() == last ? takingForQuota(step, promised) : step;
        });
        queued.log().forEach(checker::take);
        return checker.verdict(queued.decisions(), queued.leases()).violations().stream()
                .anyMatch(violation -> violation.text().contains("for another queue from queue team-a"));
    }

    /** The step whose decisions are for a quota, with a promise to the job b only. */
    private static Step takingForQuota(Step step, Optional<String> promised) {
        List<Decision> decisions = step.decisions().stream()
                .map(decision -> new Decision(
                        decision.id(),
                        decision.at(),
                        decision.deadline(),
                        false,
                        new Reason("quota", "", Map.of(), List.of()),
                        decision.action()))
                .toList();
        ClusterState state = step.state();
        List<Promise> promises = promised
                .map(unit -> new Promise(
                        new GpuId(unit),
                        new Tenant.Job(new JobId("b")),
                        state.now().plusSeconds(90)))
                .stream()
                .toList();
        return new Step(ClusterStates.promising(state, promises), decisions, step.changed());
    }
}
