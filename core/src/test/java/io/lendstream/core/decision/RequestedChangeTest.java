package io.lendstream.core.decision;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RequestedChangeTest {
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
    private static final Instant LATER = NOW.plusSeconds(60);
    private static final JobId JOB = new JobId("bert");
    private static final ServiceId SERVICE = new ServiceId("chat");
    private static final List<GpuId> GPU = List.of(new GpuId("g0"));
    private static final List<GpuId> OTHER = List.of(new GpuId("g1"));

    private static RequestedChange change(Instant at, ReasonCode code, String text, Action action) {
        DecisionId id = new DecisionId(new DomainId("d"), 1, at.getEpochSecond());
        Reason reason = new Reason(code.label(), text, Map.of("n", (double) at.getEpochSecond()), List.of());
        return RequestedChange.of(new Decision(id, at, at.plusSeconds(45), true, reason, action));
    }

    private static RequestedChange change(Instant at, Action action) {
        return change(at, ReasonCode.PLAN, "at " + at, action);
    }

    private static Allocation allocation(List<GpuId> gpus, int batch) {
        return new Allocation(gpus, batch, 0, 1.0 / batch, Mechanism.AFE);
    }

    private static Action lend(List<GpuId> gpus, Instant until, int batch) {
        return new Action.Lend(JOB, gpus, until, allocation(gpus, batch));
    }

    private static Action hold() {
        return new Action.Hold(Optional.empty(), Optional.empty());
    }

    @Test
    void timesBatchesAndFiguresOfReasonsDoNotMakeAnotherChange() {
        assertThat(change(LATER, lend(GPU, LATER, 8))).isEqualTo(change(NOW, lend(GPU, NOW, 4)));
        assertThat(change(LATER, new Action.Reclaim(JOB, GPU, LATER, allocation(OTHER, 8))))
                .isEqualTo(change(NOW, new Action.Reclaim(JOB, GPU, NOW, allocation(OTHER, 4))));
        assertThat(change(LATER, new Action.Resize(JOB, GPU, allocation(GPU, 8))))
                .isEqualTo(change(NOW, new Action.Resize(JOB, GPU, allocation(GPU, 4))));
        assertThat(change(LATER, new Action.Idle(SERVICE, GPU, LATER)))
                .isEqualTo(change(NOW, new Action.Idle(SERVICE, GPU, NOW)));
        assertThat(change(LATER, new Action.Renew(GPU, LATER))).isEqualTo(change(NOW, new Action.Renew(GPU, NOW)));
        assertThat(change(LATER, new Action.Serve(SERVICE, GPU, false)))
                .isEqualTo(change(NOW, new Action.Serve(SERVICE, GPU, false)));
    }

    @Test
    void otherGpusSizesTenantsOrKindsMakeAnotherChange() {
        RequestedChange lend = change(NOW, lend(GPU, NOW, 4));
        List<GpuId> both = List.of(GPU.get(0), OTHER.get(0));

        assertThat(change(NOW, lend(OTHER, NOW, 4))).isNotEqualTo(lend);
        assertThat(change(NOW, new Action.Lend(JOB, GPU, NOW, allocation(both, 4))))
                .isNotEqualTo(lend);
        assertThat(change(NOW, new Action.Lend(new JobId("gpt"), GPU, NOW, allocation(GPU, 4))))
                .isNotEqualTo(lend);
        assertThat(change(NOW, new Action.Resize(JOB, GPU, allocation(GPU, 4)))).isNotEqualTo(lend);
    }

    @Test
    void aResizeOfTheBatchAloneIsAnotherWithAnotherBatch() {
        assertThat(change(NOW, new Action.Resize(JOB, List.of(), allocation(GPU, 8))))
                .isNotEqualTo(change(NOW, new Action.Resize(JOB, List.of(), allocation(GPU, 4))));
    }

    @Test
    void aReleaseIsNoReclaim() {
        Action reclaim = new Action.Reclaim(JOB, GPU, NOW, Allocation.suspended(Mechanism.AFE));

        assertThat(change(NOW, ReasonCode.OVER, "", reclaim)).isNotEqualTo(change(NOW, ReasonCode.PLAN, "", reclaim));
    }

    @Test
    void aHoldIsAnotherIfItsCauseIsAnother() {
        RequestedChange stale = change(NOW, ReasonCode.STALE, "the rates of chat are 50.5 s old", hold());

        assertThat(change(LATER, ReasonCode.STALE, "the rates of chat are 110 s old", hold()))
                .isEqualTo(stale);
        assertThat(change(NOW, ReasonCode.STALE, "the rates of mail are 50.5 s old", hold()))
                .isNotEqualTo(stale);
        assertThat(change(NOW, ReasonCode.HELD, "the rates of chat are 50.5 s old", hold()))
                .isNotEqualTo(stale);
    }

    @Test
    void digitsOfANameAreNoFigures() {
        RequestedChange stale = change(NOW, ReasonCode.STALE, "the rates of chat-1 are 50 s old (limit: 45 s)", hold());

        assertThat(change(LATER, ReasonCode.STALE, "the rates of chat-1 are 60 s old (limit: 48 s)", hold()))
                .isEqualTo(stale);
        assertThat(change(NOW, ReasonCode.STALE, "the rates of chat-2 are 50 s old (limit: 45 s)", hold()))
                .isNotEqualTo(stale);
    }

    @Test
    void theVerbAndThePluralOfAFigureAreNoOtherCause() {
        RequestedChange one = change(NOW, ReasonCode.STALE, "1 of 4 nodes does not report; 1 GPU is idle", hold());

        assertThat(change(LATER, ReasonCode.STALE, "2 of 4 nodes do not report; 3 GPUs are idle", hold()))
                .isEqualTo(one);
        assertThat(change(LATER, ReasonCode.STALE, "2 of 4 nodes do not answer; 3 GPUs are idle", hold()))
                .isNotEqualTo(one);
        assertThat(change(LATER, ReasonCode.STALE, "2 of 4 jobs do not report; 3 GPUs are idle", hold()))
                .isNotEqualTo(one);
    }
}
