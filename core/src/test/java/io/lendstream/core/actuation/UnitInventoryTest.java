package io.lendstream.core.actuation;

import static io.lendstream.core.actuation.ActuatorFixture.DOMAIN;
import static io.lendstream.core.actuation.ActuatorFixture.at;
import static io.lendstream.core.actuation.ActuatorFixture.gpus;
import static io.lendstream.core.actuation.ActuatorFixture.node;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class UnitInventoryTest {
    private static final DomainId THEIRS = new DomainId("theirs");
    private static final NodeId NODE = new NodeId("n1");
    private static final GpuId GPU = new GpuId("g1");
    private static final Gpu SWITCHABLE = Gpu.whole(GPU, 0, "A100", 80L << 30).switchable();

    private final UnitInventory inventory = new UnitInventory();

    private static Node withGpu(DomainId domain, Gpu gpu) {
        return new Node(NODE, domain, Pool.INFERENCE, "boot", at(0), NodeStatus.READY, List.of(gpu));
    }

    @Test
    void aGpuIsOfItsNodesPoolAndDomain() {
        inventory.declare(node(DOMAIN, "n1", Pool.TRAINING, "g1"));
        inventory.declare(node(THEIRS, "n2", Pool.INFERENCE, "h1"));

        assertThat(inventory.isTraining(GPU)).isTrue();
        assertThat(inventory.isTraining(new GpuId("h1"))).isFalse();
        assertThat(inventory.domainOf(new GpuId("h1"))).contains(THEIRS);
        assertThat(inventory.isElsewhere(DOMAIN, new GpuId("h1"))).isTrue();
        assertThat(inventory.isElsewhere(THEIRS, new GpuId("h1"))).isFalse();
        assertThat(inventory.isKnown(new GpuId("x1"))).isFalse();
        assertThat(inventory.isElsewhere(THEIRS, new GpuId("x1"))).isFalse();
    }

    @Test
    void unitsOfADomainAreTheGpusAndInstancesOfAllItsNodesSorted() {
        GpuInstance instance = new GpuInstance(new GpuId("g1/0:4"), "4g.40gb", 0, 4, 40L << 30, Optional.empty());
        inventory.declare(node(DOMAIN, "n2", Pool.TRAINING, "g2", "a1"));
        inventory.declare(withGpu(DOMAIN, SWITCHABLE.cutInto(List.of(instance))));
        inventory.declare(node(THEIRS, "n2", Pool.TRAINING, "h1"));

        assertThat(inventory.unitsOf(DOMAIN)).isEqualTo(gpus("a1", "g1", "g1/0:4", "g2"));
        assertThat(inventory.unitsOf(DOMAIN, NODE)).isEqualTo(gpus("g1", "g1/0:4"));
        assertThat(inventory.unitsOf(THEIRS, NODE)).isEmpty();
    }

    /** Its instances are used in its place. */
    @Test
    void aGpuThatIsCutIsLikeNoWholeOne() {
        GpuInstance instance = new GpuInstance(new GpuId("g1/0:4"), "4g.40gb", 0, 4, 40L << 30, Optional.empty());
        Gpu whole = Gpu.whole(new GpuId("g2"), 1, "A100", 80L << 30);
        inventory.declare(new Node(
                NODE,
                DOMAIN,
                Pool.INFERENCE,
                "boot",
                at(0),
                NodeStatus.READY,
                List.of(SWITCHABLE.cutInto(List.of(instance)), whole)));

        assertThat(inventory.alike(new GpuId("g2"))).isEqualTo(gpus("g2"));
        assertThat(inventory.slotClass(GPU)).isEmpty();
        assertThat(inventory.alike(instance.gpuId())).isEqualTo(gpus("g1/0:4"));
    }

    @Test
    void aNodeIsOfEachDomainThatDeclaresIt() {
        inventory.declare(node(DOMAIN, "n1", Pool.TRAINING, "g1"));
        inventory.declare(node(THEIRS, "n1", Pool.TRAINING, "h1"));
        inventory.declare(node(DOMAIN, "n2", Pool.TRAINING, "g2"));

        assertThat(inventory.domainsOf(NODE)).containsExactlyInAnyOrder(DOMAIN, THEIRS);
        assertThat(inventory.domainsOf(new NodeId("n2"))).containsExactly(DOMAIN);
        assertThat(inventory.domainsOf(new NodeId("n3"))).isEmpty();
    }

    @Test
    void nothingIsKnownOfTheGpusOfAForgottenNode() {
        inventory.declare(withGpu(DOMAIN, SWITCHABLE));
        assertThat(inventory.cuttable(GPU)).contains(SWITCHABLE);

        inventory.forget(DOMAIN, NODE);

        assertThat(inventory.isKnown(GPU)).isFalse();
        assertThat(inventory.domainOf(GPU)).isEmpty();
        assertThat(inventory.cuttable(GPU)).isEmpty();
        assertThat(inventory.unitsOf(DOMAIN)).isEmpty();
    }

    @Test
    void aGpuIsCutOnlyAsTheFirstDomainThatDeclaresItAllows() {
        inventory.declare(withGpu(DOMAIN, Gpu.whole(GPU, 0, "A100", 80L << 30)));

        inventory.declare(withGpu(THEIRS, SWITCHABLE));

        assertThat(inventory.cuttable(GPU)).isEmpty();
        assertThat(inventory.domainOf(GPU)).contains(DOMAIN);
        assertThat(inventory.unitsOf(THEIRS)).isEmpty();
    }

    @Test
    void aNodeWhosePoolIsNotKnownAnyMoreHasNoUnits() {
        inventory.declare(node(DOMAIN, "n1", Pool.TRAINING, "g1"));

        inventory.declare(node(DOMAIN, "n1", Pool.UNKNOWN, "g1"));

        assertThat(inventory.isKnown(GPU)).isFalse();
        assertThat(inventory.unitsOf(DOMAIN, NODE)).isEmpty();
    }
}
