package io.lendstream.core.history;

import static io.lendstream.core.fixtures.Scenario.DOMAIN;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.GroupPart;
import io.lendstream.core.decision.HostShare;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReplicaId;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Granularity;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.KindNeeds;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Preemption;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.fixtures.ClusterStates;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.ChangeLimits;
import io.lendstream.core.scheduler.ClusterModel;
import io.lendstream.core.scheduler.QuietWindows;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.Promise;
import io.lendstream.core.state.QueueState;
import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Rules that no log breaks as long as the scheduler is sound: the last step of a replay gets a fault. */
class FaultySchedulerTest {
    private static final DecisionId DECISION = new DecisionId(DOMAIN, 1, 99);

    /** A rigid job on both training GPUs, one replica of a service whose floor is one, one idle GPU; last, a rate. */
    private final Scenario story = Scenario.of("deepboot")
            .node("train", Pool.TRAINING, 2)
            .node("infer", Pool.INFERENCE, 2)
            .migNode("cut", Pool.INFERENCE, "3g.40gb@0 3g.40gb@4")
            .service("chat", 1)
            .settled()
            .rigidJob("rigid", 2)
            .after(ofSeconds(50))
            .rate("chat", 1)
            .settled()
            .after(ofSeconds(11))
            .settled()
            .progress("rigid", JobPhase.RUNNING)
            .rate("chat", 1);

    private Set<String> broken(UnaryOperator<Step> fault) {
        long last = story.log().get(story.log().size() - 1).sequence();
        HistoryChecker checker = new HistoryChecker(DOMAIN, Scheduler::of, (scheduler, state, event) -> {
            Step step = scheduler.step(state, event);
            return event.sequence() == last ? fault.apply(step) : step;
        });
        story.log().forEach(checker::take);
        return rules(checker.verdict(story.decisions(), List.of()));
    }

    /** Leases are left out: what the fault does was not published. */
    private static Set<String> rules(Verdict verdict) {
        return verdict.violations().stream()
                .map(Violation::rule)
                .filter(rule -> !rule.equals("leases"))
                .collect(Collectors.toSet());
    }

    private static Step with(Step step, GpuState gpu) {
        return with(step, step.state().entities().with(gpu), gpu.gpuId());
    }

    private static Step with(Step step, JobState job) {
        return with(step, step.state().entities().with(job), new GpuId("train-g0"));
    }

    private static Step with(Step step, ClusterEntities entities, GpuId owned) {
        ClusterState state = step.state();
        Set<GpuId> owners = new TreeSet<>(step.changed().owners());
        owners.add(owned);
        return new Step(
                ClusterStates.with(state, entities),
                step.decisions(),
                new Step.Changed(
                        step.changed().nodes(),
                        step.changed().gpus(),
                        step.changed().services(),
                        step.changed().jobs(),
                        step.changed().queues(),
                        step.changed().actuators(),
                        owners));
    }

    private static Step owned(Step step, String gpu, Owner owner) {
        GpuState before = step.state().gpus().require(new GpuId(gpu));
        return with(step, before.with(owner, step.state().now(), step.state().eventSequence()));
    }

    private static Owner releasing(Tenant tenant, Step step) {
        return new Owner.Releasing(
                tenant, DECISION, step.state().now(), step.state().now().plusSeconds(45));
    }

    private String serving() {
        return story.state().gpus().stream()
                .filter(gpu -> gpu.owner() instanceof Owner.Serving)
                .findFirst()
                .orElseThrow()
                .gpuId()
                .value();
    }

    @Test
    void isContentWithASoundScheduler() {
        assertThat(story.count("training")).isEqualTo(2);
        assertThat(broken(step -> step)).isEmpty();
    }

    @Test
    @Breaks("floor")
    void noticesAReplicaTakenFromTheFloor() {
        Tenant chat = new Tenant.Service(new ServiceId("chat"));

        assertThat(broken(step -> owned(step, serving(), releasing(chat, step))))
                .containsExactly("floor");
    }

