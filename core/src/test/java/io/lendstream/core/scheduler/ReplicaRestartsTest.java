package io.lendstream.core.scheduler;

import static io.lendstream.core.fixtures.Scenario.DOMAIN;
import static io.lendstream.core.scheduler.Moment.EARLIER;
import static io.lendstream.core.scheduler.Moment.NOW;
import static io.lendstream.core.scheduler.Moment.decision;
import static io.lendstream.core.scheduler.Moment.releasing;
import static io.lendstream.core.scheduler.Moment.service;
import static io.lendstream.core.scheduler.Moment.serving;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.GroupPart;
import io.lendstream.core.decision.ReplicaId;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.UnitChoice;
import io.lendstream.core.event.UnitPlacement;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.SlotKnowledge;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A controller stops a replica that works, and leaves the one that was to be stopped, which still starts. */
class ReplicaRestartsTest {
    private static final GroupPart OLD = new GroupPart(new ReplicaId("test/0/5#0"), "tp2", ReplicaRole.ALL, 2, true);
    private static final GroupPart NEW = new GroupPart(new ReplicaId("test/0/6#0"), "tp2", ReplicaRole.ALL, 2, true);

    private final Moment moment = new Moment();

    @BeforeEach
    void aNodeWhoseDriverChoosesTheNodeOnly() {
        moment.node("n", Pool.INFERENCE, 4)
                .node("m", Pool.INFERENCE, 1)
                .service("chat", 1, ofSeconds(20))
                .observe(new ActuatorDescription(
                        "agent-1",
                        DOMAIN,
                        NOW,
                        "kubernetes",
                        List.of(),
                        Abilities.USUAL.choosing(UnitChoice.NODE, UnitChoice.NODE)));
    }

    private void works(String user, String gpu) {
        moment.owned(serving("chat"), gpu)
                .set(builder -> builder.put(builder.gpu(new GpuId(gpu))
                        .placed(Optional.of(SlotKnowledge.named(Optional.of(user))))
                        .boundBy("agent-1")));
    }

    private void is(GroupPart part, String... gpus) {
        moment.set(builder -> {
            for (String gpu : gpus) {
                builder.put(builder.gpu(new GpuId(gpu)).in(part));
            }
        });
    }

    private void report(DecisionId decision, Outcome outcome, String gpu, UnitPlacement placement) {
        ActuationReport report = moment.report(decision, outcome, service("chat"), gpu);
        moment.observe(report.with(List.of(placement)));
    }

    /** The replica that works on one unit is gone, in place of the one that was to leave another. */
    private void stopsInPlaceOf(String named, String gone, String user) {
        moment.later(ofSeconds(1));
        report(
                EARLIER,
                Outcome.RELEASED,
                named,
                UnitPlacement.on(new GpuId(gone), new GpuId(named), Optional.of(user)));
    }

    private void isBinding(String gpu, Instant deadline) {
        assertThat(moment.owner(gpu))
                .isInstanceOfSatisfying(
                        Owner.Binding.class,
                        binding -> assertThat(binding.deadline()).isEqualTo(deadline));
    }

    @Test
    void aReplicaThatStillStartsIsToBeBound() {
        works("pod-1", "n-g0");
        moment.owned(releasing(service("chat"), ofSeconds(90)), "n-g1");

        stopsInPlaceOf("n-g1", "n-g0", "pod-1");

        assertThat(moment.owner("n-g0").isFree()).isTrue();
        isBinding("n-g1", NOW.plusSeconds(41));
        assertThat(moment.gpu("n-g1").slot()).isEmpty();
    }

    /** It was late once, and goes on to start. A second time would put its GPU out of service. */
    @Test
    void itIsStoppedAndItsGpuStaysInServiceIfItIsLateAgain() {
        works("pod-1", "n-g0");
        moment.owned(releasing(service("chat"), ofSeconds(90)), "n-g1")
                .set(builder -> builder.put(builder.gpu(new GpuId("n-g1")).withFailedBinds(1)));
        stopsInPlaceOf("n-g1", "n-g0", "pod-1");

        StepBuilder step = moment.after(ofSeconds(60));
        new Deadlines(step, SchedulerSettings.DEFAULTS).expire(true);

        assertThat(step.gpu(new GpuId("n-g1")).owner().isReleasing()).isTrue();
    }

