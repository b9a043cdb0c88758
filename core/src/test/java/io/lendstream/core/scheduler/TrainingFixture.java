package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Owner;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;

/** A scheduler with a scripted policy, two training GPUs, four GPUs of inference, and jobs. */
abstract class TrainingFixture {
    static final ServiceId CHAT = new ServiceId("chat");
    static final DecisionId BEFORE = new DecisionId(Scenario.DOMAIN, 1, 1);

    final ScriptedPolicy policy = new ScriptedPolicy();
    final Map<String, String> vetoes = new TreeMap<>();
    final StepListener listener = new StepListener() {
        @Override
        public void planned(ClusterView view, Plan plan) {
            seen = plan;
        }

        @Override
        public void vetoed(JobId job, String why) {
            vetoes.put(job.value(), why);
        }
    };

    Plan seen = new Plan(Map.of(), Map.of());
    Scheduler scheduler = new Scheduler(policy, SchedulerSettings.DEFAULTS);
    Scenario story = begun();
    EditedState state = new EditedState(story);
    Step step;

    /** Two training GPUs, four of inference of which one serves, and three queued elastic jobs. */
    Scenario begun() {
        return new Scenario(scheduler)
                .node("train", Pool.TRAINING, 2)
                .node("infer", Pool.INFERENCE, 4)
                .service("chat", 1)
                .settled()
                .job("a", 4)
                .job("b", 4)
                .job("c", 4)
                .rate("chat", 1);
    }

    void settings(String key, String value) {
        scheduler = new Scheduler(policy, SchedulerSettings.of(Map.of(key, value)));
    }

    static List<GpuId> gpus(String... names) {
        return Arrays.stream(names).map(GpuId::new).toList();
    }

    void trainsOn(String job, String... names) {
        for (String name : names) {
            state.owner(
                    name,
                    name.startsWith("train")
                            ? new Owner.Training(new JobId(job))
                            : new Owner.Lent(new JobId(job), BEFORE, state.now().plus(ofMinutes(10))));
        }
        state.job(job, known -> holding(known, state.now(), names).settled(Optional.empty()));
    }

    /** Holds GPUs since a time, by a decision that is being carried out. */
    static JobState holding(JobState job, Instant since, String... names) {
        Allocation allocation = names.length == 0
                ? Allocation.suspended(Mechanism.AFE)
                : new Allocation(gpus(names), 64, 1, 1.0, Mechanism.AFE);
        return job.allocated(allocation, Optional.empty(), BEFORE, since.plusSeconds(60), since)
                .aiming(gpus(names));
    }

    void aimsAt(String job, String... names) {
        state.job(job, known -> known.aiming(gpus(names)));
    }

    /** The policy is asked now and proposes that each job has these GPUs. */
    void planned(Map<String, List<GpuId>> targets) {
        planned(targets, Optional.empty());
    }

    void planned(Map<String, List<GpuId>> targets, Optional<Instant> holdsUntil) {
        Map<JobId, List<GpuId>> byJob = new TreeMap<>();
        Map<JobId, PlanReason> reasons = new TreeMap<>();
        targets.forEach((job, gpus) -> {
            byJob.put(new JobId(job), gpus);
            reasons.put(new JobId(job), new PlanReason("the policy wants it for " + job, Map.of("wanted", 1.0)));
        });
        policy.propose(new Plan(byJob, reasons, Map.of(), List.of(), holdsUntil));
        step = state.planAt(state.now()).tick(scheduler, listener);
    }

    /** A tick at which no plan is due. */
    void ticked() {
        step = state.planAt(state.now().plus(ofMinutes(30))).tick(scheduler, listener);
    }

    JobState job(String name) {
        return step.state().jobs().require(new JobId(name));
    }

    Owner owner(String gpu) {
        return step.state().gpus().require(new GpuId(gpu)).owner();
    }

    List<String> kinds() {
        return step.decisions().stream()
                .map(decision ->
                        decision.action().kind() + " " + decision.action().target())
                .toList();
    }

    Decision only() {
        assertThat(step.decisions()).hasSize(1);
        return step.decisions().get(0);
    }

    Instant minutes(int count) {
        return state.now().plus(ofMinutes(count));
    }

    ClusterView view() {
        return policy.shown().get(policy.shown().size() - 1);
    }

    static List<String> names(ClusterView view) {
        return view.gpus().stream().map(gpu -> gpu.gpuId().value()).toList();
    }

    /** How many GPUs a policy that counts them finds in the last view. */
    String counted() {
        Map<JobId, PlanReason> reasons = Policies.parse("deepboot").plan(view()).reasons();
        Map<String, Double> numbers = reasons.values().iterator().next().numbers();
        return "%.0f GPUs for %.0f jobs".formatted(numbers.get("gpus"), numbers.get("jobs"));
    }

    void unavailable(String node, Pool pool, int count) {
        List<Gpu> gpus = IntStream.range(0, count)
                .mapToObj(i -> Gpu.whole(new GpuId(node + "-g" + i), i, "test GPU", 80L << 30))
                .toList();
        story.tell(
                new Node(new NodeId(node), Scenario.DOMAIN, pool, "boot-1", story.now(), NodeStatus.UNAVAILABLE, gpus));
    }

    Instant changedAt(String job) {
        return job(job).usage().attainedUpTo();
    }

    TrainingProgress finished(String job) {
        return new TrainingProgress(
                new JobId(job),
                Scenario.DOMAIN,
                story.now(),
                JobPhase.FINISHED,
                1,
                Optional.empty(),
                new TrainingProgress.Parallelism(1, 1, 64, 0),
                TrainingProgress.StepTiming.NOT_MEASURED,
                TrainingProgress.GradientStatistics.NOT_MEASURED);
    }

    /** What a change costs a job in the policy's eyes. */
    Duration cost(String name) {
        JobView job = view().jobs().stream()
                .filter(each -> each.job().value().equals(name))
                .findFirst()
                .orElseThrow();
        return job.costs().next();
    }

    /** Why so many loans are too many for the limit per minute. */
    static String perMinute(int loans, int most, int limit, int minutes) {
        return "%s would begin, but only %d may begin now: scheduler.max-loans-per-minute is %d (%d min between plans); wait for the next plan, or raise it"
                .formatted(loans == 1 ? "1 new loan" : loans + " new loans", most, limit, minutes);
    }

    void onInstance(String job, String unit) {
        state.owner(unit, new Owner.Lent(new JobId(job), BEFORE, minutes(10)));
        state.job(
                job,
                known -> known.allocated(
                                new Allocation(gpus(unit), 64, 1, 1.0, Mechanism.AFE),
                                Optional.of(9.5 / 80),
                                BEFORE,
                                minutes(1),
                                state.now())
                        .aiming(gpus(unit))
                        .settled(Optional.empty()));
    }
}
