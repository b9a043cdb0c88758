package io.lendstream.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.LoanStart;
import io.lendstream.core.state.LogPosition;
import io.lendstream.core.state.MigInstance;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.Pacing;
import io.lendstream.core.state.SlicePlan;
import io.lendstream.core.state.SloMisses;
import io.lendstream.core.state.Trust;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SliceStateTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
    private static final DomainId DOMAIN = new DomainId("d");

    private static <T> T stored(StateCodec<T> codec, T value) {
        return codec.read(codec.write(value), fingerprint -> codec.schema());
    }

    @Test
    void anInstanceThatIsBeingCutIsRestoredAsItWas() {
        MigInstance instance = new MigInstance(new GpuId("g"), "3g.40gb", 4, 4, 42_000_000_000L, .49);
        GpuState unit = GpuState.free(
                        new GpuId("g/4:4"), new NodeId("n"), Pool.INFERENCE, Optional.of(instance), NOON, 7)
                .with(new Owner.Recutting(new DecisionId(DOMAIN, 1, 2), NOON, true), NOON, 8);

        assertThat(stored(StateCodec.of(GpuState.class), unit)).isEqualTo(unit);
    }

    @Test
    void thePlanOfInstancesIsRestoredAsItWas() {
        ServiceId chat = new ServiceId("chat");
        SlicePlan plan = new SlicePlan(
                NOON,
                "A100-80GB",
                List.of(new SlicePlan.Cut(List.of("4g.40gb", "3g.40gb"), List.of(chat, chat))),
                List.of(new SlicePlan.Demand(chat, 300, Map.of("3g.40gb", 120.0, "4g.40gb", 180.0))),
                1,
                NOON.minusSeconds(60),
                NOON.plusSeconds(60),
                "for the test");
        DomainHeader header = new DomainHeader(
                DOMAIN,
                new LogPosition(NOON, 1, 2, 3),
                Optional.of(NOON),
                new ClusterState.Mode(false, false, false),
                Optional.of(new Pacing(7, NOON)),
                Optional.of(plan),
                Optional.empty(),
                List.of(),
                List.of(new LoanStart(NOON, 3)));

        assertThat(stored(StateCodec.of(DomainHeader.class), header)).isEqualTo(header);
        assertThat(plan.capacity(chat)).isEqualTo(300);
    }

    @Test
    void theLevelOfTrustIsRestoredAsItWas() {
        ServiceId chat = new ServiceId("chat");
        Trust trust = new Trust(
                TrustLevel.ONE_SERVICE,
                Optional.of(chat),
                NOON,
                "alice",
                2,
                Optional.of(NOON.minusSeconds(60)),
                Optional.of(NOON.minusSeconds(90)),
                List.of(new SloMisses(chat, "gateway", 2, NOON)));
        ClusterState.Mode mode = new ClusterState.Mode(true, false, false).with(trust);
        DomainHeader header = new DomainHeader(
                DOMAIN,
                new LogPosition(NOON, 1, 2, 3),
                Optional.empty(),
                mode,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                List.of(),
                List.of());

        assertThat(stored(StateCodec.of(DomainHeader.class), header).mode()).isEqualTo(mode);
    }
}
