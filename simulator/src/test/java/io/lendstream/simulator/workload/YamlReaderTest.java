package io.lendstream.simulator.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.simulated.SimulatedGpu;
import io.lendstream.core.simulated.SimulatedGroup;
import io.lendstream.core.simulated.SimulatedHost;
import io.lendstream.core.simulated.SimulatedTopology;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Workloads in YAML are those of our lists. */
class YamlReaderTest {
    private static final Path PAGE = Path.of("../docs/workloads.md");

    @TempDir
    private Path folder;

    private final Scene scene = Scene.of(new DomainId("test"), 1, 16, 20);

    private Path file(String text) throws IOException {
        Files.writeString(folder.resolve("chat-rates.csv"), "epoch_s,value\n0,10\n60,20\n");
        return Files.writeString(folder.resolve("week.yaml"), text);
    }

    private Workload read(String text) throws IOException {
        return Workloads.load(file(text).toString(), scene);
    }

    /** The block of YAML on the page. */
    private static String example() throws IOException {
        String page = Files.readString(PAGE);
        String fence = "```yaml\n";
        int begin = page.indexOf(fence) + fence.length();
        return page.substring(begin, page.indexOf("```", begin));
    }

    @Test
    void theExampleOfThePageIsReadAsTheListsWouldBe() throws IOException {
        Workload read = read(example());
        Files.writeString(
                folder.resolve("queues.csv"), "queue,nominalQuota,cohort\nteam-a,8,research\nteam-b,8,research\n");
        Files.writeString(folder.resolve("jobs.csv"), """
                job,submitSeconds,gpus,runSeconds,queue,kindRatios,topology
                train-1,0,8,7200,team-a,T4:0.3;A100:1,rack:preferred
                """);
        Files.writeString(folder.resolve("services.csv"), """
                service,series,secondsPerRequest,replicaCapacityPerSecond,sloMs,warmUpSeconds,scale
                chat,chat-rates.csv,0.8,1.25,4000,20,0.5
                """);
        Workload lists = Workloads.load("%1$s/queues.csv,%1$s/jobs.csv,%1$s/services.csv".formatted(folder), scene);

        assertThat(read.name()).isEqualTo("week");
        assertThat(read.queues()).isEqualTo(lists.queues());
        assertThat(read.loads()).isEqualTo(lists.loads());
        assertThat(read.tasks())
                .extracting(TrainingTask::job)
                .isEqualTo(lists.tasks().stream().map(TrainingTask::job).toList());
        assertThat(Workloads.cluster(folder.resolve("week.yaml").toString()))
                .contains(new WorkloadCluster(
                        Optional.of(4),
                        Optional.of(4),
                        Optional.empty(),
                        Map.of(SimulatedGpu.A100, 2, SimulatedGpu.T4, 2),
                        new SimulatedTopology(0, 2),
                        WorkloadGroups.NONE,
                        Optional.empty()));
    }

    @Test
    void listsAndPairsAreThoseOfColumns() throws IOException {
        TrainingTask task = read("""
                        jobs:
                          - job: a
                            submitSeconds: 5
                            gpus: 4
                            runSeconds: 60
                            sizes: [4, 8]
                            kinds: [T4, A100]
                            topology: {rack: required}
                            outcome: failed
                        """).tasks().get(0);

        assertThat(task.job().shape().sizes()).containsExactly(4, 8);
        assertThat(task.job().shape().required().orElseThrow().level()).isEqualTo(TopologyLevel.RACK);
        assertThat(task.job().kindNeeds().allowedKinds())
                .containsExactly(SimulatedGpu.T4.kind(), SimulatedGpu.A100.kind());
    }

    @Test
    void aFileWithoutSectionsOfTenantsIsAnEmptyWorkload() throws IOException {
        Workload read = read("cluster: {nodes: 3}\njobs:\n");

        assertThat(read.tasks()).isEmpty();
        assertThat(Workloads.cluster(folder.resolve("week.yaml").toString())
                        .orElseThrow()
                        .nodes())
                .contains(3);
        assertThat(Workloads.cluster("teams")).isEmpty();
    }

    @Test
    void theSectionOfNodesHasTheirCpusAndHostMemory() throws IOException {
        file("cluster: {nodes: 3, nodesPerRack: 3, cpusPerNode: 64, hostGibPerNode: 512}\n");

        assertThat(Workloads.cluster(folder.resolve("week.yaml").toString())
                        .orElseThrow()
                        .topology())
                .isEqualTo(new SimulatedTopology(0, 3).with(SimulatedHost.of(64, 512L << 30)));
    }