    @Test
    void aReplicaBeyondTheFloorMayBeTaken() {
        story.rate("chat", 15).settled().rate("chat", 15);
        assertThat(story.count("serving")).isEqualTo(2);
        Tenant chat = new Tenant.Service(new ServiceId("chat"));

        assertThat(broken(step -> owned(step, serving(), releasing(chat, step))))
                .isEmpty();
    }

    /** It does not count for the floor either, because a replica works only whole. */
    @Test
    @Breaks("group")
    void noticesAReplicaThatServesWithSomeOfItsUnits() {
        GroupPart part = new GroupPart(ReplicaId.of(DECISION, 0), "tp2", ReplicaRole.ALL, 2, true);

        assertThat(broken(step -> with(
                        step, step.state().gpus().require(new GpuId(serving())).in(part))))
                .containsExactlyInAnyOrder("floor", "group");
    }

    @Test
    void noticesAGangThatTrainsOnSomeOfItsGpus() {
        Scenario gang = startingGang();
        reported(gang, Outcome.BOUND);

        assertThat(brokenGang(gang, step -> owned(step, "train-g0", new Owner.Training(new JobId("a")))))
                .containsExactly("group");
        assertThat(brokenGang(gang, step -> step)).isEmpty();
    }

    @Test
    void noticesAGangThatIsUndoneInPart() {
        Scenario gang = startingGang();
        GpuState left = gang.state().gpus().require(new GpuId("train-g1"));
        reported(gang, Outcome.FAILED);
        assertThat(gang.lastKinds()).containsExactly("resize");

        assertThat(brokenGang(gang, step -> with(step, left))).contains("group");
        assertThat(brokenGang(gang, step -> step)).isEmpty();
    }

    @Test
    void noticesAGangThatGoesOnWithFewerGpusWithoutADecision() {
        Scenario gang = Scenario.of("afs").node("train", Pool.TRAINING, 3);
        gang.tell(gang.jobRecord("a", 3, true).shaped(JobShape.ANY.together()));
        for (int i = 0; i < 60 && gang.job("a").gpus() == 0; i++) {
            gang.after(ofSeconds(5));
        }
        gang.settled().after(ofSeconds(1)).progress("a", JobPhase.RUNNING);
        assertThat(gang.count("training")).isEqualTo(3);

        assertThat(brokenGang(gang, step -> {
                    Step freed = owned(step, "train-g0", new Owner.Free());
                    JobState job = freed.state().jobs().require(new JobId("a"));
                    return with(
                            freed,
                            job.without(
                                    List.of(new GpuId("train-g0")),
                                    freed.state().now()));
                }))
                .contains("group");
    }

    /** A gang that is about to get both GPUs of a node. */
    private static Scenario startingGang() {
        Scenario gang = Scenario.of("deepboot").node("train", Pool.TRAINING, 2);
        gang.tell(gang.jobRecord("a", 2, false).shaped(JobShape.ANY.together()));
        for (int i = 0; i < 60 && gang.job("a").gpus() == 0; i++) {
            gang.after(ofSeconds(5));
        }
        assertThat(gang.count("binding")).isEqualTo(2);
        return gang;
    }

    private static void reported(Scenario gang, Outcome outcome) {
        DecisionId start = gang.decisions().get(gang.decisions().size() - 1).id();
        gang.tell(gang.report(
                start, outcome, List.of(new GpuId("train-g0")), Optional.of(new Tenant.Job(new JobId("a")))));
    }

    private static Set<String> brokenGang(Scenario gang, UnaryOperator<Step> fault) {
        long last = gang.log().get(gang.log().size() - 1).sequence();
        HistoryChecker checker = new HistoryChecker(DOMAIN, Scheduler::of, (scheduler, state, event) -> {
            Step step = scheduler.step(state, event);
            return event.sequence() == last ? fault.apply(step) : step;
        });
        gang.log().forEach(checker::take);
        return rules(checker.verdict(gang.decisions(), List.of()));
    }

