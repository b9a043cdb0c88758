package io.lendstream.launcher;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.simulated.SimulatedGpu;
import io.lendstream.core.simulated.SimulatedHost;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.core.simulated.SimulatedTopology;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.simulator.workload.Workloads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What can never run is refused before the replay, with the numbers and the fields that they come from. */
class WorkloadFitTest {
    private static final DomainId DOMAIN = new DomainId("fit");

    /** Two nodes with A100 and two with T4, in racks of two, one node of each kind for inference; 64 CPUs each. */
    private static final SimulatedNodes.Layout LAYOUT = new SimulatedNodes.Layout(DOMAIN, 4, 4, 2, 1)
            .withKinds(Map.of(SimulatedGpu.A100, 2, SimulatedGpu.T4, 2))
            .with(new SimulatedTopology(0, 2).with(SimulatedHost.of(64, 512L << 30)));

    @TempDir
    private Path folder;

    /** @param sections YAML in which a bar stands for a new line */
    private void check(String sections, boolean lends) throws IOException {
        Files.writeString(folder.resolve("rates.csv"), "epoch_s,value\n0,10\n60,20\n");
        Path file = Files.writeString(folder.resolve("week.yaml"), sections.replace("|", "\n") + "\n");
        new WorkloadFit(Workloads.load(file.toString(), Scene.of(DOMAIN, 1, 8, 8)), LAYOUT, lends).check();
    }

    private static String job(String fields) {
        return "jobs:|- {job: a, submitSeconds: 0, runSeconds: 60, %s}".formatted(fields);
    }

    private static String service(String shapes) {
        return "services:|- {service: llm, series: rates.csv, secondsPerRequest: 1, replicaCapacityPerSecond: 1, sloMs: 500, warmUpSeconds: 1, scale: 1, replicaShapes: '%s'}"
                .formatted(shapes);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '"',
            value = {
                "gpus: 16; a needs 16 GPUs of one kind, but training has 8 at most with lending on",
                "gpus: 1, kinds: H100; a needs 1 GPU of one kind that it may use (kinds: H100-80GB-HBM3), but training has 0 at most",
                "gpus: 12, kinds: T4; a needs 12 GPUs of one kind that it may use (kinds: Tesla-T4-16GB), but training has 8",
                "gpus: 1, memoryGib: 100; a needs 1 GPU of one kind that it may use (memoryGib: 100), but training has 0",
                "gpus: 8, topology: {rack: required}; it needs 8 GPUs in one rack (topology), and no rack has more than 4 of one kind",
                "gpus: 3, wholeNodes: true; it needs 3 GPUs, its shape is whole nodes, and no number of GPUs fits both the shape and nodes with 4 GPUs each, 8 in all",
                "gpus: 2, cpusPerGpu: 100; a needs 100 CPUs for each of 2 GPUs (cpusPerGpu), but a node has 64 CPUs (--cpus-per-node or cpusPerNode in the section cluster), so the nodes that it may use hold 0",
                "gpus: 4, hostGibPerGpu: 512; a needs 512 GiB of host memory for each of 4 GPUs (hostGibPerGpu), but a node has 512 GiB of host memory (--host-gib-per-node or hostGibPerNode in the section cluster), so the nodes that it may use hold 2"
            })
    void aJobThatNoNodesHoldIsRefusedWithItsNumbers(String fields, String problem) {
        assertThatThrownBy(() -> check(job(fields), true))
                .isInstanceOf(UserError.class)
                .hasMessageContaining(problem);
    }

    @Test
    void jobsAndServicesOfQueuesThatAreNotDeclaredAreRefused() throws IOException {
        String queues = "queues:|- {queue: team-a, nominalQuota: 8}|- {queue: team-b, nominalQuota: 8}|";

        assertThatThrownBy(() -> check(queues + job("gpus: 1, queue: team-c"), true))
                .hasMessage(
                        "job a is in queue team-c, but declared queues are team-a, team-b; correct the name, or declare the queue.");
        assertThatThrownBy(() -> check(queues + service("one:1x1:1:1").replace("llm,", "llm, queue: team-x,"), true))
                .hasMessageStartingWith("service llm is in queue team-x, but declared queues are team-a, team-b;");
        check(job("gpus: 1, queue: team-c"), true);
        check(queues + job("gpus: 1"), true);
    }

