package io.lendstream.simulator.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.KindNeeds;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.KindId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ListedShapesTest {
    @TempDir
    private Path folder;

    /** The shape of a job that is listed with 4 GPUs. */
    private JobShape shape(String cells) throws IOException {
        return task(cells).job().shape();
    }

    private TrainingTask task(String cells) throws IOException {
        Path file = Files.writeString(
                folder.resolve("jobs.csv"),
                "job,submitSeconds,gpus,runSeconds,sizes,multipleOf,wholeNodes,topology,gang\na,0,4,3600,%s\n"
                        .formatted(cells));
        return Workloads.load(file.toString(), Scene.of(new DomainId("test"), 1, 8, 8))
                .tasks()
                .get(0);
    }

    @Test
    void aLineNamesTheShape() throws IOException {
        assertThat(shape("2;4,2,true,rack:required"))
                .isEqualTo(new JobShape(List.of(2, 4), 2, true, Optional.empty()).within(TopologyLevel.RACK, true));
        assertThat(shape(",,,nvlink-domain:preferred"))
                .isEqualTo(JobShape.ANY.within(TopologyLevel.NVLINK_DOMAIN, false));
        assertThat(shape(",,false,node:required")).isEqualTo(JobShape.ANY.within(TopologyLevel.NODE, true));
    }

    @Test
    void aLineMayBeAGangOfAnyShape() throws IOException {
        assertThat(shape(",,,,true")).isEqualTo(JobShape.ANY.together());
        assertThat(shape("2;4,,,,true")).isEqualTo(JobShape.of(List.of(2, 4)).together());
        assertThat(shape(",,,,false")).isEqualTo(JobShape.ANY);
        assertThatThrownBy(() -> shape(",,,,yes")).hasMessageContaining("column gang: found 'yes'");
    }

    @Test
    void aLineWithoutThemHasAnyShape() throws IOException {
        assertThat(shape(",,,")).isEqualTo(JobShape.ANY);
        assertThat(shape("")).isEqualTo(JobShape.ANY);
    }

    @Test
    void aJobInAShapeKeepsItsSpeedsAndLinks() throws IOException {
        KindId kind = new KindId("A100-SXM4-80GB");
        TrainingTask task =
                task("").onKinds(KindNeeds.ANY, Map.of(kind, 2.0)).withLinks(Map.of(kind, new LinkSpeed(3, 4)));

        TrainingTask shaped = task.shaped(JobShape.multiples(2));

        assertThat(shaped.job().shape()).isEqualTo(JobShape.multiples(2));
        assertThat(shaped.speeds()).isEqualTo(task.speeds());
        assertThat(shaped.links()).isEqualTo(task.links()).isNotEmpty();
    }

    @Test
    void aBadCellIsNamed() {
        assertThatThrownBy(() -> shape("2;x,,,"))
                .hasMessageContaining("column sizes: found '2;x', expected whole numbers");
        assertThatThrownBy(() -> shape(",0,,")).hasMessageContaining("column multipleOf: found '0'");
        assertThatThrownBy(() -> shape(",,yes,")).hasMessageContaining("column wholeNodes: found 'yes'");
        assertThatThrownBy(() -> shape(",,,rack")).hasMessageContaining("column topology: found 'rack', expected node");
        assertThatThrownBy(() -> shape(",,,room:required")).hasMessageContaining("column topology: found");
    }

    @Test
    void aShapeWithoutASizeForTheJobIsRefused() {
        assertThatThrownBy(() -> shape("2;3,,,")).hasMessageContaining("expected a shape with a size from 4 to 4 GPUs");
        assertThatThrownBy(() -> shape(",3,,")).hasMessageContaining("column multipleOf: found '3'");
    }
}
