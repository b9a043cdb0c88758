package io.lendstream.core.decision;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DecisionTest {
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
    private static final JobId JOB = new JobId("bert");
    private static final Allocation NONE = Allocation.suspended(Mechanism.AFE);
    private static final Action RECLAIM = new Action.Reclaim(JOB, List.of(new GpuId("g0")), NOW, NONE);
    private static final Action RESIZE = new Action.Resize(JOB, List.of(new GpuId("g0")), NONE);

    private static Decision decision(ReasonCode code, Action action) {
        DecisionId id = new DecisionId(new DomainId("d"), 1, 1);
        return new Decision(id, NOW, NOW, false, new Reason(code.label(), "", Map.of(), List.of()), action);
    }

    @Test
    void theReturnOfAnEndedJobsGpusIsAReleaseAndNoReclaim() {
        for (Action action : List.of(RECLAIM, RESIZE)) {
            Decision ended = decision(ReasonCode.OVER, action);

            assertThat(ended.isRelease()).isTrue();
            assertThat(ended.isReclaim()).isFalse();
            assertThat(ended.countedAs()).isEqualTo("release");
        }
    }

    @Test
    void aReclaimFromAJobThatHasNotEndedIsNoRelease() {
        for (ReasonCode code : List.of(ReasonCode.DEMAND, ReasonCode.PLAN, ReasonCode.LEASE, ReasonCode.SAFETY)) {
            Decision reclaim = decision(code, RECLAIM);

            assertThat(reclaim.isReclaim()).as(code.label()).isTrue();
            assertThat(reclaim.isRelease()).as(code.label()).isFalse();
            assertThat(reclaim.countedAs()).as(code.label()).isEqualTo("reclaim");
        }
    }

    @Test
    void aResizeByAPlanIsCountedByItsKind() {
        Decision resize = decision(ReasonCode.PLAN, RESIZE);

        assertThat(resize.countedAs()).isEqualTo("resize");
        assertThat(resize.isReclaim()).isFalse();
    }

    @Test
    void allWordsOfCountsAreKnown() {
        assertThat(Decision.ALL_COUNTED_AS)
                .contains("release", RECLAIM.kind(), RESIZE.kind())
                .hasSize(1 + Action.class.getPermittedSubclasses().length);
    }
}