    @Test
    @Breaks("role floor")
    void noticesAReplicaTakenFromTheFloorOfARole() {
        Scenario parts =
                Scenario.of("deepboot").node("infer", Pool.INFERENCE, 3).actuator("one", Abilities.USUAL);
        parts.tell(parts.serviceRecord("chat", 1)
                        .inShapes(List.of(
                                ReplicaShape.of("in", 1, 1, 20, ofSeconds(8)).as(ReplicaRole.PREFILL),
                                ReplicaShape.of("out", 1, 1, 10, ofSeconds(8)).as(ReplicaRole.DECODE))))
                .settled()
                .rate("chat", 10)
                .settled()
                .rate("chat", 10);
        long last = parts.log().get(parts.log().size() - 1).sequence();
        Tenant chat = new Tenant.Service(new ServiceId("chat"));
        String prefill = parts.state().gpus().stream()
                .filter(unit -> unit.part()
                        .filter(part -> part.role() == ReplicaRole.PREFILL)
                        .isPresent())
                .findFirst()
                .orElseThrow()
                .gpuId()
                .value();

        HistoryChecker checker = new HistoryChecker(DOMAIN, Scheduler::of, (scheduler, state, event) -> {
            Step step = scheduler.step(state, event);
            return event.sequence() == last ? owned(step, prefill, releasing(chat, step)) : step;
        });
        parts.log().forEach(checker::take);

        assertThat(rules(checker.verdict(parts.decisions(), List.of()))).containsExactly("role floor");
    }

    @Test
    @Breaks("one owner")
    void noticesAGpuOfAJobThatHasNoOwner() {
        assertThat(broken(step -> owned(step, "train-g0", new Owner.Free()))).containsExactly("one owner");
    }

    @Test
    void noticesAGpuThatTwoJobsHave() {
        JobState rigid = story.job("rigid");
        story.rigidJob("other", 2).rate("chat", 1);

        assertThat(broken(step -> with(
                        step,
                        step.state()
                                .jobs()
                                .require(new JobId("other"))
                                .allocated(rigid.allocation(), Optional.empty(), DECISION, story.now(), story.now()))))
                .containsExactly("one owner");
    }

    @Test
    @Breaks("lend")
    void noticesATrainingGpuThatIsLent() {
        Owner lent = new Owner.Lent(new JobId("rigid"), DECISION, story.now().plusSeconds(600));

        assertThat(broken(step -> owned(step, "train-g0", lent))).containsExactly("lend");
    }

    @Test
    @Breaks("instances")
    void noticesAGpuThatCanBeGivenAsAWholeAndInInstances() {
        assertThat(broken(step -> with(
                        step, GpuState.free(new GpuId("cut-g0"), new NodeId("cut"), Pool.INFERENCE, story.now(), 1))))
                .containsExactly("instances");
    }

    @Test
    @Breaks("release")
    void noticesAReleaseThatIsLateAndRaisesNoAlarm() {
        Instant by = story.now().minus(Duration.ofMinutes(10));
        Owner late = new Owner.Releasing(new Tenant.Service(new ServiceId("chat")), DECISION, by, by.plusSeconds(45));
        Owner onTime = new Owner.Releasing(
                new Tenant.Service(new ServiceId("chat")),
                DECISION,
                story.now(),
                story.now().plusSeconds(45));

        assertThat(broken(step -> owned(step, "infer-g1", late))).containsExactly("release");
        assertThat(broken(step -> owned(step, "infer-g1", onTime))).isEmpty();
    }

    @Test
    @Breaks("gang")
    void noticesARigidJobOnFewerGpusThanItAskedFor() {
        GpuId lost = new GpuId("train-g0");

        assertThat(broken(step -> with(
                        owned(step, "train-g0", new Owner.Free()),
                        step.state().jobs().require(new JobId("rigid")).without(List.of(lost), story.now()))))
                .containsExactly("gang");
    }

