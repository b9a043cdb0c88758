package io.lendstream.core.scheduler;

import static io.lendstream.core.fixtures.Scenario.DOMAIN;
import static io.lendstream.core.scheduler.Moment.NOW;
import static io.lendstream.core.scheduler.Moment.decision;
import static io.lendstream.core.scheduler.Moment.job;
import static io.lendstream.core.scheduler.Moment.releasing;
import static io.lendstream.core.scheduler.Moment.serving;
import static io.lendstream.core.scheduler.Moment.sleeping;
import static io.lendstream.core.scheduler.Moment.training;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.history.Invariants;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.ForeignUse;
import io.lendstream.core.state.Intruders;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.SlotKnowledge;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class IntruderSamplesTest {
    private static final String BERT = "lendstream/test/job/bert";
    private static final String GPT = "lendstream/test/job/gpt";
    private static final String STRANGER = "process/4711-99";
    private static final SchedulerSettings NOTICED =
            SchedulerSettings.of(Map.of("heed-users", "true", "heed-intruders", "true"));
    private static final SchedulerSettings NOT_NOTICED = SchedulerSettings.of(Map.of("heed-users", "true"));

    private final Moment moment = new Moment();
    private SchedulerSettings settings = NOTICED;
    private Instant now = NOW;
    private long sequence;

    @BeforeEach
    void aJobTrainsOnTheFirstOfThreeGpus() {
        moment.node("n", Pool.TRAINING, 3).job("bert", 2).job("gpt", 2);
        moment.owned(training("bert"), "n-g0").allocated("bert", "n-g0");
        boundBy("n-g0");
        pass(ofMinutes(1));
    }

    private void boundBy(String gpu) {
        moment.set(builder -> builder.put(builder.gpu(new GpuId(gpu)).boundBy("agent-1")));
    }

    private void pass(Duration time) {
        moment.later(time);
        now = now.plus(time);
    }

    private StepBuilder observe(Event event) {
        return observe(moment.logged(event));
    }

    private StepBuilder observe(DomainEvent event) {
        StepBuilder builder = new StepBuilder(moment.state(), event, StepListener.NONE);
        new EventApplier(builder, Policies.parse("deepboot"), settings).take(event.event());
        moment.kept(builder);
        assertThat(Invariants.check(moment.state())).isEmpty();
        return builder;
    }

    /** A sample that shows users on one GPU. */
    private StepBuilder show(String gpu, String... users) {
        return show(now, GpuSample.of(new GpuId(gpu)).build().withUsers(List.of(users)));
    }

    private StepBuilder show(Instant at, GpuSample... samples) {
        return observe(new GpuTelemetry(new NodeId("n"), DOMAIN, "boot-1", ++sequence, at, List.of(samples)));
    }

    private Optional<List<String>> intruders(String gpu) {
        return moment.gpu(gpu).intruders().map(Intruders::users);
    }

    private void released(String job, String gpu) {
        observe(moment.report(decision(8), Outcome.RELEASED, job(job), gpu));
    }

    @Test
    void aUserBesideTheNameOfTheTenantIsAnIntruder() {
        StepBuilder builder = show("n-g0", BERT, STRANGER);

        assertThat(moment.gpu("n-g0").intruders()).contains(new Intruders(List.of(STRANGER), now));
        assertThat(moment.owner("n-g0")).isEqualTo(training("bert"));
        assertThat(builder.finished().changed().owners())
                .as("its lease is published")
                .contains(new GpuId("n-g0"));
        assertThat(moment.gpu("n-g0").lease(DOMAIN, 1).intruders())
                .isEqualTo(moment.gpu("n-g0").intruders());
    }

    @Test
    void aUserBesideATenantThatTheSampleDoesNotNameMayBeTheTenant() {
        show("n-g0", STRANGER, "kubernetes/ml/bert/main", "slurm/7");
        assertThat(intruders("n-g0")).isEmpty();

        show(now, GpuSample.of(new GpuId("n-g0")).memoryUsedBytes(9L << 30).build());
        assertThat(intruders("n-g0")).isEmpty();

        show(
                now,
                GpuSample.of(new GpuId("n-g0")).build().withUsers(List.of(STRANGER)),
                GpuSample.of(new GpuId("n-g1")).build().withUsers(List.of()));
        assertThat(intruders("n-g0")).isEmpty();
    }

    @Test
    void theNameOfAnotherTenantIsAnIntruderInEachStateOfTheOwner() {
        moment.service("chat", 1);
        for (Owner owner : List.of(
                serving("chat"),
                sleeping("chat"),
                Moment.warm("chat", ofMinutes(60)),
                releasing(Moment.service("chat"), ofMinutes(60)))) {
            moment.set(builder -> builder.put(builder.gpu(new GpuId("n-g2")).with(owner, builder.now(), 1)));
            pass(ofSeconds(31));

            show("n-g2", GPT, "lendstream/test/service/chat");

            assertThat(intruders("n-g2")).as(owner.label()).contains(List.of(GPT));
            moment.set(builder -> builder.put(builder.gpu(new GpuId("n-g2")).beside(Optional.empty())));
        }
        show("n-g0", BERT);
        assertThat(intruders("n-g0")).as("its own name").isEmpty();
        show("n-g0", "lendstream/other/job/bert");
        assertThat(intruders("n-g0")).as("of another domain").contains(List.of("lendstream/other/job/bert"));
    }

    @Test
    void aSampleCountsOnceTheOwnerIsThereForHalfAMinute() {
        moment.owned(training("gpt"), "n-g1").allocated("gpt", "n-g1");
        pass(ofSeconds(30));
        show("n-g1", GPT, STRANGER, BERT);
        assertThat(intruders("n-g1")).as("an agent may lag").isEmpty();
        GpuTelemetry ahead = new GpuTelemetry(
                new NodeId("n"),
                DOMAIN,
                "boot-1",
                ++sequence,
                now.plusSeconds(10),
                List.of(GpuSample.of(new GpuId("n-g1")).build().withUsers(List.of(BERT))));
        observe(new DomainEvent(
                DOMAIN, moment.state().epoch(), moment.state().eventSequence() + 1, now, Optional.empty(), ahead));
        assertThat(intruders("n-g1")).as("its clock may be ahead").isEmpty();

        pass(ofSeconds(11));
        show("n-g1", GPT, STRANGER, BERT);

        assertThat(intruders("n-g1")).contains(List.of(BERT, STRANGER));
    }

    @Test
    void onlyAFreshSampleThatShowsThemGoneEndsTheNote() {
        show("n-g0", BERT, STRANGER, "slurm/9");
        Instant since = now;
        pass(ofSeconds(20));
        show("n-g1");
        show(now, GpuSample.of(new GpuId("n-g0")).utilization(0.3).build());
        show(now.minusSeconds(61), GpuSample.of(new GpuId("n-g0")).build().withUsers(List.of(BERT)));
        assertThat(intruders("n-g0")).contains(List.of(STRANGER, "slurm/9"));

        StepBuilder same = show("n-g0", STRANGER, "slurm/9");
        assertThat(same.finished().changed().gpus()).as("nothing new").isEmpty();
        show("n-g0", BERT, "slurm/9", "slurm/10");
        assertThat(moment.gpu("n-g0").intruders()).contains(new Intruders(List.of("slurm/10", "slurm/9"), since));

        show("n-g0", BERT);

        assertThat(intruders("n-g0")).isEmpty();
    }

    @Test
    void aKnownIntruderCountsWhileTheTenantIsNotShown() {
        show("n-g0", BERT, STRANGER);
        moment.owned(releasing(job("bert"), ofMinutes(9)), "n-g0").allocated("bert");

        show("n-g0", STRANGER, "process/5-5");
        assertThat(intruders("n-g0")).contains(List.of(STRANGER));

        show("n-g0", BERT, STRANGER, "process/5-5");
        assertThat(intruders("n-g0"))
                .as("soon after a change of the owner no intruder is new")
                .contains(List.of(STRANGER));
        show("n-g0", BERT);
        assertThat(intruders("n-g0")).as("but it may be gone").isEmpty();
    }

    @Test
    void aGpuOnWhichAnIntruderStaysIsForeignAfterItsReleaseAtOnce() {
        show("n-g0", BERT, STRANGER);
        moment.set(builder -> builder.own(new GpuId("n-g0"), releasing(job("bert"), ofMinutes(9))));
        moment.allocated("bert");

        released("bert", "n-g0");

        assertThat(moment.owner("n-g0")).isEqualTo(new Owner.Quarantined(ForeignUse.by(List.of(STRANGER))));
        assertThat(intruders("n-g0")).isEmpty();
        show("n-g0", BERT, STRANGER);
        show("n-g0", BERT);
        assertThat(moment.owner("n-g0").asForeign())
                .as("an agent shows the last tenant for a while")
                .contains(ForeignUse.by(List.of(STRANGER)));
        pass(ofSeconds(31));
        show("n-g0", BERT);
        assertThat(moment.owner("n-g0").label()).as("it has not gone").isEqualTo("quarantined");
    }

    @Test
    void aTenantThatStaysBesideTheNextOneIsAReleaseThatDidNotHappen() {
        show("n-g0", GPT, BERT, STRANGER);
        assertThat(moment.owner("n-g0")).as("the tenant keeps it").isEqualTo(training("bert"));

        moment.allocated("bert");
        released("bert", "n-g0");

        assertThat(moment.owner("n-g0").asQuarantined().orElseThrow().reason())
                .isEqualTo(
                        "lendstream/test/job/gpt, which Lendstream placed, still runs on it: its release did not happen; stop it, then reset the GPU");
        assertThat(moment.owner("n-g0").isForeign()).isFalse();
    }

    @Test
    void eachWayToLeaveAGpuCounts() {
        ActuationReport none = moment.report(decision(8), Outcome.HOLDS, Optional.empty(), "n-g0");
        ActuationReport forced = moment.report(decision(8), Outcome.FORCED, job("bert"), "n-g0");
        for (ActuationReport report : List.of(none, forced)) {
            moment.owned(training("bert"), "n-g0").allocated("bert", "n-g0");
            boundBy("n-g0");
            pass(ofSeconds(31));
            show("n-g0", BERT, STRANGER);
            moment.allocated("bert");

            observe(new ActuationReport(
                    DOMAIN,
                    report.decision(),
                    "agent-1",
                    now,
                    report.outcome(),
                    report.gpus(),
                    report.tenant(),
                    report.timings(),
                    ""));

            assertThat(moment.owner("n-g0").label()).as(report.outcome().name()).isEqualTo("foreign");
        }
        moment.owned(new Owner.Binding(job("gpt"), decision(8), now.plusSeconds(900), Optional.empty(), 1), "n-g1");
        moment.allocated("gpt", "n-g1");
        pass(ofSeconds(31));
        show("n-g1", BERT, GPT, STRANGER);
        show("n-g1", STRANGER);
        moment.allocated("gpt");
        observe(moment.report(decision(8), Outcome.FAILED, job("gpt"), "n-g1"));
        assertThat(moment.owner("n-g1").label()).as("failed bind").isEqualTo("foreign");
    }

    @Test
    void aSilentAgentIsNoEvidenceThatTheyStay() {
        show("n-g0", BERT, STRANGER);
        pass(ofSeconds(61));
        assertThat(intruders("n-g0")).isPresent();
        moment.allocated("bert");

        released("bert", "n-g0");

        assertThat(moment.gpu("n-g0").isFree()).isTrue();
    }

    @Test
    void theNoteEndsWithTheTenant() {
        show("n-g0", BERT, STRANGER);
        moment.owned(new Owner.Quarantined("XID 79"), "n-g0");

        assertThat(intruders("n-g0")).isEmpty();
    }

    @Test
    void anExchangeOfOwnersEndsTheNote() {
        show("n-g0", BERT, STRANGER);
        StepBuilder builder = moment.after(ofSeconds(1));

        new UnitExchange(builder).exchange(new GpuId("n-g0"), new GpuId("n-g1"));

        assertThat(builder.gpu(new GpuId("n-g0")).intruders()).isEmpty();
        assertThat(builder.gpu(new GpuId("n-g1")).intruders()).isEmpty();
    }

    @Test
    void beforeTheSettingNothingIsNotedAndAReleaseMakesAGpuFree() {
        settings = NOT_NOTICED;
        show("n-g0", GPT, BERT, STRANGER);
        assertThat(intruders("n-g0")).isEmpty();
        moment.allocated("bert");

        released("bert", "n-g0");

        assertThat(moment.gpu("n-g0").isFree()).isTrue();
        for (SchedulerSettings each : List.of(NOT_NOTICED, SchedulerSettings.of(Map.of("heed-intruders", "true")))) {
            assertThat(each.toMap()).doesNotContainKey("heed-intruders");
        }
        assertThat(SchedulerSettings.of(NOTICED.toMap())).isEqualTo(NOTICED);
    }

    @Test
    void beforeTheSettingATenantShownOnAForeignGpuQuarantinesIt() {
        boundBy("n-g1");
        moment.owned(new Owner.Quarantined(ForeignUse.by(List.of(STRANGER))), "n-g1");
        settings = NOT_NOTICED;

        show("n-g1", GPT);

        assertThat(moment.owner("n-g1").label()).isEqualTo("quarantined");
    }

    @Test
    void aRestartWithoutTheSettingForgetsTheNotes() {
        show("n-g0", BERT, STRANGER);
        settings = NOT_NOTICED;

        observe(new Scheduler(Policies.parse("deepboot"), settings).started(moment.state(), now));

        assertThat(intruders("n-g0")).isEmpty();
    }

    @Test
    void whereADriverDoesNotChooseUnitsAnotherPodIsAnIntruderOnceThePlaceIsKnown() {
        String own = "kubernetes/ml/bert-0/main";
        place(SlotKnowledge.slot(Optional.of(own)));
        show("n-g0", "kubernetes/ml/other/main", "lendstream/test/job/gpt");
        assertThat(intruders("n-g0")).as("it is open who is where").isEmpty();

        place(SlotKnowledge.named(Optional.of(own)));
        show("n-g0", "kubernetes/ml/other/main");
        assertThat(intruders("n-g0")).as("the pod may have been replaced").isEmpty();
        show("n-g0", own, "kubernetes/ml/bert-0/sidecar", "kubernetes/ml/other/main");

        assertThat(intruders("n-g0")).contains(List.of("kubernetes/ml/other/main"));
    }

    private void place(SlotKnowledge place) {
        moment.set(builder -> builder.put(builder.gpu(new GpuId("n-g0")).placed(Optional.of(place))));
    }

    @Test
    void theTenantOfAnotherInstanceOfTheGpuIsNoIntruder() {
        moment.migNode("m", Pool.TRAINING, "3g.40gb@0 3g.40gb@4");
        List<String> instances = new ArrayList<>();
        moment.state().gpus().stream()
                .filter(unit -> unit.nodeId().equals(new NodeId("m")))
                .forEach(unit -> instances.add(unit.gpuId().value()));
        assertThat(instances).hasSize(2);
        moment.owned(training("gpt"), instances.get(0)).allocated("gpt", instances.get(0));
        moment.job("tiny", 1);
        moment.owned(training("tiny"), instances.get(1)).allocated("tiny", instances.get(1));
        pass(ofSeconds(31));

        observe(new GpuTelemetry(
                new NodeId("m"),
                DOMAIN,
                "boot-1",
                1,
                now,
                List.of(
                        GpuSample.of(new GpuId(instances.get(0)))
                                .build()
                                .withUsers(List.of(GPT, "lendstream/test/job/tiny", BERT)),
                        GpuSample.of(new GpuId(instances.get(1))).build().withUsers(List.of(GPT)))));

        assertThat(intruders(instances.get(0))).contains(List.of(BERT));
        assertThat(intruders(instances.get(1))).isEmpty();
    }

    @Test
    void anIntruderIsToldWithItsNameAndItsTime() {
        assertThat(new Intruders(List.of("slurm/7", STRANGER, STRANGER), NOW).inWords())
                .isEqualTo("also used by process/4711-99, slurm/7 (not its tenant) since 2026-01-01 00:00:00 UTC");
        assertThatThrownBy(() -> new Intruders(List.of(), NOW))
                .hasMessage("intruders are at least one user, but there was none");
    }

    @Test
    void aNoteWithoutATenantBreaksAnInvariant() {
        moment.set(builder ->
                builder.put(builder.gpu(new GpuId("n-g1")).beside(Optional.of(new Intruders(List.of(STRANGER), NOW)))));

        assertThat(Invariants.check(moment.state()).toString()).contains("has [process/4711-99] beside its tenant");
    }
}