    /** The second block of YAML on the page. */
    @Test
    void theExampleOfNodeGroupsIsReadWithTrainingFirst() throws IOException {
        String page = Files.readString(PAGE);
        String rest = page.substring(page.indexOf("## Different nodes"));
        String fence = "```yaml\n";
        int begin = rest.indexOf(fence) + fence.length();
        file(rest.substring(begin, rest.indexOf("```", begin)));

        WorkloadCluster cluster =
                Workloads.cluster(folder.resolve("week.yaml").toString()).orElseThrow();

        assertThat(cluster.lend()).contains("group:rack");
        assertThat(cluster.nodes()).contains(7);
        assertThat(cluster.trainingNodes()).contains(2);
        assertThat(cluster.groups().groups())
                .containsExactly(
                        new SimulatedGroup(
                                2,
                                Map.of(SimulatedGpu.A100, 4, SimulatedGpu.T4, 2),
                                Map.of(SimulatedTopology.RACK, "r1", "example.com/zone", "east"),
                                SimulatedHost.of(96, 512L << 30)),
                        new SimulatedGroup(
                                3,
                                Map.of(SimulatedGpu.L4, 8),
                                Map.of(SimulatedTopology.RACK, "r2"),
                                SimulatedHost.NONE),
                        new SimulatedGroup(
                                2,
                                Map.of(SimulatedGpu.T4, 4),
                                Map.of(SimulatedTopology.RACK, "r3"),
                                SimulatedHost.NONE));
    }

    @Test
    void theExampleOfInstancesIsReadWithTheirPlaces() throws IOException {
        String page = Files.readString(PAGE);
        String rest = page.substring(page.indexOf("## MIG instances"));
        String fence = "```yaml\n";
        int begin = rest.indexOf(fence) + fence.length();
        Workload workload = read(rest.substring(begin, rest.indexOf("```", begin)));

        WorkloadCluster cluster =
                Workloads.cluster(folder.resolve("week.yaml").toString()).orElseThrow();

        assertThat(cluster.lend()).contains("slice");
        assertThat(cluster.groups().haveInstances()).isTrue();
        assertThat(cluster.groups().inWords())
                .isEqualTo("2 nodes with 4 A100; 2 nodes with 4 A100 of 3g.40gb@4 2g.20gb@0 1g.10gb@2 1g.10gb@3, 2 T4");
        assertThat(workload.tasks())
                .extracting(task -> task.job().sliceMemoryBytes())
                .containsExactlyInAnyOrder(Optional.of(16L << 30), Optional.empty());
    }