    @Test
    void noticesADecisionThatGivesARigidJobFewerGpusThanItAskedFor() {
        Allocation one = new Allocation(List.of(new GpuId("train-g0")), 32, 0, 1, Mechanism.RESTART);
        Decision decision = new Decision(
                DECISION,
                story.now(),
                story.now().plusSeconds(45),
                false,
                new Reason("test", "", Map.of(), List.of()),
                new Action.Resize(new JobId("rigid"), List.of(new GpuId("train-g1")), one));

        assertThat(new Gangs().check(decision, story.state())).isPresent();
    }

    /** Its owner asks for more than it holds: that is no fault of the scheduler's. */
    @Test
    void aRigidJobWhoseOwnerAsksForMoreIsNoBrokenGang() {
        story.rigidJob("rigid", 3).rate("chat", 1);
        assertThat(story.job("rigid").gpus()).isEqualTo(2);

        assertThat(broken(step -> owned(
                        step,
                        "infer-g0",
                        step.state().gpus().require(new GpuId("infer-g0")).owner())))
                .isEmpty();
        assertThat(Invariants.check(story.state())).extracting(Violation::rule).containsExactly("gang");
    }

    @Test
    @Breaks("cap")
    void noticesMoreLoansThanTheShareAllows() {
        Scenario lending = lending(1.0);
        HistoryChecker checker = new HistoryChecker(
                DOMAIN,
                started -> scheduler(0.25),
                (strict, state, event) -> scheduler(1.0).step(state, event));
        lending.log().forEach(checker::take);
        assertThat(rules(checker.verdict(lending.decisions(), List.of()))).containsExactly("cap");

        HistoryChecker content = new HistoryChecker(DOMAIN, started -> scheduler(1.0));
        lending.log().forEach(content::take);
        assertThat(rules(content.verdict(lending.decisions(), List.of()))).isEmpty();
    }

    @Test
    @Breaks("kind")
    void noticesAJobOnTwoKinds() {
        Policy policy = Policies.parse("deepboot");
        Scheduler kinds = new Scheduler(policy, SchedulerSettings.DEFAULTS.withModel(ClusterModel.KINDS));
        Scenario mixed = new Scenario(kinds)
                .node("train-a", Pool.TRAINING, 1, "NVIDIA A100-SXM4-80GB", 80)
                .node("train-t", Pool.TRAINING, 1, "Tesla T4", 16)
                .job("a", 2);
        mixed.after(ofMinutes(3)).settled().progress("a", JobPhase.RUNNING);
        List<GpuId> both = List.of(new GpuId("train-a-g0"), new GpuId("train-t-g0"));
        Decision decision = new Decision(
                DECISION,
                mixed.now(),
                mixed.now().plusSeconds(45),
                false,
                new Reason("test", "", Map.of(), List.of()),
                new Action.Resize(new JobId("a"), both, new Allocation(both, 32, 0, 1, Mechanism.RESTART)));
        long last = mixed.log().get(mixed.log().size() - 1).sequence();

        HistoryChecker checker = new HistoryChecker(DOMAIN, Scheduler::of, (scheduler, state, event) -> {
            Step step = scheduler.step(state, event);
            return event.sequence() == last ? new Step(step.state(), List.of(decision), step.changed()) : step;
        });
        mixed.log().forEach(checker::take);

        assertThat(rules(checker.verdict(mixed.decisions(), mixed.leases()))).contains("kind");
    }

