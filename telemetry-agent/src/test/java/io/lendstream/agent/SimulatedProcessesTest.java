package io.lendstream.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.Node;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.service.fake.FakeProc;
import io.lendstream.service.host.HostProcesses;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SimulatedProcessesTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
    private static final String PYTHON = "/none/bin/python3";

    @TempDir
    Path directory;

    private FakeProc proc;

    @BeforeEach
    void start() {
        proc = new FakeProc(directory);
    }

    private static SimulatedNodes nodes(int count) {
        return new SimulatedNodes(
                new SimulatedNodes.Layout(new DomainId("east"), count, 2, 0, 7), NOON, Duration.ofSeconds(10), "boot");
    }

    private List<String> users(SimulatedNodes nodes) {
        return new SimulatedProcesses(new HostProcesses(directory), List.of("nvidia-cuda-mps-*"))
                .in(nodes.inventory(), nodes.sampleNow(NOON)).stream()
                        .flatMap(node -> node.gpus().stream())
                        .map(GpuSample::usedBy)
                        .map(users ->
                                users.map(names -> String.join(" ", names)).orElse("?"))
                        .toList();
    }

    private static String gpu(SimulatedNodes nodes, int node, int index) {
        Node one = nodes.inventory().get(node);
        return one.gpus().get(index).gpuId().value();
    }

    @Test
    void aGpuThatNoProcessNamesIsUnused() {
        proc.with(10, 1, 500, PYTHON);

        assertThat(users(nodes(1))).containsExactly("", "");
    }

    @Test
    void processesNameGpusByIndexWhereThereIsOneNode() {
        proc.with(10, 1, 500, PYTHON).environment(10, "CUDA_VISIBLE_DEVICES=0,1");
        proc.with(11, 1, 510, PYTHON).environment(11, "CUDA_VISIBLE_DEVICES=1,-1,0");

        assertThat(users(nodes(1))).containsExactly("process/10-500", "process/10-500 process/11-510");
        assertThat(users(nodes(2))).containsExactly("", "", "", "");
    }

    @Test
    void processesNameGpusByUuidOnAnyNode() {
        SimulatedNodes nodes = nodes(2);
        proc.with(10, 1, 500, PYTHON)
                .environment(10, "CUDA_VISIBLE_DEVICES=" + gpu(nodes, 1, 0), "LENDSTREAM_TENANT=lendstream/east/job/j");
        proc.with(11, 1, 510, PYTHON)
                .environment(11, "CUDA_VISIBLE_DEVICES=" + gpu(nodes, 0, 1).substring(0, 12));
        proc.with(12, 1, 520, PYTHON).environment(12, "CUDA_VISIBLE_DEVICES=GPU-");

        assertThat(users(nodes)).containsExactly("", "process/11-510", "lendstream/east/job/j", "");
    }

    @Test
    void aShellThatStartsAProcessIsNoUserBesideIt() {
        proc.with(9, 1, 490, "/none/bin/bash").environment(9, "CUDA_VISIBLE_DEVICES=0,1");
        proc.with(10, 9, 500, PYTHON).environment(10, "CUDA_VISIBLE_DEVICES=0");
        proc.with(11, 10, 510, PYTHON).environment(11, "CUDA_VISIBLE_DEVICES=0");
        proc.with(12, 9, 510, "/none/nvidia-cuda-mps-server").environment(12, "CUDA_VISIBLE_DEVICES=1");

        assertThat(users(nodes(1))).containsExactly("process/10-500", "process/9-490");
    }
}
