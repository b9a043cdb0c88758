package io.lendstream.core.scheduler;

import static io.lendstream.core.fixtures.Scenario.DOMAIN;
import static io.lendstream.core.scheduler.Moment.NOW;
import static io.lendstream.core.scheduler.Moment.gpus;
import static io.lendstream.core.scheduler.Moment.job;
import static io.lendstream.core.scheduler.Moment.training;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.SlotKnowledge;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Samples that show where the users of slots are. */
class SlotSamplesTest extends SlotFixture {
    @Test
    void aSampleConfirmsTheNamedUnit() {
        slot("a", "pod-a", "n-g0");

        sample(Map.of("n-g0", "pod-a"));

        assertThat(moment.gpu("n-g0").slot()).contains(SlotKnowledge.named(Optional.of("pod-a")));
        assertThat(moment.state().clusterIndex().gpus().unplaced()).isEmpty();
    }

    @Test
    void aSampleExchangesTheOwnersOfTwoSlots() {
        slot("a", "pod-a", "n-g0");
        slot("b", "pod-b", "n-g1");
        moment.allocated("a", "n-g0").allocated("b", "n-g1");

        sample(Map.of("n-g0", "pod-b", "n-g1", "pod-a"));

        assertOwners("b", "a", "", "");
        assertAllocated("a", "n-g1");
        assertAllocated("b", "n-g0");
        assertThat(moment.state().clusterIndex().gpus().unplaced()).isEmpty();
    }

    @Test
    void anExchangePublishesBothLeases() {
        slot("a", "pod-a", "n-g0");
        moment.allocated("a", "n-g0").later(ofSeconds(1));
        GpuTelemetry shown = new GpuTelemetry(
                new NodeId("n"),
                DOMAIN,
                "boot-1",
                1,
                NOW.plusSeconds(1),
                List.of(GpuSample.of(new GpuId("n-g2")).build().withUsers(List.of("pod-a"))));

        Step step = moment.observed(shown).finished();

        assertThat(step.changed().owners()).containsExactlyElementsOf(gpus("n-g0", "n-g2"));
    }

    @Test
    void aSampleOfASlotOnAUnitOfAnotherTenantThatWasSeenThereQuarantinesIt() {
        slot("a", "pod-a", "n-g0");
        moment.owned(training("b"), "n-g1");
        placed(SlotKnowledge.named(Optional.of("pod-b")), "n-g1");

        sample(Map.of("n-g1", "pod-a"));

        assertThat(moment.owner("n-g1").isQuarantined()).isTrue();
        assertOwners("a");
    }

    @Test
    void aUserOfNoSlotIsIgnored() {
        slot("a", "pod-a", "n-g0");
        moment.owned(training("b"), "n-g1");

        sample(Map.of("n-g1", "pod-x", "n-g2", "pod-y"));

        assertOwners("a", "b", "", "");
    }

    @Test
    void twoUnitsOfOneTenantChangeTheirPlacesOnly() {
        slot("a", "pod-1", "n-g0");
        slot("a", "pod-2", "n-g1");
        moment.allocated("a", "n-g0", "n-g1");

        sample(Map.of("n-g0", "pod-2", "n-g1", "pod-1"));

        assertAllocated("a", "n-g0", "n-g1");
        assertThat(moment.gpu("n-g0").slot()).contains(SlotKnowledge.named(Optional.of("pod-2")));
        assertThat(moment.gpu("n-g1").slot()).contains(SlotKnowledge.named(Optional.of("pod-1")));
    }

    @Test
    void aPodWithTwoGpusIsPlacedOnBoth() {
        slot("a", "pod-a", "n-g0");
        slot("a", "pod-a", "n-g1");
        moment.allocated("a", "n-g0", "n-g1");

        sample(Map.of("n-g1", "pod-a", "n-g2", "pod-a"));

        assertOwners("", "a", "a", "");
        assertAllocated("a", "n-g1", "n-g2");
    }

    @Test
    void promisesFollowAnExchange() {
        slot("b", "pod-b", "n-g0");
        moment.set(builder -> {
            builder.promises().add(new GpuId("n-g1"), job("a"), NOW.plusSeconds(60));
            builder.put(builder.jobs().require(new JobId("a")).aiming(gpus("n-g1")));
        });

        sample(Map.of("n-g1", "pod-b"));

        assertThat(moment.state().promises())
                .singleElement()
                .satisfies(promise -> assertThat(promise.unit()).isEqualTo(new GpuId("n-g0")));
        assertThat(moment.jobState("a").target()).isEqualTo(gpus("n-g0"));
    }

    @Test
    void processesThatAreNoTenantsChangeNothing() {
        slot("a", "pod-a", "n-g0");
        moment.owned(training("b"), "n-g1").allocated("a", "n-g0").allocated("b", "n-g1");
        List<GpuState> before = units();

        sample(Map.of(
                "n-g0", "process/4711-90210",
                "n-g1", "lendstream/test/job/b",
                "n-g2", "process/4711-90210",
                "n-g3", "lendstream/test/job/a"));

        assertOwners("a", "b", "", "");
        assertThat(units()).isEqualTo(before);
    }

    @Test
    void aProcessBesideTheTenantOfASlotDoesNotHideIt() {
        slot("a", "pod-a", "n-g0");
        moment.allocated("a", "n-g0").later(ofSeconds(1));

        moment.observe(new GpuTelemetry(
                new NodeId("n"),
                DOMAIN,
                "boot-1",
                1,
                NOW.plusSeconds(1),
                List.of(GpuSample.of(new GpuId("n-g2")).build().withUsers(List.of("pod-a", "process/4711-90210")))));

        assertOwners("", "", "a", "");
    }

    private List<GpuState> units() {
        return List.of(moment.gpu("n-g0"), moment.gpu("n-g1"), moment.gpu("n-g2"), moment.gpu("n-g3"));
    }
}