    @Test
    void aDecisionThatGivesAJobAKindThatItExcludesIsFound() {
        Scheduler kinds =
                new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS.withModel(ClusterModel.KINDS));
        KindNeeds onlyBig =
                new KindNeeds(List.of(new KindId("A100-SXM4-80GB")), Optional.empty(), Optional.empty(), List.of());
        Scenario mixed = new Scenario(kinds)
                .node("train-t", Pool.TRAINING, 1, "Tesla T4", 16)
                .job("a", 1, onlyBig);
        mixed.after(ofMinutes(3));
        List<GpuId> small = List.of(new GpuId("train-t-g0"));
        Decision decision = new Decision(
                DECISION,
                mixed.now(),
                mixed.now().plusSeconds(45),
                false,
                new Reason("test", "", Map.of(), List.of()),
                new Action.Resize(new JobId("a"), small, new Allocation(small, 32, 0, 1, Mechanism.RESTART)));
        long last = mixed.log().get(mixed.log().size() - 1).sequence();

        HistoryChecker checker = new HistoryChecker(DOMAIN, Scheduler::of, (scheduler, state, event) -> {
            Step step = scheduler.step(state, event);
            return event.sequence() == last ? new Step(step.state(), List.of(decision), step.changed()) : step;
        });
        mixed.log().forEach(checker::take);

