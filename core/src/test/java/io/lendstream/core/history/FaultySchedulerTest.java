package io.lendstream.core.history;

import static io.lendstream.core.fixtures.Scenario.DOMAIN;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Granularity;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.KindNeeds;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
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
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Owner;
import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Rules that no log breaks as long as the scheduler is sound: the last step of a replay gets a fault. */
class FaultySchedulerTest extends FaultyStepFixture {
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
        Stream.of(
                        HistoryCheckerTest.class,
                        FaultySchedulerTest.class,
                        FaultyGroupsTest.class,
                        FaultyLoansTest.class,
                        FaultyQuotasTest.class,
                        SnapshotReplayTest.class)
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
