package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Granularity;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.event.UnitChoice;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.Vacancy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class QuarantineEvidenceTest {
    private static final GpuId GPU = new GpuId("n-g0");
    private static final NodeId NODE = new NodeId("n");
    private static final Optional<Tenant> BERT = Optional.of(new Tenant.Job(new JobId("bert")));
    private static final List<String> STILL_THERE = List.of("lendstream/test/job/bert");
    private static final SchedulerSettings COUNTED =
            SchedulerSettings.of(Map.of("heed-users", "true", "quarantine-evidence", "PT10M"));
    private static final Abilities CHOOSES_NO_UNITS = new Abilities(
            UnitChoice.NODE, UnitChoice.NODE, Granularity.GPU, Optional.empty(), false, false, false, true);

    private Scenario story = new Scenario(new Scheduler(Policies.parse("deepboot"), COUNTED));
    private String boot = "boot-1";
    private long samples;
    private long quietSeconds;

    private void sample(GpuSample... gpus) {
        samples++;
        story.tell(new GpuTelemetry(NODE, Scenario.DOMAIN, boot, samples, story.now(), List.of(gpus)));
    }

    private void unused() {
        sample(GpuSample.of(GPU).build().withUsers(List.of()));
    }

    private void report(String actuator, Outcome outcome, Optional<Tenant> tenant, Instant at) {
        story.tell(new ActuationReport(
                Scenario.DOMAIN,
                new DecisionId(Scenario.DOMAIN, 0, 0),
                actuator,
                at,
                outcome,
                List.of(GPU),
                tenant,
                Timings.NONE,
                ""));
    }

    private void empty(String actuator) {
        report(actuator, Outcome.HOLDS, Optional.empty(), story.now());
    }

    /** Lets time pass with a sample every 20 s, and a report every minute, that show nothing. */
    private void quiet(Duration time, String actuator) {
        for (long second = 20; second <= time.toSeconds(); second += 20) {
            story.after(ofSeconds(20)).settled();
            unused();
            story.settled();
            quietSeconds += 20;
            if (quietSeconds % 60 == 0) {
                empty(actuator);
            }
        }
    }

    private void quiet(Duration time) {
        quiet(time, "test");
    }

    private void quarantined() {
        story.node("n", Pool.TRAINING, 1).actuator("test", Abilities.USUAL, "n");
        unused();
        story.after(ofSeconds(20));
        sample(GpuSample.of(GPU).build().withUsers(STILL_THERE));
        assertThat(label()).isEqualTo("quarantined");
    }

    /** Since 20 s ago agent and actuator say that nothing is there. */
    private void begun() {
        quarantined();
        quiet(ofSeconds(80));
        assertThat(evidence().freeAt()).contains(story.now().plusSeconds(580));
    }

    private String label() {
        return story.owner("n-g0").label();
    }

    private Vacancy evidence() {
        return story.owner("n-g0").asVacating().orElseThrow();
    }

    @Test
    void aGpuIsFreeAfterAgentAndActuatorHaveReportedNothingForTenMinutes() {
        quarantined();
        assertThat(evidence()).isEqualTo(Vacancy.NONE);
        quiet(ofSeconds(40));
        assertThat(evidence().outlook())
                .isEqualTo(
                        "unused since 2026-01-01 00:00:40 UTC, and free a while after its actuator reports no tenant there");
        quiet(ofSeconds(20));
        quiet(ofSeconds(20));
        assertThat(evidence().outlook())
                .isEqualTo("free at 2026-01-01 00:11:20 UTC if nothing is seen there until then");
        story.rigidJob("gpt", 1);

        quiet(ofSeconds(560));
        assertThat(label()).isEqualTo("quarantined");
        quiet(ofSeconds(20));
        assertThat(label()).isNotEqualTo("quarantined");
        for (int i = 0; i < 9; i++) {
            story.after(ofSeconds(20)).settled();
            unused();
            story.settled();
        }

        assertThat(story.job("gpt").gpus()).isEqualTo(1);
        assertThat(story.verdict().violations()).isEmpty();
    }

    /** Statements after which the ten minutes begin again. */
    enum Contrary {
        A_USER(test -> test.sample(GpuSample.of(GPU).build().withUsers(List.of("process/1")))),
        UNKNOWN_USE(test -> test.sample(GpuSample.of(GPU).build())),
        NO_SAMPLE(test -> test.sample()),
        A_TENANT(test -> test.report("other", Outcome.HOLDS, BERT, test.story.now())),
        A_TENANT_THAT_STARTED(test -> test.report("other", Outcome.BOUND, BERT, test.story.now())),
        AN_ERROR(test -> test.sample(GpuSample.of(GPU).lastXid(13).build().withUsers(List.of()))),
        A_SILENT_AGENT(test -> {
            test.story.withoutTicks(ofSeconds(61));
            test.empty("test");
        }),
        ANOTHER_BOOT(test -> {
            test.boot = "boot-2";
            test.samples = 0;
            test.unused();
        }),
        A_SILENT_ACTUATOR(test -> {
            for (int i = 0; i < 8; i++) {
                test.story.after(ofSeconds(20));
                test.unused();
            }
        }),
        A_NODE_THAT_IS_NOT_READY(test -> {
            test.story.tell(test.node(NodeStatus.UNAVAILABLE));
            test.unused();
            test.story.tell(test.node(NodeStatus.READY));
        });

        @SuppressWarnings("ImmutableEnumChecker") // a function without state
        private final Consumer<QuarantineEvidenceTest> what;

        Contrary(Consumer<QuarantineEvidenceTest> what) {
            this.what = what;
        }
    }

    private Node node(NodeStatus status) {
        Node known = story.state().nodes().require(NODE).node();
        return new Node(NODE, Scenario.DOMAIN, known.pool(), known.bootId(), story.now(), status, known.gpus());
    }

    @ParameterizedTest
    @EnumSource
    void aContraryStatementBeginsTheTimeAnew(Contrary contrary) {
        begun();
        quiet(ofMinutes(2));
        Instant first = evidence().freeAt().orElseThrow();

        contrary.what.accept(this);
        Instant again = story.now();
        while (story.now().isBefore(again.plusSeconds(580))) {
            quiet(ofSeconds(20));
            assertThat(label()).as("at %s, first %s", story.now(), first).isEqualTo("quarantined");
        }
        quiet(ofMinutes(3));

        assertThat(label()).isEqualTo("free");
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void silenceUntilTheEndIsNoEvidence() {
        begun();
        story.after(ofMinutes(11));
        assertThat(label()).isEqualTo("quarantined");
        assertThat(evidence()).isEqualTo(Vacancy.NONE);
    }

    @Test
    void oneOfTheTwoIsNotEnough() {
        quarantined();
        for (int i = 0; i < 45; i++) {
            story.after(ofSeconds(20));
            unused();
        }
        assertThat(label()).isEqualTo("quarantined");
        for (int i = 0; i < 15; i++) {
            story.after(ofMinutes(1));
            empty("test");
        }
        assertThat(label()).isEqualTo("quarantined");
    }

    @Test
    void aFatalErrorLastsUntilAReset() {
        story.node("n", Pool.TRAINING, 1).actuator("test", Abilities.USUAL, "n");
        unused();
        sample(GpuSample.of(GPU).lastXid(79).build().withUsers(List.of()));
        quiet(ofMinutes(15));

        assertThat(story.owner("n-g0")).isEqualTo(new Owner.Quarantined("XID 79"));
    }

    @Test
    void aFatalErrorOfAQuarantinedGpuEndsTheEvidence() {
        begun();
        String why = story.owner("n-g0").asQuarantined().orElseThrow().reason();
        sample(GpuSample.of(GPU).lastXid(79).build().withUsers(List.of()));
        sample(GpuSample.of(GPU).lastXid(13).build().withUsers(List.of()));
        quiet(ofMinutes(15));

        assertThat(story.owner("n-g0")).isEqualTo(new Owner.Quarantined("XID 79; before that: " + why));
    }

    @Test
    void aStateOfANewerVersionAndAnotherCutLastUntilAReset() {
        assertThat(Owner.unknown().asVacating()).isEmpty();
        GpuId unit = new GpuId("m-g0/0:4");
        story.migNode("m", Pool.INFERENCE, "4g.40gb@0").service("chat", 0).rate("chat", 0);
        story.smallJob("small", 1, 30);
        for (long i = 1; i < 9; i++) {
            story.tell(new GpuTelemetry(
                    new NodeId("m"),
                    Scenario.DOMAIN,
                    boot,
                    i,
                    story.now(),
                    List.of(GpuSample.of(unit).build().withUsers(List.of()))));
            story.after(ofSeconds(15)).settled().rate("chat", 0).settled();
        }
        assertThat(story.owner(unit.value()).isUp()).isTrue();

        story.after(ofSeconds(1)).migNode("m", Pool.INFERENCE, "3g.40gb@0");

        assertThat(story.owner(unit.value()).isQuarantined()).isTrue();
        assertThat(story.owner(unit.value()).asVacating()).isEmpty();
    }

    @Test
    void onlyTheActuatorThatBoundTheGpuCanTell() {
        story.node("n", Pool.TRAINING, 1).actuator("test", Abilities.USUAL, "n");
        unused();
        story.rigidJob("gpt", 1).settled();
        for (int i = 0; i < 9; i++) {
            story.after(ofSeconds(20)).settled();
            unused();
            story.settled();
        }
        assertThat(label()).isEqualTo("training");
        story.actuator("other", Abilities.USUAL).after(ofSeconds(1));
        report("test", Outcome.HOLDS, BERT, story.now());
        assertThat(label()).isEqualTo("quarantined");

        quiet(ofMinutes(15), "other");
        assertThat(label()).isEqualTo("quarantined");
        quiet(ofMinutes(12));
        assertThat(label()).isNotEqualTo("quarantined");
    }

    @Test
    void anActuatorOfOtherNodesOrThatChoosesNoUnitsOrIsNotKnownCannotTell() {
        quarantined();
        story.actuator("elsewhere", Abilities.USUAL, "m").actuator("counting", CHOOSES_NO_UNITS, "n");
        for (String actuator : List.of("elsewhere", "counting", "unknown")) {
            quiet(ofMinutes(15), actuator);
            assertThat(label()).as(actuator).isEqualTo("quarantined");
        }
        story.actuator("everywhere", Abilities.USUAL);
        quiet(ofMinutes(12), "everywhere");
        assertThat(label()).isEqualTo("free");
    }

    @Test
    void aReportFromBeforeTheQuarantineOrThatComesTwiceDoesNotCount() {
        quarantined();
        Instant before = story.now();
        for (int i = 0; i < 45; i++) {
            story.after(ofSeconds(20));
            unused();
            report("test", Outcome.HOLDS, Optional.empty(), before);
        }
        assertThat(label()).isEqualTo("quarantined");
        Instant once = story.now();
        for (int i = 0; i < 45; i++) {
            story.after(ofSeconds(20));
            unused();
            report("test", Outcome.HOLDS, Optional.empty(), once);
        }
        assertThat(label()).isEqualTo("quarantined");
    }

    @Test
    void aReportThatComesLateChangesNothing() {
        begun();
        quiet(ofMinutes(5));
        Vacancy before = evidence();
        report("test", Outcome.HOLDS, Optional.empty(), story.now().minusSeconds(145));
        story.after(ofSeconds(10));
        unused();

        assertThat(evidence()).isEqualTo(before);
    }

    @Test
    void reportsFromBeforeAResetDoNotCount() {
        begun();
        story.control(ControlCommand.Kind.RESET, GPU);
        unused();
        assertThat(label()).isEqualTo("free");
        story.after(ofSeconds(20));
        sample(GpuSample.of(GPU).build().withUsers(STILL_THERE));
        assertThat(label()).isEqualTo("quarantined");
        story.after(ofSeconds(20));
        unused();

        assertThat(evidence()).isEqualTo(new Vacancy(Optional.of(story.now()), Optional.empty()));
    }

    @Test
    void aGpuThatItsNodeDoesNotReportStaysOut() {
        begun();
        story.tell(new Node(NODE, Scenario.DOMAIN, Pool.TRAINING, "boot-1", story.now(), NodeStatus.READY, List.of()));
        quiet(ofMinutes(15));
        assertThat(label()).isEqualTo("quarantined");

        story.node("n", Pool.TRAINING, 1);
        quiet(ofMinutes(12));
        assertThat(label()).isEqualTo("free");
    }

    @Test
    void anotherSchedulerKeepsTheEvidenceUnlessItsSettingIsOff() {
        begun();
        Vacancy before = evidence();
        story.takenOverBy(new Scheduler(Policies.parse("deepboot"), COUNTED));
        assertThat(evidence()).isEqualTo(before);
        quiet(ofMinutes(2));
        assertThat(evidence()).isEqualTo(before);

        story.takenOverBy(
                new Scheduler(Policies.parse("deepboot"), SchedulerSettings.of(Map.of("heed-users", "true"))));
        quiet(ofMinutes(15));
        assertThat(label()).isEqualTo("quarantined");
        assertThat(story.owner("n-g0").asVacating()).isEmpty();
    }

    @Test
    void withoutTheSettingOnlyAResetEndsIt() {
        story = new Scenario(
                new Scheduler(Policies.parse("deepboot"), SchedulerSettings.of(Map.of("heed-users", "true"))));
        quarantined();
        quiet(ofMinutes(15));
        assertThat(label()).isEqualTo("quarantined");

        story.control(ControlCommand.Kind.RESET, GPU);
        unused();
        assertThat(label()).isEqualTo("free");
    }

    @Test
    void theSettingIsInTheLogOnlyIfItIsOn() {
        assertThat(COUNTED.toMap()).containsEntry("quarantine-evidence", "PT10M");
        assertThat(SchedulerSettings.of(COUNTED.toMap())).isEqualTo(COUNTED);
        for (UserRules off : List.of(
                new UserRules(true, ofMinutes(2), Duration.ZERO, false),
                new UserRules(false, ofMinutes(2), ofMinutes(10), false))) {
            ClusterModel model = ClusterModel.ALIKE.with(off);
            assertThat(SchedulerSettings.DEFAULTS.withModel(model).toMap()).doesNotContainKey("quarantine-evidence");
        }
        assertThatThrownBy(() -> new UserRules(true, ofMinutes(2), ofSeconds(-1), false))
                .hasMessage("scheduler.quarantine-evidence must be at least 0s, which switches it off, but was PT-1S");
    }
}