        assertThat(checker.verdict(mixed.decisions(), mixed.leases()).violations())
                .extracting(Violation::text)
                .anyMatch(text -> text.contains("gives a job GPUs of kind Tesla-T4-16GB, which it excludes"));
    }

    @Test
    void aReplicaOnAKindThatItsServiceDoesNotDeclareIsFound() {
        Scheduler kinds =
                new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS.withModel(ClusterModel.KINDS));
        Scenario mixed = new Scenario(kinds).node("infer-t", Pool.INFERENCE, 1, "Tesla T4", 16);
        mixed.tell(mixed.serviceRecord("chat", 0).onKinds(List.of(KindCapacity.of(new KindId("A100-SXM4-80GB"), 10))))
                .rate("chat", 5);
        Decision decision = new Decision(
                DECISION,
                mixed.now(),
                mixed.now().plusSeconds(45),
                false,
                new Reason("test", "", Map.of(), List.of()),
                new Action.Serve(new ServiceId("chat"), List.of(new GpuId("infer-t-g0")), false));
        long last = mixed.log().get(mixed.log().size() - 1).sequence();

        HistoryChecker checker = new HistoryChecker(DOMAIN, Scheduler::of, (scheduler, state, event) -> {
            Step step = scheduler.step(state, event);
            return event.sequence() == last ? new Step(step.state(), List.of(decision), step.changed()) : step;
        });
        mixed.log().forEach(checker::take);

        assertThat(checker.verdict(mixed.decisions(), mixed.leases()).violations())
                .extracting(Violation::text)
                .anyMatch(text -> text.contains(
                        "starts a replica on infer-t-g0, of a kind that the service does not" + " declare"));
    }

    @Test
    @Breaks("shape")
    void noticesASizeThatTheShapeForbids() {
        assertThat(rules(givenOneOfTwo(JobShape.multiples(2)))).contains("shape");
        assertThat(rules(givenOneOfTwo(JobShape.nodes()))).contains("shape");
        assertThat(rules(givenOneOfTwo(JobShape.of(List.of(1, 2))))).doesNotContain("shape");
    }

    /** What the checker finds where a job in a shape is given one GPU of a node of two. */
    private static Verdict givenOneOfTwo(JobShape shape) {
        Scenario shaped =
                Scenario.of("deepboot").node("train", Pool.TRAINING, 2).job("a", 2, shape);
        shaped.after(ofMinutes(3)).settled().progress("a", JobPhase.RUNNING);
        List<GpuId> one = List.of(new GpuId("train-g0"));
        Decision decision = new Decision(
                DECISION,
                shaped.now(),
                shaped.now().plusSeconds(45),
                false,
                new Reason("test", "", Map.of(), List.of()),
                new Action.Resize(new JobId("a"), one, new Allocation(one, 32, 0, 1, Mechanism.RESTART)));
        long last = shaped.log().get(shaped.log().size() - 1).sequence();

        HistoryChecker checker = new HistoryChecker(DOMAIN, Scheduler::of, (scheduler, state, event) -> {
            Step step = scheduler.step(state, event);
            return event.sequence() == last ? new Step(step.state(), List.of(decision), step.changed()) : step;
        });
        shaped.log().forEach(checker::take);
        return checker.verdict(shaped.decisions(), shaped.leases());
    }

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
    @Breaks("bundle")
    void noticesAJobOnANodeWithAReplica() {
        Scenario whole = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 2)
                .actuator("one", Abilities.USUAL.withGranularity(Granularity.NODE))
                .service("chat", 1)
                .settled()
                .job("a", 1)
                .settled();
        assertThat(whole.count("serving")).isEqualTo(1);
        long last = whole.log().get(whole.log().size() - 1).sequence();
        Decision decision = new Decision(
                DECISION,
                whole.now(),
                whole.now().plusSeconds(45),
                false,
                new Reason("test", "", Map.of(), List.of()),
                Action.Hold.without("granularity"));

        HistoryChecker checker = new HistoryChecker(DOMAIN, Scheduler::of, (scheduler, state, event) -> {
            Step step = scheduler.step(state, event);
            return event.sequence() == last ? beyondQuota(step, decision, "a") : step;
        });
        whole.log().forEach(checker::take);

        assertThat(rules(checker.verdict(whole.decisions(), whole.leases()))).contains("bundle");
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

    /** The step in which a decision also gives each of these jobs a free GPU. */
    private static Step beyondQuota(Step step, Decision decision, String... jobs) {
        Step bound = step;
        for (String job : jobs) {
            String free = bound.state().gpus().stream()
                    .filter(GpuState::isFree)
                    .findFirst()
                    .orElseThrow()
                    .gpuId()
                    .value();
            Owner.Binding binding = new Owner.Binding(
                    new Tenant.Job(new JobId(job)), DECISION, decision.deadline(), Optional.empty(), 1);
            bound = owned(bound, free, binding);
        }
        return new Step(bound.state(), List.of(decision), bound.changed());
    }

    private static Scheduler scheduler(double share) {
        ChangeLimits usual = ChangeLimits.DEFAULTS;
        ChangeLimits limits = new ChangeLimits(
                share, usual.maxLoansPerMinute(), usual.maxTransfers(), Duration.ZERO, QuietWindows.NONE);
        return new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS.withChangeLimits(limits));
    }

    /** An elastic job that is lent two of four inference GPUs or more. */
    private static Scenario lending(double share) {
        Scenario lending = new Scenario(scheduler(share))
                .node("train", Pool.TRAINING, 1)
                .node("infer", Pool.INFERENCE, 4)
                .service("chat", 1)
                .settled()
                .job("a", 4);
        for (int i = 0; i < 40 && lending.count("lent") < 2; i++) {
            lending.rate("chat", 1).settled().after(ofSeconds(15)).settled();
            if (lending.job("a").gpus() > 0) {
                lending.progress("a", JobPhase.RUNNING).settled();
            }
        }
        assertThat(lending.count("lent")).isGreaterThanOrEqualTo(2);
        return lending;
    }

    /** A rule that no test breaks may never fire. */
    @Test
    void everyRuleIsBrokenByATest() {
        List<Method> tests = new ArrayList<>();
        Stream.of(HistoryCheckerTest.class, FaultySchedulerTest.class)
                .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
                .filter(method -> method.isAnnotationPresent(Breaks.class))
                .forEach(tests::add);

        assertThat(tests).allMatch(method -> method.isAnnotationPresent(Test.class));
        assertThat(tests.stream()
                        .map(method -> method.getAnnotation(Breaks.class).value()))
                .containsExactlyInAnyOrderElementsOf(HistoryChecker.RULES);
    }

    /** Kept so that the fault is applied to an event of the log, and not after it. */
    @Test
    void theLastEventIsARate() {
        DomainEvent last = story.log().get(story.log().size() - 1);

        assertThat(last.event()).isInstanceOf(io.lendstream.core.event.RequestRate.class);
    }
}