    @Test
    void aJobOfAClassThatItsQueueHasNotIsRefused() throws IOException {
        String queues =
                "queues:|- {queue: team-a, nominalQuota: 8, priorityClasses: {high: 10, low: 1}}|- {queue: team-b, nominalQuota: 8}|";

        check(queues + job("gpus: 1, queue: team-a, priorityClass: high"), true);
        assertThatThrownBy(() -> check(queues + job("gpus: 1, queue: team-a, priorityClass: gold"), true))
                .hasMessage(
                        "job a is of class gold, but its queue declares high, low; correct priorityClass, or declare the class in priorityClasses.");
        assertThatThrownBy(() -> check(queues + job("gpus: 1, queue: team-b, priorityClass: high"), true))
                .hasMessageContaining("but its queue declares none;");
    }

    @Test
    void aJobThatItsQueueCanNeverHoldIsRefused() throws IOException {
        String few = "queues:|- {queue: team-a, nominalQuota: 2, kind: T4, cohort: all}|";
        String lends = few + "- {queue: team-b, nominalQuota: 6, kind: T4, cohort: all}|";
        String ofOther = few + "- {queue: team-b, nominalQuota: 6, cohort: all}|";

        assertThatThrownBy(() -> check(few + job("gpus: 4, queue: team-a"), true))
                .hasMessage(
                        "job a needs 4 GPUs, but its queue team-a may never use more than no GPU of kind A100 (no quota), and 2 GPUs of kind T4 (nominalQuota 2), with all that it can borrow; change the job, or the quotas of the queue.");
        assertThatThrownBy(() -> check(ofOther + job("gpus: 4, queue: team-a"), true))
                .as("quotas of other kinds lend nothing")
                .hasMessageContaining("2 GPUs of kind T4 (nominalQuota 2)");
        check(lends + job("gpus: 4, queue: team-a"), true);
    }

    @Test
    void wholeNodesCountInQuotasAndHostsAsTheyAre() throws IOException {
        assertThatThrownBy(() -> check(
                        "queues:|- {queue: team-a, nominalQuota: 3}|" + job("gpus: 4, wholeNodes: true, queue: team-a"),
                        true))
                .hasMessageContaining("job a needs 4 GPUs, but its queue team-a may never use more than 3 GPUs");
        assertThatThrownBy(() -> check(job("gpus: 4, wholeNodes: true, cpusPerGpu: 20"), true))
                .hasMessageContaining("a node has 64 CPUs");
        check(job("gpus: 4, wholeNodes: true, cpusPerGpu: 16"), true);
        check(job("gpus: 6, cpusPerGpu: 20"), true);
    }

    @Test
    void withoutLendingOnlyTrainingNodesCount() {
        assertThatThrownBy(() -> check(job("gpus: 8"), false))
                .hasMessageContaining("training has 4 at most with lending off");
        assertThatCode(() -> check(job("gpus: 8"), true)).doesNotThrowAnyException();
    }

    @Test
    void aServiceNeedsAShapeThatInferenceNodesHold() throws IOException {
        assertThatThrownBy(() -> check(service("tp8:8x1:20:90;wide:4x2:40:90"), true))
                .hasMessage(
                        "service llm never has a replica: tp8 needs 1 node with 8 GPUs, wide needs 2 nodes with 4 GPUs each, of one kind (replicaShapes), but inference has 1 node of kind A100, 1 node of kind T4 with 4 GPUs each; change the shapes, or the nodes (--nodes, --training-nodes or --gpus-per-node, or the section cluster).");
        assertThatThrownBy(() -> check(service("in:1x1:20:90:prefill;out:8x1:40:90:decode"), true))
                .hasMessageStartingWith("service llm never has a replica for decode: out needs 1 node with 8 GPUs");
        check(service("tp8:8x1:20:90;tp4:4x1:40:90"), true);
    }

    /** One node with two kinds and 32 CPUs, one with 8 T4 and no known CPUs; both are of one rack. */
    private void checkGroups(String sections) throws IOException {
        checkNodes(
                "{nodes: 1, gpus: {A100: 4, T4: 2}, rack: r1, cpusPerNode: 32}, {nodes: 1, gpus: {T4: 8}, rack: r1}",
                sections,
                Scene.of(DOMAIN, 1, 6, 8));
    }

