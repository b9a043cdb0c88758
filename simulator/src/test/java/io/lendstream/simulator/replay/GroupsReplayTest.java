package io.lendstream.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.Outcome;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.simulator.workload.Workload;
import io.lendstream.simulator.workload.Workloads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A replay of a service whose replicas have four GPUs. */
class GroupsReplayTest {
    private static final DomainId DOMAIN = new DomainId("replay");

    @TempDir
    private Path folder;

    /** The seconds from each decision that starts a replica to the report of its last GPU; three replicas one by one. */
    private List<Long> starts(String shape) throws IOException {
        Files.writeString(
                folder.resolve("rates.csv"),
                "epoch_s,value\n0,1\n300,1\n600,18\n900,18\n1200,18\n1500,36\n1800,36\n2100,36\n");
        Path services = Files.writeString(
                folder.resolve("services.csv"),
                "service,series,secondsPerRequest,replicaCapacityPerSecond,sloMs,warmUpSeconds,scale,replicaShapes\n"
                        + "llm,rates.csv,0.05,20,500,8,1," + shape + "\n");
        Workload workload = Workloads.load(services.toString(), Scene.of(DOMAIN, 1, 4, 8));
        Replayed replayed = Replay.run(
                workload, ReplaySettings.of("deepboot", true, true, new SimulatedNodes.Layout(DOMAIN, 3, 4, 1, 1)));
        return replayed.outcome().decisions().stream()
                .filter(decision -> decision.action()
                        .asServe()
                        .filter(serve -> !serve.warm())
                        .isPresent())
                .map(decision -> replayed.log().stream()
                        .flatMap(event -> event.event().asReport().stream())
                        .filter(report -> report.decision().equals(decision.id()) && report.outcome() == Outcome.BOUND)
                        .map(report ->
                                Duration.between(decision.at(), report.at()).toSeconds())
                        .max(Comparator.naturalOrder())
                        .orElseThrow())
                .toList();
    }

    @Test
    void aReplicaStartsFromCacheBesideAnotherOne() throws IOException {
        assertThat(starts("tp2:2x1:20:60/10/5"))
                .as("the second is on the node of the first, the third is not")
                .containsExactly(60L, 10L, 60L);
        assertThat(starts("tp2:2x1:20:60")).containsExactly(60L, 60L, 60L);
    }

    @Test
    void aReplicaOfOneGpuStartsFromCacheToo() throws IOException {
        assertThat(starts("one:1x1:20:60/10"))
                .as("three replicas on two nodes")
                .hasSize(3)
                .startsWith(60L)
                .endsWith(10L);
    }

    @Test
    void replicasOfFourGpusAnswerTheRate() throws IOException {
        Files.writeString(folder.resolve("rates.csv"), "epoch_s,value\n0,8\n300,8\n600,30\n900,30\n1200,30\n");
        Path services = Files.writeString(folder.resolve("services.csv"), """
                service,series,secondsPerRequest,replicaCapacityPerSecond,sloMs,warmUpSeconds,scale,replicaShapes
                llm,rates.csv,0.05,20,500,8,1,tp4:4x1:20:30
                """);
        Workload workload = Workloads.load(services.toString(), Scene.of(DOMAIN, 1, 4, 8));

        Replayed replayed = Replay.run(
                workload, ReplaySettings.of("deepboot", true, true, new SimulatedNodes.Layout(DOMAIN, 3, 4, 1, 1)));

        assertThat(HistoryChecker.check(
                                DOMAIN, replayed.log(), replayed.outcome().decisions(), replayed.leases())
                        .violations())
                .isEmpty();
        assertThat(replayed.outcome().decisions().stream()
                        .flatMap(decision -> decision.action().asServe().stream())
                        .filter(serve -> !serve.warm())
                        .flatMap(serve -> serve.replicas().stream()))
                .as("8 requests/s need one replica, 30 need two")
                .hasSize(2)
                .allMatch(replica -> replica.units().size() == 4);
    }
}