    /** In the texts a bar stands for a new line. */
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '"',
            value = {
                "jobs:|- job: a|  submitSeconds: 0|  gpus: no|  runSeconds: 60; line 4, field gpus: found 'no', expected a whole number of at least 1",
                "jobs:|- job: a|  gpus: 1|  runSeconds: 60; line 2: no field 'submitSeconds' in an item of section jobs",
                "jobs:|- job: a|  gpu: 1; line 3: unknown field 'gpu' in section jobs, expected job, submitSeconds, gpus, runSeconds, application",
                "job:|- job: a; line 1: unknown section 'job', expected cluster, queues, jobs, services",
                "queues:|- queue: a|  nominalQuota: 1|  weight: 0; line 4, field weight: found '0', expected a number above 0",
                "queues:|- queue: a|  queue: b; line 3 is not YAML: Duplicate",
                "queues: 3; line 1: section queues has no list of items, expected '- queue: ...' for each",
                "queues:|- a; line 2: an item of section queues has no fields, expected queue, nominalQuota",
                "queues:|- queue: a|  nominalQuota: [[1]]; line 3: field nominalQuota is nested too deep",
                "queues:|- queue: &q a|  nominalQuota: *q; line 3: field nominalQuota is the alias '*q'",
                "cluster:|  kinds: {T5: 1}; line 2, field kinds: found 'T5:1', expected pairs such as {A100: 2, T4: 4}",
                "cluster:|  nodes: 3|  kinds: {T4: 2}; line 2, field nodes: found '3', expected 2, the sum of kinds",
                "cluster:|  nodes: 3|  cpusPerNode: 1.5; line 3, field cpusPerNode: found '1.5', expected a whole number of at least 0",
                "cluster:|  hostGibPerNode: 2000000; line 2, field hostGibPerNode: found '2000000', expected a whole number of at most 1000000",
                "cluster:|  nodes: 3|  trainingNodes: 4; line 3, field trainingNodes: found '4', expected a whole number from 1 to 3, the number of nodes",
                "cluster:|  lend: racks; line 2, field lend: found 'racks', expected slice (also a MIG instance), gpu, node, group (all nodes of inference together), or group:LABEL",
                "cluster:|  nodeGroups: 3; line 2: section nodeGroups has no list of items, expected '- nodes: ...' for each",
                "cluster:|  nodeGroups:|  - nodes: 2; line 3: no field 'gpus' in an item of section nodeGroups",
                "cluster:|  nodeGroups:|  - {nodes: 0, gpus: {T4: 1}}; line 3, field nodes: found '0', expected a whole number of at least 1",
                "cluster:|  nodeGroups:|  - {nodes: 100001, gpus: {T4: 1}}; found '100001', expected a whole number from 1 to 100000",
                "cluster:|  nodeGroups:|  - {nodes: 60000, gpus: {T4: 1}}|  - {nodes: 60000, gpus: {T4: 1}}; line 4, field nodes: found '60000', expected at most 100000 nodes in all groups",
                "cluster:|  nodeGroups:|  - nodes: 2|    gpus: {T5: 1}; line 4, field gpus: found 'T5:1', expected pairs such as {A100: 4, T4: 2} with the GPUs of each node, from 1 to 64 in all; kinds are A100",
                "cluster:|  nodeGroups:|  - nodes: 2|    gpus: {T4: 60, A100: 5}; line 4, field gpus: found 'T4:60;A100:5', expected pairs such as {A100: 4, T4: 2} with the GPUs of each node, from 1 to 64 in all",
                "cluster:|  nodeGroups:|  - {nodes: 2, gpus: {T4: 1}, pool: both}; line 3, field pool: found 'both', expected training or inference",
                "cluster:|  nodeGroups:|  - {nodes: 2, gpus: {T4: 1}, pool: training}|  - {nodes: 2, gpus: {T4: 1}}; line 4, field pool: found '', expected a pool in each item of nodeGroups, or in none",
                "cluster:|  nodeGroups:|  - {nodes: 2, gpus: {T4: 1}, rack: a b}; line 3, field rack: found 'a b', expected a name of letters, digits",
                "cluster:|  nodeGroups:|  - {nodes: 2, gpus: {T4: 1}, labels: {zone: a/b}}; line 3, field labels: found 'zone:a/b', expected pairs such as {example.com/zone: east} in the syntax of Kubernetes",
                "cluster:|  nodeGroups:|  - {nodes: 2, gpus: {T4: 1}, rack: a, labels: {lendstream.io/rack: b}}; line 3, field rack: found 'a', expected nothing, because labels has lendstream.io/rack; leave one out",
                "cluster:|  nodeGroups:|  - {nodes: 2, gpus: {T4: 1}, gpusPerNode: 4}; line 3: unknown field 'gpusPerNode' in section nodeGroups, expected nodes, gpus, pool, rack",
                "cluster:|  nodeGroups:|  - nodes: 2|    gpus: {T4: 1}|    pool: inference|    mig: {T4: [1g.10gb]}; line 6, field mig: found 'T4:1g.10gb', expected pairs such as {A100: [3g.40gb, 2g.20gb]} with kinds that gpus has and that can be cut: A100, H100",
                "cluster:|  nodeGroups:|  - {nodes: 2, gpus: {A100: 1}, pool: inference, mig: {H100: [1g.10gb]}}; found 'H100:1g.10gb', expected pairs such as {A100: [3g.40gb, 2g.20gb]} with kinds that gpus has",
                "cluster:|  nodeGroups:|  - {nodes: 2, gpus: {A100: 1}, mig: {A100: [1g.10gb]}}; line 3, field mig: found 'A100:1g.10gb', expected no such field without pool: inference, because training's jobs run on whole GPUs only",
                "cluster:|  nodeGroups:|  - {nodes: 2, gpus: {A100: 1}, pool: training, mig: {A100: 1g.10gb}}; expected no such field without pool: inference",
                "cluster:|  nodeGroups:|  - {nodes: 2, gpus: {A100: 1}, pool: inference, mig: {A100: [3g.20gb]}}; found 'A100:3g.20gb', expected profiles of A100: 7g.80gb, 4g.40gb, 3g.40gb, 2g.20gb, 1g.20gb, 1g.10gb",
                "cluster:|  nodeGroups:|  - {nodes: 2, gpus: {A100: 1}, pool: inference, mig: {A100: [4g.40gb, 4g.40gb]}}; found 'A100:4g.40gb 4g.40gb', expected profiles that fit on one A100 together: at most 7 compute slices (the number before g) and 8 memory slices",
                "cluster:|  nodeGroups:|  - {nodes: 2, gpus: {A100: 1}, pool: inference, mig: {A100: []}}; found 'A100:', expected profiles of A100",
                "cluster:|  nodeGroups:|  - {nodes: 2, gpus: {A100: 1}, pool: inference, mig: 3g.40gb}; field mig: found '3g.40gb', expected NAME:VALUE between semicolons",
                "cluster:|  nodeGroups:|  - {nodes: 2, gpus: {A100: [1]}}; field gpus is nested too deep",
                "jobs:|- {job: a, submitSeconds: 0, gpus: 2, runSeconds: 60, sliceMemoryGib: 8}; line 2, field sliceMemoryGib: found '8', expected nothing, because the job cannot start on one GPU",
                "jobs:|- {job: a, submitSeconds: 0, gpus: 1, runSeconds: 60, sliceMemoryGib: 0}; field sliceMemoryGib: found '0', expected a number above 0",
                "jobs:|- {job: a, submitSeconds: 0, gpus: 1, runSeconds: 60, sliceMemoryGib: 1e6}; field sliceMemoryGib: found '1e6', expected at most 100000",
                "jobs:|- {job: a, submitSeconds: 0, gpus: 1, runSeconds: 60, memoryGib: 10, sliceMemoryGib: 8}; field sliceMemoryGib: found '8', expected at least memoryGib, 10, or no such field",
                "cluster:|  nodes: 2|  nodeGroups:|  - {nodes: 2, gpus: {T4: 1}}; line 2, field nodes: found '2', expected no such field beside nodeGroups, because its items have nodes",
                "cluster:|  kinds: {T4: 2}|  nodeGroups:|  - {nodes: 2, gpus: {T4: 1}}; line 2, field kinds: found 'T4:2', expected no such field beside nodeGroups, because its items have gpus",
                "cluster:|  trainingNodes: 2|  nodeGroups:|  - {nodes: 2, gpus: {T4: 1}, pool: training}; line 2, field trainingNodes: found '2', expected no such field beside nodeGroups, because its items have a pool",
                "cluster:|  nodesPerRack: 2|  nodeGroups:|  - {nodes: 2, gpus: {T4: 1}, rack: r1}; line 2, field nodesPerRack: found '2', expected no such field beside nodeGroups, because its items have a rack",
                "cluster:|  trainingNodes: 3|  nodeGroups:|  - {nodes: 2, gpus: {T4: 1}}; line 2, field trainingNodes: found '3', expected a whole number from 1 to 2, the number of nodes",
                "queues:|- queue: a|  nominalQuota: 1|- queue: a|  nominalQuota: 2; line 4, field queue: found 'a', expected one quota of each queue for the kinds that it does not name, but line 2 has one too",
                "queues:|- queue: a|  nominalQuota: 1|  withinClusterQueue: Any; week.yaml, line 4, field withinClusterQueue: found 'Any', expected Never or LowerPriority",
                "services:|- {service: a, series: no.csv, secondsPerRequest: 1, replicaCapacityPerSecond: 1, sloMs: 1, warmUpSeconds: 1, scale: 1}; line 2, field series: found 'no.csv', expected a file with epoch_s,value",
                "- a; line 1: found no section, expected cluster, queues, jobs, services",
                "jobs: [; is not YAML: ",
                "jobs: []|---|jobs: []; a second document, expected one"
            })
    void whatIsWrongIsNamedWithItsLineAndField(String text, String problem) {
        assertThatThrownBy(() -> read(text.replace("|", "\n") + "\n"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("week.yaml")
                .hasMessageContaining(problem);
    }

    @Test
    void onlyOneFileHasTheNodes() throws IOException {
        Path one = file("cluster: {nodes: 3}\n");
        Path other = Files.writeString(folder.resolve("other.yml"), "cluster: {nodes: 3}\n");

        assertThatThrownBy(() -> Workloads.cluster(one + "," + other))
                .hasMessage("%s has a section cluster, and a file before it has one; leave one out".formatted(other));
    }

    @Test
    void aKindMayHaveItsNameInLeases() throws IOException {
        Workload read = read(
                "queues:\n- {queue: a, nominalQuota: 1, kind: A100-SXM4-80GB}\n- {queue: a, nominalQuota: 2, kind: T4}\n");

        assertThat(read.queues().get(0).quotas())
                .extracting(quota -> quota.kind().orElseThrow())
                .isEqualTo(List.of(new KindId("A100-SXM4-80GB"), SimulatedGpu.T4.kind()));
    }
}