    /** Checks a workload on two groups of nodes, the first of which is training's. */
    private void checkNodes(String groups, String sections, Scene scene) throws IOException {
        Files.writeString(folder.resolve("rates.csv"), "epoch_s,value\n0,10\n60,20\n");
        String file = Files.writeString(
                        folder.resolve("groups.yaml"),
                        "cluster: {nodeGroups: [%s]}\n%s\n".formatted(groups, sections.replace("|", "\n")))
                .toString();
        SimulatedNodes.Layout layout = new SimulatedNodes.Layout(DOMAIN, 2, 1, 1, 1)
                .withGroups(Workloads.cluster(file).orElseThrow().groups().groups());
        new WorkloadFit(Workloads.load(file, scene), layout, true).check();
    }

    @Test
    void nodesOfGroupsHoldWhatTheirOwnGpusAndHostsHold() throws IOException {
        assertThatThrownBy(() -> checkGroups(job("gpus: 11")))
                .hasMessageContaining("a needs 11 GPUs of one kind, but training has 10 at most");
        assertThatThrownBy(() -> checkGroups(job("gpus: 9, topology: {node: required}")))
                .hasMessageContaining(
                        "it needs 9 GPUs in one node (topology), and no node has more than 8 of one kind");
        assertThatThrownBy(() -> checkGroups(job("gpus: 3, wholeNodes: true")))
                .hasMessageContaining("nodes with 2 or 4 or 8 GPUs each, 10 in all");
        assertThatThrownBy(() -> checkGroups(job("gpus: 10, cpusPerGpu: 32")))
                .hasMessageContaining("but a node has at most 32 CPUs")
                .hasMessageContaining("so the nodes that it may use hold 9 of these GPUs");
        assertThatThrownBy(() -> checkGroups(service("tp9:9x1:20:90")))
                .hasMessageContaining("inference has 1 node of kind T4 with 8 GPUs each");
        checkGroups(job("gpus: 10, topology: {rack: required}, cpusPerGpu: 16"));
        checkGroups(job("gpus: 4, wholeNodes: true, kinds: A100"));
        checkGroups(service("tp8:8x1:20:90"));
    }

    /** A whole T4 and A100 that are cut, for inference; training has a T4. */
    private void checkCut(String sections, String gpus) throws IOException {
        checkNodes(
                "{nodes: 1, gpus: {T4: 1}, pool: training}, {nodes: 1, gpus: {%s}, pool: inference, mig: {A100: [7g.80gb]}}"
                        .formatted(gpus),
                sections,
                Scene.of(DOMAIN, 1, 1, 1));
    }

    @Test
    void gpusThatAreCutHoldNoJobAndNoReplica() throws IOException {
        String service = service("").replace(", replicaShapes: ''", "");

        assertThatThrownBy(() -> checkCut(job("gpus: 3"), "A100: 4, T4: 1"))
                .hasMessageContaining(
                        "job a needs 3 GPUs, but training has 2 at most with lending on, without GPUs that are cut into MIG instances (mig); change gpus");
        assertThatThrownBy(() -> checkCut(job("gpus: 1, kinds: A100, sliceMemoryGib: 8"), "A100: 4, T4: 1"))
                .hasMessageContaining("a needs 1 GPU of one kind that it may use (kinds: A100");
        assertThatThrownBy(() -> checkCut(job("gpus: 2, topology: {node: required}"), "A100: 4, T4: 1"))
                .hasMessageContaining("no node has more than 1");
        assertThatThrownBy(() -> checkCut(service, "A100: 4"))
                .hasMessage(
                        "service llm never has a replica: replayed services run on whole GPUs, and inference has none that it may use beside GPUs that are cut into MIG instances (mig); add a node of inference, or leave mig out for a kind.");
        assertThatThrownBy(() ->
                        checkCut(service.replace("scale: 1", "scale: 1, kindCapacities: {A100: 10}"), "A100: 4, T4: 1"))
                .hasMessageContaining("inference has none of a kind that it may use beside");
        checkCut(job("gpus: 2, sliceMemoryGib: 8, elastic: true") + "|" + service, "A100: 4, T4: 1");
    }
}
