package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.MigInstance;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.SlicePlan;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A domain with a plan of MIG instances in force, and the step that it leads to. */
abstract class RepartitioningFixture {
    static final ServiceId CHAT = new ServiceId("chat");
    static final ServiceId SEARCH = new ServiceId("search");
    static final Owner SERVES = new Owner.Serving(CHAT);
    static final DecisionId BEFORE = new DecisionId(Scenario.DOMAIN, 1, 1);
    static final Map<String, Double> CAPACITIES = Map.of(
            "1g.10gb", 60.0,
            "1g.20gb", 60.0,
            "2g.20gb", 120.0,
            "3g.40gb", 200.0,
            "4g.40gb", 250.0,
            "7g.80gb", 400.0);

    Scheduler scheduler = new Scheduler(
            Policies.parse("deepboot"), SchedulerSettings.DEFAULTS.withRepartition(true), Slices.LATENCIES);
    Scenario story;
    EditedState state;
    Step step;
    Instant cutsFrom = Instant.EPOCH;
    String model = "A100-80GB";

    /** GPUs of one node in MIG mode, cut so, and two services that ask for 50 requests/s each. */
    void cluster(String... cuts) {
        story = services(50).migNode("cut", Pool.INFERENCE, cuts);
        state = new EditedState(story);
    }

    /** The same where MIG mode may be switched, all units are free, and only chat is asked for something. */
    void switchable(String... cuts) {
        story = services(0).switchableNode("cut", Pool.INFERENCE, cuts);
        state = new EditedState(story);
        for (GpuState gpu : story.state().gpus().values()) {
            state.owner(gpu.gpuId().value(), new Owner.Free());
        }
    }

    static Scenario services(double search) {
        Scheduler quiet = new Scheduler(new ScriptedPolicy(), SchedulerSettings.DEFAULTS);
        return new Scenario(quiet)
                .service("chat", 0)
                .service("search", 0)
                .rate("chat", 50)
                .rate("search", search);
    }

    static SlicePlan.Cut cut(String... instances) {
        return new SlicePlan.Cut(
                Arrays.stream(instances)
                        .map(each -> each.substring(0, each.indexOf(' ')))
                        .toList(),
                Arrays.stream(instances)
                        .map(each -> new ServiceId(each.substring(each.indexOf(' ') + 1)))
                        .toList());
    }

    /** The plan in force, for 50 requests/s of these services; it was considered just now. */
    SlicePlan plan(List<ServiceId> services, SlicePlan.Cut... cuts) {
        return new SlicePlan(
                state.now(),
                model,
                List.of(cuts),
                services.stream()
                        .map(service -> new SlicePlan.Demand(service, 50, CAPACITIES))
                        .toList(),
                0,
                Instant.EPOCH,
                cutsFrom,
                "as the test has it");
    }

    void ticked(SlicePlan.Cut... cuts) {
        ticked(plan(List.of(CHAT, SEARCH), cuts));
    }

    void ticked(SlicePlan plan) {
        step = state.slices(plan).planAt(state.now().plus(ofMinutes(10))).tick(scheduler);
    }

    List<String> kinds() {
        return step.decisions().stream()
                .map(decision ->
                        (decision.action().kind() + " " + decision.action().target()).strip())
                .toList();
    }

    Decision only() {
        assertThat(step.decisions()).hasSize(1);
        return step.decisions().get(0);
    }

    Owner owner(String gpu) {
        return step.state().gpus().require(new GpuId(gpu)).owner();
    }

    /** A job trains on a unit that was lent to it for 600 s. */
    void lends(String unit, String job) {
        lends(unit, job, state.now().plusSeconds(600));
    }

    void lends(String unit, String job, Instant until) {
        story.smallJob(job, 1, 8);
        EditedState with = new EditedState(story);
        state.state().gpus().stream()
                .filter(gpu -> !gpu.isFree())
                .forEach(gpu -> with.owner(gpu.gpuId().value(), gpu.owner()));
        state.state().jobs().stream()
                .filter(known -> known.gpus() > 0)
                .forEach(known -> with.job(known.spec().job().value(), any -> known));
        state = with;
        List<GpuId> gpus = List.of(new GpuId(unit));
        Optional<Double> share =
                state.state().gpus().require(new GpuId(unit)).instance().map(MigInstance::share);
        state.owner(unit, new Owner.Lent(new JobId(job), BEFORE, until))
                .job(
                        job,
                        known -> known.allocated(
                                        new Allocation(gpus, 64, 1, 1, Mechanism.AFE),
                                        share,
                                        BEFORE,
                                        state.now(),
                                        state.now())
                                .aiming(gpus)
                                .settled(Optional.empty()));
    }
}
