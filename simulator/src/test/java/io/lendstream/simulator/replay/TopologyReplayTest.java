package io.lendstream.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.JobChange;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Node;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.core.simulated.SimulatedTopology;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.simulator.workload.Workload;
import io.lendstream.simulator.workload.Workloads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs of a list stay in one rack of simulated nodes. */
class TopologyReplayTest {
    private static final DomainId DOMAIN = new DomainId("replay");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"deepboot", "tiresias", "afs", "optimus", "lyra", "pollux", "clairvoyant", "lendstream"})
    void aJobThatRequiresARackHasGpusOfOneRack(String policy) throws IOException {
        Path file = Files.writeString(
                folder.resolve("jobs.csv"),
                "job,submitSeconds,gpus,runSeconds,topology\nsmall,0,1,600,\na,0,3,900,rack:required\nb,10,4,900,rack:required\n");
        Workload workload = Workloads.load(file.toString(), Scene.of(DOMAIN, 1, 8, 0));
        SimulatedNodes.Layout layout = new SimulatedNodes.Layout(DOMAIN, 4, 2, 4, 1).with(new SimulatedTopology(0, 2));

        Replayed replayed = Replay.run(workload, ReplaySettings.of(policy, true, true, layout));

        assertThat(HistoryChecker.check(
                                DOMAIN, replayed.log(), replayed.outcome().decisions(), replayed.leases())
                        .violations())
                .isEmpty();
        Map<GpuId, String> racks = new HashMap<>();
        for (DomainEvent event : replayed.log()) {
            if (event.event() instanceof Node node) {
                String rack = Objects.requireNonNull(node.facts().labels().get("lendstream.io/rack"));
                node.gpus().forEach(gpu -> racks.put(gpu.gpuId(), rack));
            }
        }
        assertThat(new HashSet<>(racks.values())).containsExactlyInAnyOrder("rack-0", "rack-1");
        int given = 0;
        for (Decision decision : replayed.outcome().decisions()) {
            for (JobChange change : decision.action().jobChange().stream().toList()) {
                Set<String> used = new HashSet<>();
                change.allocation().gpus().forEach(gpu -> used.add(Objects.requireNonNull(racks.get(gpu))));
                assertThat(used).as("%s", decision).hasSizeLessThan(2);
                given += change.job().value().equals("b") && !used.isEmpty() ? 1 : 0;
            }
        }
        assertThat(given).as("the job b ran").isPositive();
    }
}
