package io.lendstream.core.actuation;

import static io.lendstream.core.actuation.ActuatorFixture.BERT;
import static io.lendstream.core.actuation.ActuatorFixture.CHAT;
import static io.lendstream.core.actuation.ActuatorFixture.gpus;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Bert has t1 and t2, and is leaving t3; chat has i1. */
class TenantChangeTest {
    private final Holdings holdings = new Holdings();

    @BeforeEach
    void twoTenantsHaveGpus() {
        hold("t1", BERT, Holding.Phase.BOUND);
        hold("t2", BERT, Holding.Phase.BINDING);
        hold("t3", BERT, Holding.Phase.RELEASING);
        hold("i1", CHAT, Holding.Phase.BOUND);
    }

    private void hold(String gpu, Tenant tenant, Holding.Phase phase) {
        holdings.put(new Holding(new GpuId(gpu), tenant, phase, Optional.empty()));
    }

    @Test
    void sortsEachNamedGpuByWhoHasIt() {
        List<GpuId> named = gpus("i1", "t1", "t2", "t3", "t4", "t5");

        TenantChange change = TenantChange.of(holdings, BERT, named, gpus("t1"), gpus("t4"));

        assertThat(change)
                .isEqualTo(new TenantChange(
                        BERT, gpus("t1"), gpus("t2"), gpus("t4"), gpus("t3"), gpus("t5"), gpus("i1"), List.of()));
        assertThat(change.changing()).containsExactlyElementsOf(gpus("t2", "t3", "t4", "t5"));
        assertThat(change.isForeignOnly()).isFalse();
    }

    @Test
    void countsOnlyGpusThatTheTenantIsNotLeavingAlready() {
        TenantChange change = TenantChange.of(holdings, BERT, List.of(), gpus("t1"), gpus("t4", "t5"));

        assertThat(change.before()).isEqualTo(2);
        assertThat(change.after()).isEqualTo(3);
    }

    @Test
    void leavesWhatIsNotKeptThoughItIsNotNamed() {
        TenantChange change = TenantChange.of(holdings, BERT, List.of(), List.of(), List.of());

        assertThat(change.leaving()).containsExactlyElementsOf(gpus("t1", "t2"));
    }

    @Test
    void isForeignOnlyIfNothingElseChanges() {
        assertThat(TenantChange.of(holdings, BERT, gpus("i1"), gpus("t1", "t2"), List.of())
                        .isForeignOnly())
                .isTrue();
        assertThat(TenantChange.of(holdings, BERT, gpus("i1", "t3"), gpus("t1", "t2"), List.of())
                        .isForeignOnly())
                .isFalse();
        assertThat(TenantChange.of(holdings, BERT, List.of(), gpus("t1", "t2"), List.of())
                        .isForeignOnly())
                .isFalse();
    }
}
