package io.lendstream.core.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SloFeedback;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Loans that the level of trust, or a missed SLO, forbids. */
class FaultyLoansTest extends FaultyStepFixture {
    @Test
    @Breaks("trust")
    void noticesALoanBeyondTheLevelOfTrust() {
        story.trust(TrustLevel.SHARE, false).job("a", 2).rate("chat", 1);
        GpuId idle = unit(GpuState::isFree);

        assertThat(broken(step -> lending(step, idle))).contains("trust");
    }

    @Test
    @Breaks("slo")
    void noticesALoanOfWhatAServiceLeftThatMissedItsSlo() {
        story.job("a", 2).rate("chat", 1);
        GpuId left = unit(unit -> unit.owner().isServing());
        assertThat(broken(step -> lending(step, left))).doesNotContain("slo");

        assertThat(broken(step -> {
                    ServiceState chat = step.state().services().require(new ServiceId("chat"));
                    Optional<SloFeedback> missed =
                            Optional.of(SloFeedback.of(story.now()).missed(story.now()));
                    return lending(with(step, step.state().entities().with(chat.with(missed)), left), left);
                }))
                .contains("slo");
    }

    private GpuId unit(Predicate<GpuState> which) {
        return story.state().gpus().stream()
                .filter(unit -> unit.pool() == Pool.INFERENCE && unit.isWhole())
                .filter(which)
                .findFirst()
                .orElseThrow()
                .gpuId();
    }

    /** The step with a decision to lend a unit to job a. */
    private Step lending(Step step, GpuId unit) {
        Instant until = story.now().plusSeconds(600);
        Owner lent = new Owner.Binding(
                new Tenant.Job(new JobId("a")), DECISION, story.now().plusSeconds(45), Optional.of(until), 1);
        Allocation allocation = new Allocation(List.of(unit), 32, 0, 1, Mechanism.RESTART);
        Decision lend = new Decision(
                DECISION,
                story.now(),
                story.now().plusSeconds(45),
                false,
                new Reason("test", "", Map.of(), List.of()),
                new Action.Lend(new JobId("a"), List.of(unit), until, allocation));
        Step bound = owned(step, unit.value(), lent);
        return new Step(bound.state(), List.of(lend), bound.changed());
    }
}
