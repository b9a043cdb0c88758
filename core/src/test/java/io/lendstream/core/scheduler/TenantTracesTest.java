package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.SeenUsers;
import io.lendstream.core.state.SlotKnowledge;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TenantTracesTest {
    private static final String OWN = "process/4711-99";
    private static final String STRANGER = "process/5-5";
    private static final String NAMED = "lendstream/test/job/bert";
    private static final GpuId FIRST = new GpuId("n-g0");
    private static final GpuId SECOND = new GpuId("n-g1");
    private static final Map<String, String> OLD =
            Map.of("heed-users", "true", "heed-intruders", "true", "quarantine-evidence", "PT10M");

    private Scenario story = story(true);
    private final Map<GpuId, List<String>> users = new HashMap<>();
    private long samples;

    private static Scenario story(boolean remembers) {
        Map<String, String> settings = new HashMap<>(OLD);
        if (remembers) {
            settings.put("remember-users", "true");
        }
        return new Scenario(new Scheduler(Policies.parse("deepboot"), SchedulerSettings.of(settings)));
    }

    private void sample() {
        List<GpuSample> all = story.state().gpus().stream()
                .map(GpuState::gpuId)
                .map(gpu -> GpuSample.of(gpu).build().withUsers(users.getOrDefault(gpu, List.of())))
                .toList();
        samples++;
        story.tell(new GpuTelemetry(new NodeId("n"), Scenario.DOMAIN, "boot-1", samples, story.now(), all))
                .settled();
    }

    /** Lets time pass, with a sample every 20 s and good actuators. */
    private void sampled(Duration time) {
        for (long second = 20; second <= time.toSeconds(); second += 20) {
            story.after(ofSeconds(20)).settled();
            sample();
        }
    }

    /** A job on a GPU where agents show these. */
    private void trains(String... shown) {
        story.node("n", Pool.TRAINING, 1).actuator("test", Abilities.USUAL, "n");
        sample();
        sampled(ofSeconds(20));
        story.job("bert", 1);
        sampled(ofMinutes(2));
        assertThat(label()).isEqualTo("training");
        users.put(FIRST, List.of(shown));
        sampled(ofSeconds(40));
    }

    private void ends(String job) {
        story.progress(job, JobPhase.FINISHED).settled();
    }

    private String label() {
        return story.owner("n-g0").label();
    }

    private Optional<List<String>> seen(GpuId gpu) {
        return story.state().gpus().require(gpu).history().seen().map(SeenUsers::users);
    }

    private void assertHistoryIsLegal() {
        assertThat(HistoryChecker.check(Scenario.DOMAIN, story.log(), story.decisions(), story.leases())
                        .violations())
                .isEmpty();
    }

    @Test
    void aUserThatStaysAfterTheReleaseIsTheTenantAndNoStranger() {
        trains(OWN);
        assertThat(seen(FIRST)).contains(List.of(OWN));
        ends("bert");
        sampled(ofSeconds(20));
        assertThat(label()).as("an agent may lag").isEqualTo("free");

        sampled(ofSeconds(20));

        assertThat(label()).isEqualTo("quarantined");
        assertThat(story.owner("n-g0").asQuarantined().orElseThrow().reason())
                .isEqualTo(
                        "process/4711-99, which was there while job bert had it, still runs on it: its release did not happen; stop it, then reset the GPU");
        sampled(ofMinutes(30));
        assertThat(label()).isEqualTo("quarantined");
        assertHistoryIsLegal();
    }

    @Test
    void theQuarantineEndsOnceAgentAndActuatorSawNothingForTenMinutes() {
        trains(OWN);
        ends("bert");
        sampled(ofSeconds(40));
        assertThat(label()).isEqualTo("quarantined");
        users.clear();
        for (int i = 0; i < 10; i++) {
            sampled(ofMinutes(1));
            nothingRuns();
        }
        assertThat(label()).isEqualTo("quarantined");

        sampled(ofMinutes(2));

        assertThat(label()).isEqualTo("free");
        assertHistoryIsLegal();
    }

    private void nothingRuns() {
        story.tell(new ActuationReport(
                Scenario.DOMAIN,
                new DecisionId(Scenario.DOMAIN, 0, 0),
                "test",
                story.now(),
                Outcome.HOLDS,
                List.of(FIRST),
                Optional.empty(),
                Timings.NONE,
                ""));
    }

    @Test
    void aJobThatGaveUpOneOfItsGpusIsNoStrangerThere() {
        Moment moment = new Moment().node("n", Pool.TRAINING, 2).job("bert", 2);
        moment.owned(Moment.training("bert"), "n-g0", "n-g1").allocated("bert", "n-g0", "n-g1");
        GpuSample[] both = {
            GpuSample.of(FIRST).build().withUsers(List.of(OWN)),
            GpuSample.of(SECOND).build().withUsers(List.of(OWN))
        };
        tell(moment, both);
        moment.set(builder -> builder.put(builder.gpu(SECOND).boundBy("test")));
        moment.allocated("bert", "n-g0");
        moment.set(builder -> builder.own(SECOND, new Owner.Free()));

        moment.later(ofSeconds(31));
        tell(moment, both);

        assertThat(moment.owner("n-g1").label()).isEqualTo("quarantined");
        assertThat(moment.owner("n-g0").label()).isEqualTo("training");
    }

    private void tell(Moment moment, GpuSample... shown) {
        samples++;
        DomainEvent event = moment.logged(new GpuTelemetry(
                new NodeId("n"),
                Scenario.DOMAIN,
                "boot-1",
                samples,
                moment.after(ofSeconds(1)).now(),
                List.of(shown)));
        StepBuilder builder = new StepBuilder(moment.state(), event, StepListener.NONE);
        new EventApplier(
                        builder,
                        Policies.parse("deepboot"),
                        SchedulerSettings.of(Map.of("heed-users", "true", "remember-users", "true")))
                .take(event.event());
        moment.kept(builder);
    }

    @Test
    void anIntruderStaysAStrangerAlsoIfItWasGoneForAWhile() {
        trains(NAMED, STRANGER);
        users.put(FIRST, List.of(NAMED));
        sampled(ofSeconds(20));
        users.put(FIRST, List.of(STRANGER));
        sampled(ofSeconds(40));
        assertThat(seen(FIRST)).contains(List.of(NAMED));
        ends("bert");

        sampled(ofSeconds(40));

        assertThat(label()).isEqualTo("foreign");
    }

    @Test
    void theTenantBesideAnIntruderIsNoStrangerAfterItsRelease() {
        trains(OWN, "lendstream/test/job/gpt");
        assertThat(seen(FIRST)).contains(List.of(OWN));
        users.put(FIRST, List.of(OWN, STRANGER));
        sampled(ofSeconds(20));
        assertThat(seen(FIRST)).as("it may be the tenant too").contains(List.of(OWN, STRANGER));
        users.put(FIRST, List.of(OWN));
        ends("bert");
        sampled(ofSeconds(40));
        assertThat(label()).isEqualTo("quarantined");
    }

    @Test
    void whileAgentsMayLagAForeignGpuIsNotJudgedByItsLastTenant() {
        trains(OWN);
        users.put(FIRST, List.of(NAMED, STRANGER));
        sampled(ofSeconds(40));
        users.put(FIRST, List.of(NAMED, STRANGER, OWN));
        sampled(ofSeconds(20));
        ends("bert");
        assertThat(label()).isEqualTo("foreign");
        sampled(ofSeconds(20));
        assertThat(label()).isEqualTo("foreign");
        sampled(ofSeconds(20));
        assertThat(label()).as("its name is still there").isEqualTo("quarantined");
    }

    @Test
    void theNextTenantHasUsersOfItsOwn() {
        trains(OWN);
        users.clear();
        ends("bert");
        sampled(ofMinutes(1));
        story.job("gpt", 1);
        sampled(ofMinutes(1));
        assertThat(label()).isEqualTo("training");
        assertThat(seen(FIRST)).as("none was seen yet").contains(List.of(OWN));

        users.put(FIRST, List.of("slurm/7"));
        sampled(ofSeconds(20));

        assertThat(story.state().gpus().require(FIRST).history().seen())
                .contains(new SeenUsers(new Tenant.Job(new JobId("gpt")), List.of("slurm/7")));
    }

    @Test
    void afterAResetWhatStillRunsIsAStranger() {
        trains(OWN);
        ends("bert");
        sampled(ofSeconds(40));
        assertThat(label()).isEqualTo("quarantined");

        story.control(ControlCommand.Kind.RESET, FIRST);
        sampled(ofSeconds(20));

        assertThat(label()).isEqualTo("foreign");
    }

    @Test
    void beforeTheSettingItWasAStranger() {
        story = story(false);
        trains(OWN);
        assertThat(seen(FIRST)).isEmpty();
        ends("bert");

        sampled(ofSeconds(40));

        assertThat(label()).isEqualTo("foreign");
        assertThat(new UserRules(true, ofMinutes(2), Duration.ZERO, true).remembers())
                .isTrue();
        assertThat(new UserRules(false, ofMinutes(2), Duration.ZERO, true).remembers())
                .isFalse();
    }

    @Test
    void aFewNamesAreKeptAndTheNewestOnes() {
        trains(IntStream.range(0, 9).mapToObj(i -> "process/" + i + "-1").toArray(String[]::new));

        assertThat(seen(FIRST).orElseThrow())
                .hasSize(8)
                .startsWith("process/0-1")
                .endsWith("process/7-1");
        GpuState known = story.state().gpus().require(FIRST);
        sampled(ofSeconds(20));
        assertThat(story.state().gpus().require(FIRST))
                .as("the same names change nothing")
                .isSameAs(known);

        users.put(FIRST, List.of("process/0-1", "slurm/7"));
        sampled(ofSeconds(20));

        assertThat(seen(FIRST).orElseThrow())
                .hasSize(8)
                .startsWith("process/0-1", "process/2-1")
                .endsWith("slurm/7");
    }

    @Test
    void whereADriverDoesNotChooseGpusNoNameIsKept() {
        Moment moment = new Moment().node("n", Pool.TRAINING, 1).job("bert", 1);
        moment.owned(Moment.training("bert"), "n-g0").allocated("bert", "n-g0");
        moment.later(ofMinutes(1));

        assertThat(traced(moment, GpuSample.of(FIRST).build().withUsers(List.of(OWN)))
                        .gpu(FIRST)
                        .history()
                        .seen())
                .isPresent();
        moment.set(builder -> builder.put(
                builder.gpu(FIRST).placed(Optional.of(SlotKnowledge.named(Optional.of("kubernetes/ml/p/c"))))));
        assertThat(traced(moment, GpuSample.of(FIRST).build().withUsers(List.of(OWN)))
                        .gpu(FIRST)
                        .history()
                        .seen())
                .isEmpty();
    }

    @Test
    void aUserThatIsShownOnAnotherInstanceOfTheGpuTooIsNotKept() {
        Moment moment = new Moment().migNode("m", Pool.TRAINING, "3g.40gb@0 3g.40gb@4", "7g.80gb@0");
        List<GpuId> units =
                moment.state().gpus().stream().map(GpuState::gpuId).sorted().toList();
        assertThat(units).hasSize(3);
        moment.job("bert", 1);
        moment.owned(Moment.training("bert"), units.get(0).value())
                .allocated("bert", units.get(0).value());
        moment.later(ofMinutes(1));
        StepBuilder builder = traced(
                moment,
                GpuSample.of(units.get(0)).build().withUsers(List.of(OWN, STRANGER, "slurm/7")),
                GpuSample.of(units.get(1)).build().withUsers(List.of(STRANGER)),
                GpuSample.of(units.get(2)).build().withUsers(List.of("slurm/7")));

        assertThat(builder.gpu(units.get(0)).history().seen().map(SeenUsers::users))
                .contains(List.of(OWN, "slurm/7"));
    }

    /** A sample of the first unit, and of others, as a step takes it. */
    private static StepBuilder traced(Moment moment, GpuSample... samples) {
        StepBuilder builder = moment.after(ofSeconds(1));
        Map<GpuId, GpuSample> all = new HashMap<>();
        for (GpuSample sample : samples) {
            all.put(sample.gpuId(), sample);
        }
        UserRules rules = new UserRules(true, ofMinutes(2), Duration.ZERO, true);
        new TenantTraces(builder, rules).take(builder.gpu(samples[0].gpuId()), samples[0], all);
        return builder;
    }
}
