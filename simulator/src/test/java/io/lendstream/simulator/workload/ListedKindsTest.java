package io.lendstream.simulator.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.event.KindNeeds;
import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.simulated.SimulatedGpu;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ListedKindsTest {
    @TempDir
    private Path folder;

    private TrainingTask task(String cells) throws IOException {
        Path file = Files.writeString(
                folder.resolve("jobs.csv"),
                "job,submitSeconds,gpus,runSeconds,kinds,kindRatios,memoryGib\na,0,2,3600,%s\n".formatted(cells));
        return Workloads.load(file.toString(), Scene.of(new DomainId("test"), 1, 8, 8))
                .tasks()
                .get(0);
    }

    @Test
    void aLineNamesKindsRatiosAndMemory() throws IOException {
        TrainingTask task = task("T4;H200-141GB,T4:0.25;A100:1,12.5");

        KindNeeds needs = task.job().kindNeeds();
        assertThat(needs.allowedKinds()).containsExactly(SimulatedGpu.T4.kind(), new KindId("H200-141GB"));
        assertThat(needs.memoryBytes()).contains((long) (12.5 * (1L << 30)));
        assertThat(needs.traits(SimulatedGpu.T4.kind()).orElseThrow().ratio()).contains(new KindRatio(0.25, 0.2));
        assertThat(needs.traits(SimulatedGpu.A100.kind()).orElseThrow().ratio()).contains(new KindRatio(1, 0));
        assertThat(task.speeds()).isEqualTo(Map.of(SimulatedGpu.T4.kind(), 0.25, SimulatedGpu.A100.kind(), 1.0));
        assertThat(task.speedOn(SimulatedGpu.L4.kind())).isEqualTo(1);
        assertThat(task.job().excludes(SimulatedGpu.A100.kind())).isTrue();
        assertThat(task.job().excludes(SimulatedGpu.T4.kind())).isFalse();
    }

    @Test
    void aLineWithoutThemMayUseAnyKind() throws IOException {
        assertThat(task(",,").job().kindNeeds()).isEqualTo(KindNeeds.ANY);
        assertThat(task("").speeds()).isEmpty();
    }

    /** The same on nodes with A100 and T4. */
    private void onNodes(String cells) throws IOException {
        Path file = Files.writeString(
                folder.resolve("jobs.csv"),
                "job,submitSeconds,gpus,runSeconds,kinds,kindRatios,memoryGib\na,0,2,3600,%s\n".formatted(cells));
        Workloads.load(
                file.toString(),
                Scene.of(new DomainId("test"), 1, 8, 8)
                        .onNodesOf(List.of(SimulatedGpu.T4, SimulatedGpu.A100, SimulatedGpu.T4)));
    }

    @Test
    void aKindThatNoNodeHasIsRefusedAlsoBesideOthers() throws IOException {
        assertThatThrownBy(() -> onNodes("T4;A10,,"))
                .hasMessageContaining(
                        "line 2, column kinds: found 'T4;A10', expected only kinds of GPU that nodes have (A100, T4), but no node has A10;");
        assertThatThrownBy(() -> onNodes(",A100:1;L4:0.5,")).hasMessageContaining("but no node has L4;");
        onNodes("Tesla-T4-16GB;a100,T4:0.5,");
    }

    @Test
    void aBadCellIsNamed() {
        assertThatThrownBy(() -> task(",T4,")).hasMessageContaining("line 2, column kindRatios: found 'T4', expected");
        assertThatThrownBy(() -> task(",T4:-1,")).hasMessageContaining("factors from 0.001 to 1000");
        assertThatThrownBy(() -> task("a b,,"))
                .hasMessageContaining("column kinds: found 'a b', expected names of kinds");
        assertThatThrownBy(() -> task(",,none")).hasMessageContaining("column memoryGib: found 'none'");
    }
}
