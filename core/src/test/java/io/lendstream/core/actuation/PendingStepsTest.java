package io.lendstream.core.actuation;

import static io.lendstream.core.actuation.ActuatorFixture.BERT;
import static io.lendstream.core.actuation.ActuatorFixture.DOMAIN;
import static io.lendstream.core.actuation.ActuatorFixture.GPT;
import static io.lendstream.core.actuation.ActuatorFixture.at;
import static io.lendstream.core.actuation.ActuatorFixture.gpus;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PendingStepsTest {
    private static final DecisionId FIRST = new DecisionId(DOMAIN, 1, 1);
    private static final DecisionId SECOND = new DecisionId(DOMAIN, 1, 2);

    private final PendingSteps steps = new PendingSteps();

    private void await(double due, PendingStep.Kind kind, String... names) {
        steps.await(at(0), at(due), kind, PendingSteps.Subject.of(FIRST, BERT, gpus(names)), "");
    }

    private void await(Tenant tenant, PendingStep.Kind kind, String... names) {
        steps.await(at(0), at(10), kind, PendingSteps.Subject.of(FIRST, tenant, gpus(names)), "");
    }

    private List<String> lines() {
        return steps.all().stream()
                .map(step -> "%s %s %s%s"
                        .formatted(
                                step.kind(),
                                String.join(
                                        ",",
                                        step.gpus().stream().map(GpuId::value).toList()),
                                step.decision(),
                                step.reason().isEmpty() ? "" : " (" + step.reason() + ")"))
                .toList();
    }

    @Test
    void ofStepsDueAtTheSameTimeTheFirstAwaitedIsFirst() {
        await(20, PendingStep.Kind.APPLY, "t1");
        await(10, PendingStep.Kind.RELEASE, "t2");
        await(10, PendingStep.Kind.BIND, "t1");

        assertThat(lines()).containsExactly("RELEASE t2 d/1/1", "BIND t1 d/1/1", "APPLY t1 d/1/1");
        assertThat(steps.first().map(PendingStep::kind)).contains(PendingStep.Kind.RELEASE);
    }

    @Test
    void aStepWithoutGpusIsDroppedExceptThatAnApplyIsStillReported() {
        await(10, PendingStep.Kind.BIND, "t1");
        await(20, PendingStep.Kind.APPLY, "t1", "t2");

        steps.withdraw(gpus("t1"), step -> true);
        assertThat(lines()).containsExactly("APPLY t2 d/1/1 (without t1)");
        steps.withdraw(gpus("t2"), step -> true);
        assertThat(lines()).containsExactly("APPLY  d/1/1 (without t1; without t2)");
    }

    @Test
    void whatIsTakenOutOfAStepLeavesTheRest() {
        await(10, PendingStep.Kind.RELEASE, "t1", "t2");
        PendingStep step = steps.awaited(BERT, PendingStep::frees).get(0);

        assertThat(steps.takeOut(step, gpus("t2")).gpus()).isEqualTo(gpus("t2"));
        assertThat(lines()).containsExactly("RELEASE t1 d/1/1");
        assertThat(steps.awaited(GPT, PendingStep::frees)).isEmpty();
    }

    @Test
    void anExpeditedReleaseIsOwedUnderTheNewerDecisionByItsDeadline() {
        await(60, PendingStep.Kind.RELEASE, "t1", "t2");
        await(60, PendingStep.Kind.FAIL, "t3");

        steps.expedite(SECOND, gpus("t1", "t3"), at(30), at(5));

        assertThat(lines())
                .containsExactly(
                        "RELEASE t1 d/1/2 (first asked for by d/1/1)",
                        "FORCE t3 d/1/2 (first asked for by d/1/1)",
                        "RELEASE t2 d/1/1");
        assertThat(steps.first().map(PendingStep::due)).contains(at(30));
    }

    @Test
    void anExpeditedReleaseIsNotPutOff() {
        await(20, PendingStep.Kind.RELEASE, "t1");

        steps.expedite(SECOND, gpus("t1"), at(30), at(5));

        assertThat(lines()).containsExactly("RELEASE t1 d/1/2 (first asked for by d/1/1)");
        assertThat(steps.first().map(PendingStep::due)).contains(at(20));
    }

    @Test
    void anExpeditedReleaseWhoseDeadlineIsOverIsOwedAtOnce() {
        await(20, PendingStep.Kind.RELEASE, "t1");

        steps.expedite(SECOND, gpus("t1"), at(3), at(5));

        assertThat(steps.first().map(PendingStep::due)).contains(at(5));
    }

    @Test
    void onlyReleasesAndKillsAreExpedited() {
        await(20, PendingStep.Kind.BIND, "t1");
        await(40, PendingStep.Kind.APPLY, "t1");

        steps.expedite(SECOND, gpus("t1"), at(30), at(5));

        assertThat(lines()).containsExactly("BIND t1 d/1/1", "APPLY t1 d/1/1");
    }

    @Test
    void eachStepHasANumberOfItsOwnAlsoAfterARestart() {
        await(20, PendingStep.Kind.RELEASE, "t1", "t2");
        assertThat(steps.nextOrder()).isEqualTo(1);
        steps.expedite(SECOND, gpus("t2"), at(20), at(5));
        assertThat(steps.nextOrder()).isEqualTo(2);
        var restored = new PendingSteps();

        restored.restore(steps.all(), steps.nextOrder());
        restored.await(at(5), at(20), PendingStep.Kind.BIND, PendingSteps.Subject.of(SECOND, BERT, gpus("t3")), "");

        assertThat(restored.all()).extracting(PendingStep::order).containsExactly(0L, 1L, 2L);
        assertThat(restored.awaited(BERT, step -> true)).isEqualTo(restored.all());
    }

    @Test
    void aStepIsGoneOnceRemovedAndTheOthersOfItsTenantStay() {
        await(10, PendingStep.Kind.BIND, "t1");
        await(20, PendingStep.Kind.APPLY, "t1");
        PendingStep bind = steps.all().get(0);
        PendingStep apply = steps.all().get(1);

        steps.remove(bind);
        assertThat(steps.awaited(BERT, step -> true)).containsExactly(apply);
        steps.remove(apply);

        assertThat(steps.awaited(BERT, step -> true)).isEmpty();
        assertThat(steps.first()).isEmpty();
    }

    @Test
    void stepsOfOneTenantAreRemovedOrWithdrawnWithoutThoseOfAnother() {
        await(BERT, PendingStep.Kind.BIND, "t1");
        await(GPT, PendingStep.Kind.BIND, "t1");
        await(GPT, PendingStep.Kind.RETURN, "t1");

        steps.withdraw(GPT, gpus("t1"), PendingStep::binds);
        assertThat(lines()).containsExactly("BIND t1 d/1/1", "RETURN t1 d/1/1");
        steps.removeIf(BERT, step -> true);
        assertThat(lines()).containsExactly("RETURN t1 d/1/1");
        steps.removeIf(PendingStep::binds);
        assertThat(lines()).containsExactly("RETURN t1 d/1/1");
        steps.removeIf(step -> step.returns(GPT));

        assertThat(lines()).isEmpty();
    }

    @Test
    void knowsTheGpusThatAreBeingCutAndThoseThatNoDriverHasConfirmed() {
        await(BERT, PendingStep.Kind.RETURN, "t1", "t2");
        await(BERT, PendingStep.Kind.BIND, "t3");
        steps.await(
                at(0),
                at(10),
                PendingStep.Kind.RECUT,
                new PendingSteps.Subject(FIRST, Optional.empty(), gpus("i1")),
                "");

        assertThat(steps.unconfirmed()).containsExactlyInAnyOrderElementsOf(gpus("t1", "t2"));
        assertThat(steps.isRecut(new GpuId("i1"))).isTrue();
        assertThat(steps.isRecut(new GpuId("i2"))).isFalse();
        assertThat(steps.isRecut(new GpuId("t1"))).isFalse();
    }
}
