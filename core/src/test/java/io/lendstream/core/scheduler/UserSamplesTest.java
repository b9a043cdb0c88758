package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.NodeStatus;
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
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.ForeignUse;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UserSamplesTest {
    private static final String USER = "process/4711-99";
    private static final GpuId FIRST = new GpuId("n-g0");
    private static final GpuId SECOND = new GpuId("n-g1");
    private static final SchedulerSettings HEEDED =
            SchedulerSettings.of(Map.of("heed-users", "true", "foreign-gone-after", "PT2M"));

    private final Scenario story = new Scenario(new Scheduler(Policies.parse("deepboot"), HEEDED));
    private final Map<GpuId, List<String>> users = new HashMap<>();
    private long samples;

    /** What the agent of node n shows now. */
    private Scenario sample() {
        List<GpuSample> all = story.state().gpus().stream()
                .map(GpuState::gpuId)
                .map(gpu -> GpuSample.of(gpu).build().withUsers(users.getOrDefault(gpu, List.of())))
                .toList();
        return sample(all);
    }

    private Scenario sample(List<GpuSample> all) {
        samples++;
        return story.tell(new GpuTelemetry(new NodeId("n"), Scenario.DOMAIN, "boot-1", samples, story.now(), all));
    }

    /** Lets time pass, with a sample every 20 s and good actuators. */
    private void sampled(Duration time) {
        for (long second = 20; second <= time.toSeconds(); second += 20) {
            story.after(ofSeconds(20)).settled();
            sample().settled();
        }
    }

    private String label(GpuId gpu) {
        return story.state().gpus().require(gpu).owner().label();
    }

    private void free(int gpus) {
        story.node("n", Pool.TRAINING, gpus);
        sample();
        sampled(ofMinutes(1));
        assertThat(story.count("free")).isEqualTo(gpus);
    }

    @Test
    void aNewGpuIsForeignUntilItsAgentReportsItAsUnused() {
        story.node("n", Pool.TRAINING, 2).rigidJob("bert", 2).after(ofMinutes(3));
        assertThat(story.count("foreign")).isEqualTo(2);
        assertThat(story.decisions()).isEmpty();
        assertThat(story.state().gpus().require(FIRST).owner().asForeign()).contains(ForeignUse.UNKNOWN);

        sample();
        sampled(ofMinutes(5));

        assertThat(story.state().jobs().require(new JobId("bert")).gpus()).isEqualTo(2);
    }

    @Test
    void aGpuThatOthersUseIsGivenToNobodyAndIsFreeAfterTheyHaveGone() {
        users.put(FIRST, List.of(USER));
        story.node("n", Pool.TRAINING, 2).job("bert", 2);
        sample();
        assertThat(story.state().gpus().require(FIRST).owner())
                .isEqualTo(new Owner.Quarantined(
                        "used by process/4711-99, which Lendstream did not place",
                        Optional.of(ForeignUse.by(List.of(USER))),
                        Optional.empty()));
        sampled(ofMinutes(5));
        assertThat(label(FIRST)).isEqualTo("foreign");
        assertThat(story.state().jobs().require(new JobId("bert")).allocation().gpus())
                .isEqualTo(List.of(SECOND));

        users.clear();
        sampled(ofMinutes(2));
        assertThat(label(FIRST)).isEqualTo("foreign");
        sampled(ofSeconds(20));

        assertThat(label(FIRST)).isEqualTo("free");
    }

    @Test
    void silenceIsNoEvidenceThatTheyHaveGone() {
        users.put(FIRST, List.of(USER));
        story.node("n", Pool.TRAINING, 1);
        sample();
        users.clear();
        sampled(ofSeconds(40));
        assertThat(owner().freeAt()).isPresent();

        story.after(ofMinutes(10));
        assertThat(label(FIRST)).isEqualTo("foreign");
        assertThat(owner().freeAt()).isEmpty();

        sample();
        sampled(ofSeconds(100));
        assertThat(label(FIRST)).isEqualTo("foreign");
        sampled(ofSeconds(40));
        assertThat(label(FIRST)).isEqualTo("free");
    }

    private ForeignUse owner() {
        return story.state().gpus().require(FIRST).owner().asForeign().orElseThrow();
    }

    @Test
    void theTimeBeginsAnewAfterAGapAndIfTheyComeBack() {
        users.put(FIRST, List.of(USER));
        story.node("n", Pool.TRAINING, 1);
        sample();
        users.clear();
        sampled(ofSeconds(20));
        Instant first = owner().freeAt().orElseThrow();

        story.withoutTicks(ofSeconds(61));
        sample();
        assertThat(owner().freeAt()).contains(first.plusSeconds(61));

        users.put(FIRST, List.of("slurm/17"));
        sampled(ofSeconds(20));
        assertThat(owner()).isEqualTo(ForeignUse.by(List.of("slurm/17")));
    }

    @Test
    void aSampleThatDoesNotShowTheGpuEndsTheTime() {
        users.put(FIRST, List.of(USER));
        story.node("n", Pool.TRAINING, 1);
        sample();
        users.clear();
        sampled(ofSeconds(20));
        assertThat(owner().freeAt()).isPresent();

        story.after(ofSeconds(10));
        sample(List.of());

        assertThat(owner().freeAt()).isEmpty();
    }

    @Test
    void aFreeGpuBecomesForeignButNotByTheLastLookAtItsFormerTenant() {
        free(1);
        story.job("bert", 1);
        sampled(ofMinutes(3));
        assertThat(label(FIRST)).isEqualTo("training");
        story.progress("bert", JobPhase.FINISHED).settled();
        assertThat(label(FIRST)).isEqualTo("free");
        users.put(FIRST, List.of("kubernetes/ml/bert/main"));
        sampled(ofSeconds(20));
        assertThat(label(FIRST)).as("an agent may lag").isEqualTo("free");

        sampled(ofSeconds(20));

        assertThat(label(FIRST)).isEqualTo("foreign");
    }

    @Test
    void aTenantOfOursThatStillRunsIsAReleaseThatDidNotHappen() {
        free(1);
        users.put(FIRST, List.of("lendstream/test/job/bert"));

        sampled(ofSeconds(20));

        assertThat(story.state().gpus().require(FIRST).owner())
                .isEqualTo(
                        new Owner.Quarantined(
                                "lendstream/test/job/bert, which Lendstream placed, still runs on it: its release did not happen; stop it, then reset the GPU"));
    }

    @Test
    void aUserThatIsSeenSoonAfterAReleaseMayBeTheTenant() {
        free(1);
        story.job("bert", 1);
        sampled(ofMinutes(3));
        users.put(FIRST, List.of(USER));
        sampled(ofSeconds(20));
        story.progress("bert", JobPhase.FINISHED).settled();
        assertThat(label(FIRST)).isEqualTo("free");

        sampled(ofSeconds(40));

        assertThat(label(FIRST)).isEqualTo("foreign");
        assertThat(suspicion())
                .contains("used by process/4711-99, which Lendstream did not place; it was seen within 60 s after the "
                        + "last tenant was released: if it is that tenant, its release did not happen, so stop it");
        users.put(FIRST, List.of(USER, "slurm/7"));
        sampled(ofSeconds(20));
        assertThat(suspicion().orElseThrow())
                .startsWith("used by process/4711-99, slurm/7, which")
                .contains("60 s");
        users.clear();
        sampled(ofSeconds(20));
        assertThat(label(FIRST)).isEqualTo("foreign");
        assertThat(suspicion()).isEmpty();
        users.put(FIRST, List.of("slurm/7"));
        sampled(ofSeconds(20));
        assertThat(suspicion()).as("it came later").isEmpty();
    }

    @Test
    void aUserThatIsSeenLaterIsNotTheTenant() {
        free(1);
        story.job("bert", 1);
        sampled(ofMinutes(3));
        story.progress("bert", JobPhase.FINISHED).settled();
        sampled(ofMinutes(1));
        users.put(FIRST, List.of(USER));

        sampled(ofSeconds(20));

        assertThat(label(FIRST)).isEqualTo("foreign");
        assertThat(suspicion()).isEmpty();
    }

    private Optional<String> suspicion() {
        return story.state().gpus().require(FIRST).owner().asQuarantined().flatMap(Owner.Quarantined::suspicion);
    }

    @Test
    void memoryAndWorkTellOfAProcessThatTheAgentCannotName() {
        story.node("n", Pool.TRAINING, 3);
        GpuId third = new GpuId("n-g2");
        sample(List.of(
                GpuSample.of(FIRST).memoryUsedBytes(2L << 30).build().withUsers(List.of()),
                GpuSample.of(SECOND).utilization(0.4).build(),
                GpuSample.of(third).utilization(0).memoryUsedBytes(400L << 20).build()));

        assertThat(label(FIRST)).isEqualTo("foreign");
        assertThat(owner().users()).containsExactly("a process without a known name");
        assertThat(label(SECOND)).isEqualTo("foreign");
        assertThat(label(third)).isEqualTo("free");
    }

    @Test
    void withoutUsersAndReadingsItStaysForeign() {
        story.node("n", Pool.TRAINING, 1);
        for (int i = 0; i < 20; i++) {
            story.after(ofSeconds(20));
            sample(List.of(GpuSample.of(FIRST).build()));
        }

        assertThat(owner()).isEqualTo(ForeignUse.UNKNOWN);
    }

    @Test
    void anOldSampleIsNoEvidence() {
        story.node("n", Pool.TRAINING, 1).after(ofMinutes(5));
        ClusterState state = story.state();
        for (int age : List.of(61, 60)) {
            GpuTelemetry sample = new GpuTelemetry(
                    new NodeId("n"),
                    Scenario.DOMAIN,
                    "boot-1",
                    1,
                    story.now().minusSeconds(age),
                    List.of(GpuSample.of(FIRST).build().withUsers(List.of())));
            DomainEvent event = new DomainEvent(
                    Scenario.DOMAIN, state.epoch(), state.eventSequence() + 1, story.now(), Optional.empty(), sample);
            ClusterState after = new Scheduler(Policies.parse("deepboot"), HEEDED)
                    .step(state, event)
                    .state();

            assertThat(after.gpus().require(FIRST).owner().label()).isEqualTo(age > 60 ? "foreign" : "free");
        }
    }

    @Test
    void aResetDoesNotEndTheUseByOthers() {
        users.put(FIRST, List.of(USER));
        story.node("n", Pool.TRAINING, 1);
        sample();

        story.control(ControlCommand.Kind.RESET, FIRST);

        assertThat(label(FIRST)).isEqualTo("foreign");
    }

    @Test
    void afterAResetAnAgentHasToSayThatNothingUsesIt() {
        free(1);
        users.put(FIRST, List.of("lendstream/test/job/bert"));
        sampled(ofSeconds(20));
        assertThat(label(FIRST)).isEqualTo("quarantined");

        story.control(ControlCommand.Kind.RESET, FIRST);
        assertThat(owner()).isEqualTo(ForeignUse.UNKNOWN);
        users.clear();
        sampled(ofSeconds(20));

        assertThat(label(FIRST)).isEqualTo("free");
    }

    @Test
    void aGpuThatWasJustFoundUnusedIsForeignAtTheNextSampleWithAUser() {
        story.node("n", Pool.TRAINING, 1);
        sample();
        assertThat(label(FIRST)).isEqualTo("free");
        users.put(FIRST, List.of(USER));

        story.after(ofSeconds(1));
        sample();

        assertThat(label(FIRST)).isEqualTo("foreign");
    }

    @Test
    void aClockThatIsAheadDoesNotTurnTheLastTenantIntoAFault() {
        free(1);
        story.job("bert", 1);
        sampled(ofMinutes(3));
        story.progress("bert", JobPhase.FINISHED).settled();
        assertThat(label(FIRST)).isEqualTo("free");
        story.after(ofSeconds(1));
        ClusterState state = story.state();
        GpuTelemetry ahead = new GpuTelemetry(
                new NodeId("n"),
                Scenario.DOMAIN,
                "boot-1",
                samples + 1,
                story.now().plusSeconds(40),
                List.of(GpuSample.of(FIRST).build().withUsers(List.of("lendstream/test/job/bert"))));
        DomainEvent event = new DomainEvent(
                Scenario.DOMAIN, state.epoch(), state.eventSequence() + 1, story.now(), Optional.empty(), ahead);

        ClusterState after = new Scheduler(Policies.parse("deepboot"), HEEDED)
                .step(state, event)
                .state();

        assertThat(after.gpus().require(FIRST).isFree()).isTrue();
    }

    @Test
    void withoutTheSettingAfterARestartForeignGpusAreFree() {
        users.put(FIRST, List.of(USER));
        story.node("n", Pool.TRAINING, 2);
        sample();
        assertThat(story.count("foreign")).isEqualTo(1);

        story.takenOverBy(new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS));

        assertThat(story.count("free")).isEqualTo(2);
    }

    @Test
    void anotherCutOfAForeignInstanceIsNoFault() {
        story.migNode("n", Pool.INFERENCE, "3g.40gb@4");
        assertThat(story.count("foreign")).isEqualTo(1);

        story.after(ofSeconds(1)).migNode("n", Pool.INFERENCE, "4g.40gb@4");

        assertThat(story.count("foreign")).isEqualTo(1);
        assertThat(story.count("quarantined")).isZero();
    }

    @Test
    void aLongBoundForSilentNodesMakesSilenceNoEvidence() {
        Scheduler patient = new Scheduler(
                Policies.parse("deepboot"),
                SchedulerSettings.of(Map.of("heed-users", "true", "node-stale-after", "PT10M")));
        story.takenOverBy(patient);
        users.put(FIRST, List.of(USER));
        story.node("n", Pool.TRAINING, 1);
        sample();
        users.clear();
        sampled(ofSeconds(20));

        story.after(ofMinutes(5));

        assertThat(label(FIRST)).isEqualTo("foreign");
    }

    @Test
    void aForeignGpuLeavesWithItsNode() {
        story.node("n", Pool.TRAINING, 1);
        story.tell(new NodeLeft(new NodeId("n"), Scenario.DOMAIN, story.now()));

        assertThat(story.state().gpus().isEmpty()).isTrue();
    }

    @Test
    void aFatalErrorKeepsAForeignGpuOutOfServiceUntilAReset() {
        users.put(FIRST, List.of(USER));
        story.node("n", Pool.TRAINING, 1);
        sample();
        sample(List.of(GpuSample.of(FIRST).lastXid(79).build().withUsers(List.of(USER))));
        users.clear();
        sampled(ofMinutes(5));

        assertThat(label(FIRST)).isEqualTo("quarantined");
    }

    @Test
    void aTenantThatAnActuatorFindsOnAForeignGpuIsNotForeign() {
        users.put(FIRST, List.of(USER));
        story.node("n", Pool.TRAINING, 1);
        sample();
        story.after(ofSeconds(1));
        story.tell(new ActuationReport(
                Scenario.DOMAIN,
                new DecisionId(Scenario.DOMAIN, 0, 0),
                "test",
                story.now(),
                Outcome.HOLDS,
                List.of(FIRST),
                Optional.of(new Tenant.Job(new JobId("bert"))),
                Timings.NONE,
                ""));

        assertThat(label(FIRST)).isEqualTo("quarantined");
    }

    @Test
    void foreignGpusAreNoPartOfTheShareThatMayBeLent() {
        Scenario half = new Scenario(new Scheduler(
                Policies.parse("deepboot"),
                SchedulerSettings.of(Map.of("heed-users", "true", "max-share-lent", "0.5"))));
        half.node("n", Pool.INFERENCE, 8).service("chat", 0).rate("chat", 0);
        List<GpuSample> all = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            GpuId gpu = new GpuId("n-g" + i);
            all.add(GpuSample.of(gpu).build().withUsers(i < 4 ? List.of(USER) : List.of()));
        }
        half.node("away", Pool.INFERENCE, 1).rigidJob("bert", 2).rigidJob("gpt", 1);
        half.after(ofSeconds(1))
                .tell(new Node(
                        new NodeId("away"),
                        Scenario.DOMAIN,
                        Pool.INFERENCE,
                        "boot-1",
                        half.now(),
                        NodeStatus.UNAVAILABLE,
                        List.of()));
        for (int i = 1; i <= 20; i++) {
            half.tell(new GpuTelemetry(new NodeId("n"), Scenario.DOMAIN, "boot-1", i, half.now(), all));
            half.rate("chat", 0).settled().after(ofSeconds(15)).settled();
        }

        assertThat(half.state().clusterIndex().trainingCapacity().inference()).isEqualTo(4);
        assertThat(half.count("lent")).as("half of 4").isEqualTo(2);
    }

    @Test
    void withoutTheSettingUsersAreOnlyShown() {
        Scenario plain = Scenario.of("deepboot").node("n", Pool.TRAINING, 1);
        plain.tell(new GpuTelemetry(
                new NodeId("n"),
                Scenario.DOMAIN,
                "boot-1",
                1,
                plain.now().plusSeconds(60),
                List.of(GpuSample.of(FIRST).build().withUsers(List.of(USER)))));

        assertThat(plain.count("free")).isEqualTo(1);
    }

    @Test
    void theSettingsComeBackFromTheLog() {
        assertThat(SchedulerSettings.of(HEEDED.toMap())).isEqualTo(HEEDED);
        assertThat(SchedulerSettings.DEFAULTS.toMap()).doesNotContainKey("heed-users");
        assertThatThrownBy(() -> new UserRules(true, Duration.ZERO, Duration.ZERO, false))
                .hasMessage("scheduler.foreign-gone-after must be at least 1s, but was PT0S");
    }

    /** Users come and go on GPUs that Lendstream does not use; agents are silent at times; jobs want all GPUs. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void noGpuIsBoundWhileAnAgentShowsAnotherUserOnIt(long seed) {
        Random random = new Random(seed);
        story.node("n", Pool.TRAINING, 6);
        int job = 0;
        int bound = 0;
        int foreign = 0;
        Map<GpuId, Integer> ours = new HashMap<>();
        for (int step = 0; step < 1000; step++) {
            if (random.nextInt(20) == 0) {
                story.job("job-" + job++, 1 + random.nextInt(4));
            }
            for (int i = 0; i < 6; i++) {
                GpuId gpu = new GpuId("n-g" + i);
                boolean isOurs =
                        story.state().gpus().require(gpu).owner().holder().isPresent();
                if (isOurs) {
                    ours.put(gpu, step);
                }
                // For 30 s after a release a sample may be about the tenant that has left.
                boolean mayStart = step - ours.getOrDefault(gpu, -10) > 5;
                if (isOurs || random.nextInt(12) == 0) {
                    users.remove(gpu);
                } else if (mayStart && random.nextInt(40) == 0) {
                    users.put(gpu, List.of("process/" + step + "-" + i));
                }
            }
            Map<GpuId, List<String>> shown = Map.copyOf(users);
            boolean isSilent = random.nextInt(8) == 0;
            if (!isSilent) {
                sample();
                bound += check(shown);
            }
            story.after(ofSeconds(7));
            bound += isSilent ? 0 : check(shown);
            story.settled();
            foreign += (int) story.count("foreign");
            List<JobId> running = story.state().jobs().stream()
                    .filter(each -> each.gpus() > 0 && !each.isOver())
                    .map(each -> each.spec().job())
                    .toList();
            if (!running.isEmpty() && random.nextInt(10) == 0) {
                story.progress(running.get(random.nextInt(running.size())).value(), JobPhase.FINISHED)
                        .settled();
            }
        }
        ClusterState last = story.state();
        ClusterEntities built = new ClusterEntities(
                last.nodes(),
                last.gpus(),
                last.services(),
                last.jobs(),
                last.entities().queues(),
                last.entities().actuators());
        assertThat(last.clusterIndex()).isEqualTo(built.clusterIndex());
        assertThat(bound).as("GPUs that jobs got").isGreaterThan(10);
        assertThat(foreign).isGreaterThan(100);
        assertThat(HistoryChecker.check(Scenario.DOMAIN, story.log(), story.decisions(), story.leases())
                        .violations())
                .isEmpty();
    }

    /** Returns how many GPUs the last decisions bind, none of which is used by others. */
    private int check(Map<GpuId, List<String>> shown) {
        int bound = 0;
        for (Decision decision : story.last()) {
            for (GpuState gpu : story.state().gpus().values()) {
                boolean binds = gpu.owner()
                        .asBinding()
                        .filter(binding -> binding.decision().equals(decision.id()))
                        .isPresent();
                if (binds) {
                    bound++;
                    assertThat(shown).as(decision.reason().text()).doesNotContainKey(gpu.gpuId());
                }
            }
        }
        return bound;
    }
}