    @Test
    void itServesOnceItIsReportedAsBound() {
        works("pod-1", "n-g0");
        moment.owned(releasing(service("chat"), ofSeconds(90)), "n-g1");
        stopsInPlaceOf("n-g1", "n-g0", "pod-1");

        report(decision(8), Outcome.BOUND, "n-g1", UnitPlacement.unknown(new GpuId("n-g1"), Optional.of("pod-2")));

        assertThat(moment.owner("n-g1")).isEqualTo(serving("chat"));
        assertThat(moment.gpu("n-g1").user()).contains("pod-2");
    }

    @Test
    void oneOnAnotherNodeIsToBeBoundToo() {
        works("pod-1", "m-g0");
        moment.owned(releasing(service("chat"), ofSeconds(90)), "n-g1");

        stopsInPlaceOf("n-g1", "m-g0", "pod-1");

        assertThat(moment.owner("m-g0").isFree()).isTrue();
        isBinding("n-g1", NOW.plusSeconds(41));
    }

    @Test
    void oneThatWasBoundServesOn() {
        works("pod-1", "n-g0");
        works("pod-2", "n-g1");
        moment.owned(releasing(service("chat"), ofSeconds(90)), "n-g1");

        stopsInPlaceOf("n-g1", "n-g0", "pod-1");

        assertThat(moment.owner("n-g1")).isEqualTo(serving("chat"));
        assertThat(moment.gpu("n-g1").user()).contains("pod-2");
    }

    /** Two units of a replica that worked are left with one that starts: it works again when that is bound. */
    private void replicaOfTwoUnitsLosesOneForOneThatStarts() {
        moment.service("chat", 1, ReplicaShape.of("tp2", 2, 1, 10, ofSeconds(30)));
        works("pod-0", "n-g0");
        works("pod-1", "n-g1");
        is(OLD, "n-g0", "n-g1");
        moment.owned(releasing(service("chat"), ofSeconds(90)), "n-g2", "n-g3");
        is(NEW, "n-g2");
        is(NEW.missing(), "n-g3");
        stopsInPlaceOf("n-g3", "n-g0", "pod-0");
    }

    @Test
    void allUnitsOfAReplicaWaitForTheOneThatStarts() {
        replicaOfTwoUnitsLosesOneForOneThatStarts();

        assertThat(moment.owner("n-g0").isFree()).isTrue();
        isBinding("n-g1", NOW.plusSeconds(61));
        isBinding("n-g3", NOW.plusSeconds(61));
        assertThat(moment.gpu("n-g1").part()).contains(OLD);
        assertThat(moment.gpu("n-g3").part()).contains(OLD.missing());
    }

    @Test
    void theyServeTogetherOnceItIsBound() {
        replicaOfTwoUnitsLosesOneForOneThatStarts();

        report(decision(8), Outcome.BOUND, "n-g3", UnitPlacement.unknown(new GpuId("n-g3"), Optional.of("pod-3")));

        assertThat(moment.owner("n-g1")).isEqualTo(serving("chat"));
        assertThat(moment.owner("n-g3")).isEqualTo(serving("chat"));
    }

    @Test
    void theyAreStoppedIfItIsNotBoundInTime() {
        replicaOfTwoUnitsLosesOneForOneThatStarts();

        StepBuilder step = moment.after(ofSeconds(60));
        new Deadlines(step, SchedulerSettings.DEFAULTS).expire(true);

        assertThat(step.finished().decisions())
                .extracting(Decision::action)
                .singleElement()
                .isInstanceOfSatisfying(
                        Action.Idle.class, idle -> assertThat(idle.gpus()).isEqualTo(Moment.gpus("n-g1", "n-g3")));
    }
}
