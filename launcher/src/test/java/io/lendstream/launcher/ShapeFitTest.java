package io.lendstream.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.core.simulated.SimulatedTopology;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.simulator.workload.Workloads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShapeFitTest {
    private static final DomainId DOMAIN = new DomainId("fit");

    /** Four nodes of 2 GPUs in two racks; one rack is training's. */
    private static final SimulatedNodes.Layout LAYOUT =
            new SimulatedNodes.Layout(DOMAIN, 4, 2, 2, 1).with(new SimulatedTopology(0, 2));

    @TempDir
    private Path folder;

    private TrainingJob job(int gpus, JobShape shape) throws IOException {
        Path file = Files.writeString(
                folder.resolve("jobs.csv"), "job,submitSeconds,gpus,runSeconds\na,0,%d,60\n".formatted(gpus));
        return Workloads.load(file.toString(), Scene.of(DOMAIN, 1, 8, 0))
                .tasks()
                .get(0)
                .job()
                .shaped(shape);
    }

    @Test
    void aRackHoldsFourGpus() throws IOException {
        JobShape rack = JobShape.ANY.within(TopologyLevel.RACK, true);
        ShapeFit fit = new ShapeFit(LAYOUT, true);

        assertThat(fit.holds(job(4, rack))).isTrue();
        assertThat(fit.holds(job(5, rack))).isFalse();
        assertThat(fit.holds(job(3, JobShape.ANY.within(TopologyLevel.NODE, true))))
                .isFalse();
        assertThat(fit.holds(job(5, JobShape.ANY.within(TopologyLevel.RACK, false))))
                .isTrue();
    }

    @Test
    void wholeNodesAreMultiplesOfTwo() throws IOException {
        ShapeFit fit = new ShapeFit(LAYOUT, false);

        assertThat(fit.holds(job(4, JobShape.nodes()))).isTrue();
        assertThat(fit.holds(job(3, JobShape.nodes()))).isFalse();
        assertThat(fit.holds(job(6, JobShape.nodes()))).as("without lending").isFalse();
    }
}
