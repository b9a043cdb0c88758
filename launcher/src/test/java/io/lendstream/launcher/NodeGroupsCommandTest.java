package io.lendstream.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Replays of workloads in YAML whose nodes are not alike, and what is lent of them. */
class NodeGroupsCommandTest {
    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();

    private void workload(String yaml) throws IOException {
        Files.writeString(directory.resolve("groups.yaml"), yaml);
    }

    private int run(StringWriter err, String... options) {
        List<String> arguments = new ArrayList<>(List.of("replay", "--plots", "off"));
        arguments.addAll(List.of("--workload", directory.resolve("groups.yaml").toString()));
        arguments.addAll(List.of("--out", directory.resolve("out").toString()));
        arguments.addAll(List.of(options));
        return LendstreamMain.run(arguments.toArray(String[]::new), new PrintWriter(out), new PrintWriter(err));
    }

    private void replay(String... options) {
        StringWriter err = new StringWriter();
        assertThat(run(err, options)).as(err.toString()).isZero();
    }

    /** The error of a replay. */
    private String refused(String... options) {
        StringWriter err = new StringWriter();
        assertThat(run(err, options)).isEqualTo(2);
        return err.toString();
    }

    private String report() throws IOException {
        return Files.readString(directory.resolve("out").resolve("report.html"));
    }

    @Test
    void nodesThatDifferAreLentByRack() throws IOException {
        Files.writeString(directory.resolve("rates.csv"), "epoch_s,value\n0,0\n300,0\n600,5\n900,5\n");
        workload("""
                cluster:
                  lend: group:rack
                  nodeGroups:
                  - {nodes: 1, gpus: {A100: 2, T4: 1}, pool: training}
                  - {nodes: 2, gpus: {A100: 2}, pool: inference, rack: r1}
                jobs:
                - {job: a, submitSeconds: 0, gpus: 2, runSeconds: 2400, elastic: true}
                services:
                - {service: chat, series: rates.csv, secondsPerRequest: 0.1, replicaCapacityPerSecond: 10, sloMs: 500, warmUpSeconds: 8, scale: 1}
                """);

        replay("--references", "off", "--check", "--seed", "1");

        assertThat(out.toString()).contains("every promise was kept");
        assertThat(report())
                .contains("1 node with 2 A100, 1 T4; 2 nodes with 2 A100 (lendstream.io/rack: r1)")
                .containsPattern("GPUs per node\\W+(<[^>]*>\\s*)*2, 3\\b")
                .contains("<th>training nodes</th><td>1</td>", "<th>lend</th><td>group:rack</td>");
        assertThat(refused("--nodes", "3"))
                .contains("--nodes must be left out, because nodeGroups in the section cluster describe the nodes");
        assertThat(refused("--training-nodes", "1")).contains("--training-nodes must be left out");
        assertThat(refused("--nodes-per-rack", "1"))
                .contains(
                        "--nodes-per-rack must be left out, because nodeGroups in the section cluster have lendstream.io/rack");
        assertThat(refused("--lend", "group:nvlink-domain"))
                .contains(
                        "--lend is 'group:nvlink-domain', but no node has the label lendstream.io/nvlink-domain; give it with --nodes-per-nvlink-domain, or nvlinkDomain in nodeGroups");
        assertThat(refused("--lend", "group:zone"))
                .contains("no node has the label zone; give it with labels in nodeGroups of the section cluster.");
        assertThat(refused("--lend", "rack"))
                .contains("--lend is 'rack', but must be slice (also a MIG instance), gpu, node, group");
    }

    @Test
    void smallJobsBorrowMigInstances() throws IOException {
        workload("""
                cluster:
                  nodeGroups:
                  - {nodes: 1, gpus: {A100: 1}, pool: training}
                  - {nodes: 1, gpus: {A100: 1}, pool: inference, mig: {A100: [3g.40gb, 3g.40gb]}}
                jobs:
                - {job: a, submitSeconds: 0, gpus: 1, runSeconds: 2400}
                - {job: b, submitSeconds: 10, gpus: 1, runSeconds: 300, sliceMemoryGib: 30}
                """);

        double slice = gpuHoursLent("--references", "on");
        assertThat(out.toString()).contains("every promise was kept", "no-lending, lending off");
        assertThat(report())
                .contains("1 node with 1 A100; 1 node with 1 A100 of 3g.40gb@0 3g.40gb@4")
                .doesNotContain("<th>lend</th>");
        assertThat(slice).as("3 of 7 compute slices for 700 s").isBetween(0.083, 0.09);

        assertThat(gpuHoursLent("--lend", "gpu")).isZero();
        assertThat(report()).contains("<th>lend</th><td>gpu</td>");
        assertThat(gpuHoursLent("--lend", "slice")).isEqualTo(slice);
    }

    private double gpuHoursLent(String option, String value) throws IOException {
        replay("--check", "--policy", "deepboot", option, value);
        JsonNode runs = new ObjectMapper()
                .readTree(directory.resolve("out").resolve("summary.json").toFile());
        for (JsonNode run : runs) {
            if (run.path("role").asText("run").equals("run")) {
                return run.get("gpuHoursLent").asDouble();
            }
        }
        throw new AssertionError("no run in " + runs);
    }

    @Test
    void otherKindsComeInPlaceOfGroups() throws IOException {
        workload("""
                cluster:
                  nodeGroups:
                  - {nodes: 3, gpus: {T4: 1}, pool: training, rack: r1}
                  - {nodes: 1, gpus: {T4: 1}, pool: inference, rack: r1}
                jobs:
                - {job: a, submitSeconds: 0, gpus: 8, runSeconds: 600}
                """);

        replay("--references", "off", "--kinds", "A100:2");

        assertThat(report())
                .contains("<th>kinds</th><td>A100:2</td>", "<th>training nodes</th><td>2</td>")
                .doesNotContain("groups of nodes");
        assertThat(refused("--references", "off", "--seed", "1"))
                .contains("job a needs 8 GPUs, but training has 4 at most with lending on");
    }
}
