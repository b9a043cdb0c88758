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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Small workloads on two nodes of two GPUs, one node of which is training's. */
class ReplayCommandTest {
    private static final String JOBS = "job,submitSeconds,gpus,runSeconds\n";

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private Path list = Path.of("");

    @BeforeEach
    void writeList() throws IOException {
        list = Files.writeString(directory.resolve("list.csv"), JOBS + "a,0,2,3600\nb,0,2,3600\nc,60,1,1800\n");
    }

    @Test
    void theBaselineOfAListWithoutInferenceHasTheSameGpus() throws IOException {
        JsonNode run = replay("--policy", "deepboot").get(0);

        assertThat(run.get("floorAvgJctSeconds").asDouble())
                .isEqualTo(run.get("avgJctSeconds").asDouble());
        String same = "Baseline: deepboot on the same 4 GPUs; no inference in this workload, so nothing can be lent.";
        assertThat(out.toString())
                .contains(same, "No share of the possible gain (–): there are no inference GPUs")
                .doesNotContain("no-lending baseline", "no-lending, lending off: ");
        assertThat(out.toString().lines().map(line -> line.replaceAll("   .*", "")))
                .contains("baseline: deepboot, lending on", "oracle: clairvoyant, lending on")
                .doesNotContain("deepboot, lending on");
        assertThat(run.get("gapClosed").isNull()).isTrue();
        assertThat(report()).contains(same);
    }

    @Test
    void theReportNamesItsFilesAndNodes() throws IOException {
        replay("--policy", "deepboot", "--references", "off", "--services", services("1", "0.4"));

        assertThat(report()).contains("services.csv", "training nodes", "GPU utilization until the last job arrives");
        assertThat(Files.readAllLines(directory.resolve("out").resolve("gpus.csv")))
                .startsWith("gpu,node,kind,pool")
                .hasSize(5)
                .filteredOn(line -> line.endsWith("A100-SXM4-80GB,inference"))
                .hasSize(2);
    }

    @Test
    void trainingNodesDoNotHalveTheBaselineOfAListEither() throws IOException {
        JsonNode run = replay("--policy", "deepboot", "--training-nodes", "1").get(0);

        assertThat(run.get("floorAvgJctSeconds").asDouble())
                .isLessThanOrEqualTo(run.get("avgJctSeconds").asDouble() * 1.05);
        assertThat(out.toString()).contains("same 4 GPUs");
    }

    @Test
    void trainingMayHaveAllNodesWhereThereIsNoInference() throws IOException {
        replay("--policy", "deepboot", "--training-nodes", "2");
        assertThat(out.toString()).contains("same 4 GPUs");

        assertThat(run("--training-nodes", "2", "--services", services("1", "0.4")))
                .isEqualTo(2);
        assertThat(err.toString()).contains("leave training and inference at least one node each of 2 (--nodes)");
        assertThat(run("--training-nodes", "3")).isEqualTo(2);
        assertThat(err.toString()).contains("--training-nodes is 3, but must be from 1 to 2.");
    }

    @Test
    void aPolicyThatIsNamedTwiceIsReplayedOnce() throws IOException {
        JsonNode runs = replay("--policy", "tiresias,deepboot,tiresias");

        assertThat(runs).extracting(run -> run.get("policy").asText()).containsExactly("tiresias", "deepboot");
    }

    @Test
    void severalSeedsGiveARunEachAndAnInterval() throws IOException {
        JsonNode runs = replay("--policy", "deepboot,tiresias", "--seeds", "3", "--services", services("1", "0.4"));

        assertThat(runs).hasSize(12);
        assertThat(runs)
                .extracting(
                        run -> run.get("seed").asInt() + " " + run.get("role").asText())
                .startsWith("1 baseline", "1 run", "1 run", "1 oracle", "2 baseline")
                .endsWith("3 oracle");
        assertThat(out.toString())
                .containsSubsequence(
                        "Seed 1, the first of 3 seeds:", "Mean over 3 seeds: 1 to 3", "95 % confidence interval");
        assertThat(report()).contains("Mean over 3 seeds: 1 to 3");
        List<String> seeds = Files.readAllLines(directory.resolve("out").resolve("seeds.csv"));
        assertThat(seeds).hasSize(13);
        assertThat(seeds.get(0))
                .isEqualTo(
                        "run,seed,avgJctSeconds,gain,shareOfPossibleGain,sloMissShare,gpuHoursLent,trainingJobs,completedJobs");
    }

    @Test
    void anAskedRunWithoutLendingStaysBesideTheBaselineOnAllGpus() throws IOException {
        JsonNode runs = replay("--policy", "deepboot,no-lending", "--training-nodes", "1", "--seeds", "2");

        assertThat(runs)
                .extracting(run ->
                        run.get("role").asText() + " " + run.get("policy").asText())
                .startsWith("baseline no-lending", "run deepboot", "run no-lending", "oracle clairvoyant")
                .hasSize(8);
        assertThat(runs.get(2).get("avgJctSeconds").asDouble())
                .as("on half the GPUs")
                .isGreaterThan(runs.get(0).get("avgJctSeconds").asDouble());
        assertThat(out.toString().lines().map(line -> line.replaceAll("   .*", "")))
                .contains("no-lending baseline: no-lending, lending off, all GPUs", "no-lending, lending off");
        assertThat(Files.readAllLines(directory.resolve("out").resolve("seeds.csv")))
                .hasSize(9)
                .filteredOn(line -> line.contains("no-lending, lending off, all GPUs"))
                .hasSize(2);
    }

    @Test
    void warningsOfSeveralSeedsNameTheirSeeds() throws IOException {
        replay("--policy", "deepboot", "--seeds", "2", "--services", services("60", "0.4"));

        assertThat(out.toString())
                .contains("ALARM: seed 1 and 1 more of 2: services need up to 24 GPUs, 2 inference GPUs exist");
    }

    @Test
    void aSeedGivesTheSameAloneAndAmongOthers() throws IOException {
        String services = services("1", "0.4");
        JsonNode among = replay("--policy", "deepboot", "--seeds", "2-4", "--references", "off", "--services", services)
                .get(1);
        JsonNode alone = replay("--policy", "deepboot", "--seed", "3", "--anchors", "off", "--services", services)
                .get(0);

        assertThat(among.get("seed")).isEqualTo(alone.get("seed"));
        for (String field : List.of("avgJctSeconds", "inferenceRequests", "gpuHoursLent", "loans", "sloMisses")) {
            assertThat(among.get(field)).as(field).isEqualTo(alone.get(field));
        }
    }

    @Test
    void seedsThatDrawNothingAreSaidToGiveTheSameInput() throws IOException {
        replay("--policy", "deepboot", "--seeds", "2");

        assertThat(out.toString()).contains("All seeds give the same input").doesNotContain("±");
    }

    /** With seed 8 a node is lost after 36 minutes for longer than a replay lasts; with 4 and 5 after hours. */
    @Test
    void aSeedWhoseJobNeverEndsIsNamedAndTheOthersAreWritten() throws IOException {
        Files.writeString(list, JOBS + "all,0,4,3600\n");

        int code = run("--seeds", "4,5,8", "--references", "off", "--node-mtbf", "4h", "--node-repair", "4800h");

        assertThat(code).isEqualTo(1);
        assertThat(err.toString().lines())
                .singleElement()
                .satisfies(line -> assertThat(line)
                        .startsWith("seed 8 failed: the replay of ")
                        .contains("is not over 120 days after its last arrival", "more nodes, or none lost, may help"));
        assertThat(out.toString()).contains("seed 8 failed");
        JsonNode runs = new ObjectMapper()
                .readTree(directory.resolve("out").resolve("summary.json").toFile());
        assertThat(runs)
                .extracting(run -> run.get("seed").asInt() + " " + run.get("completedJobs"))
                .containsExactly("4 1", "5 1");
        assertThat(Files.readAllLines(directory.resolve("out").resolve("seeds.csv")))
                .hasSize(3);
    }

    @Test
    void whatFailsWithAllSeedsIsBadUsageAsWithOne() {
        assertThat(run("--policy", "deepboot", "--seeds", "2", "--list-jobs", "soft"))
                .isEqualTo(2);
        assertThat(err.toString().lines()).hasSize(1);
    }

    @Test
    void seedAndSeedsExcludeEachOther() {
        assertThat(run("--policy", "deepboot", "--seed", "1", "--seeds", "2")).isEqualTo(2);
        assertThat(err.toString().lines())
                .containsExactly("--seed and --seeds exclude each other; leave one of them out.");
    }

    @Test
    void overloadIsAnAlarmOnTheTerminalInTheReportAndInTheSummary() throws IOException {
        JsonNode run = replay("--policy", "deepboot", "--services", services("60", "0.4"))
                .get(0);

        assertThat(out.toString())
                .contains(
                        "ALARM: services need up to 24 GPUs, 2 inference GPUs exist",
                        "Is a scale per minute taken as per second?")
                .contains("of the requests within their SLO, below 99 %");
        assertThat(report())
                .contains("<p class=\"warned alarm\"><b>ALARM</b> services need up to 24 GPUs, 2 inference GPUs exist");
        assertThat(run.get("warnings"))
                .extracting(warning -> warning.get("code").asText())
                .contains("demand-beyond-gpus", "slo-alarm");
    }

    @Test
    void aClusterThatIsNeverFullIsCalledOut() throws IOException {
        Files.writeString(list, JOBS + "a,0,1,36000\nb,72000,1,18000\n");

        JsonNode run = replay("--policy", "tiresias").get(0);

        assertThat(out.toString())
                .contains("WARNING: training never waits: all policies give the same result")
                .contains("No share of the possible gain (–)");
        assertThat(run.at("/warnings/0/code").asText()).isEqualTo("cluster-never-full");
    }

    @Test
    void theVerdictIsPrinted() throws IOException {
        replay("--policy", "deepboot", "--check", "--services", services("1", "0.4"));

        assertThat(out.toString())
                .containsPattern("deepboot, lending on: checked .* releases\\): every promise was kept");
    }

    @Test
    void anExperimentalPolicyIsCalledSo() throws IOException {
        replay("--policy", "lendstream", "--references", "off");

        assertThat(out.toString()).startsWith("WARNING: policy lendstream is experimental");
        assertThat(report()).contains("<p class=\"warned warning\"><b>WARNING</b> policy lendstream is experimental");
    }

    @Test
    void titlesHaveTheNameOfTheFileOnly() throws IOException {
        replay("--policy", "deepboot", "--references", "off");

        assertThat(report())
                .contains("<title>Lendstream replay: list.csv</title>")
                .doesNotContain(directory.toString());
    }

    /** A service with these requests per second and replicas of one request per second. */
    private String services(String scale, String rate) throws IOException {
        Files.writeString(
                directory.resolve("rates.csv"), "epoch_s,value\n0,0\n1800,%s\n3600,%s\n5400,0\n".formatted(rate, rate));
        return Files.writeString(
                        directory.resolve("services.csv"),
                        "service,series,secondsPerRequest,replicaCapacityPerSecond,sloMs,warmUpSeconds,scale\n"
                                + "chat,rates.csv,0.1,1,5000,5,%s\n".formatted(scale))
                .toString();
    }

    private String report() throws IOException {
        return Files.readString(directory.resolve("out").resolve("report.html"));
    }

    @Test
    void aJobUsesOneOfTheKindsAtATime() throws IOException {
        replay(
                "--policy",
                "deepboot,tiresias",
                "--kinds",
                "A100:1,T4:1",
                "--services",
                services("1", "0.4"),
                "--check");

        assertThat(out.toString()).contains("every promise was kept");
        assertThat(report()).contains("A100:1,T4:1");
        assertThat(out.toString())
                .contains("oracle without choice of kinds: clairvoyant, lending on")
                .contains("The oracle does not choose the kind of GPU of a job");
    }

    @Test
    void kindsThatCannotBeReadAreNamed() {
        assertThat(run("--kinds", "A100:1,T5:1")).isEqualTo(2);
        assertThat(err.toString()).contains("--kinds is 'A100:1,T5:1', but must be KIND:NODES between commas");
        assertThat(run("--kinds", "A100:3")).isEqualTo(2);
        assertThat(err.toString()).contains("--kinds has 3 nodes, but --nodes is 2; leave --nodes out.");
    }

    @Test
    void thePresetHeteroHasKindsOfItsOwn() throws IOException {
        String[] arguments = {
            "replay",
            "--workload",
            "hetero",
            "--nodes",
            "4",
            "--gpus-per-node",
            "1",
            "--plots",
            "off",
            "--references",
            "off",
            "--policy",
            "deepboot,deepboot:kinds=blind",
            "--out",
            directory.resolve("out").toString()
        };

        assertThat(LendstreamMain.run(arguments, new PrintWriter(out), new PrintWriter(err)))
                .as(err.toString())
                .isZero();
        assertThat(report()).contains("A100:1,RTX6000:1,T4:2");
        arguments[4] = "2";
        assertThat(LendstreamMain.run(arguments, new PrintWriter(out), new PrintWriter(err)))
                .isEqualTo(2);
        assertThat(err.toString()).contains("--nodes: preset hetero needs at least 3 nodes");
    }

    @Test
    void thePresetTeamsHasRacksAndNvlinkDomainsOfItsOwn() throws IOException {
        String[] arguments = {
            "replay",
            "--workload",
            "teams",
            "--nodes",
            "4",
            "--gpus-per-node",
            "4",
            "--nodes-per-rack",
            "3",
            "--plots",
            "off",
            "--references",
            "off",
            "--policy",
            "tiresias",
            "--out",
            directory.resolve("out").toString()
        };

        assertThat(LendstreamMain.run(arguments, new PrintWriter(out), new PrintWriter(err)))
                .as(err.toString())
                .isZero();
        assertThat(report())
                .containsPattern("nodes per NVLink domain\\W+(<[^>]*>\\s*)*2\\b")
                .containsPattern("nodes per rack\\W+(<[^>]*>\\s*)*3\\b");
        arguments[6] = "2";
        assertThat(LendstreamMain.run(arguments, new PrintWriter(out), new PrintWriter(err)))
                .isEqualTo(2);
        assertThat(err.toString()).contains("GPUs in one node (topology)");
    }

    @Test
    void aWorkloadInYamlHasTheHostsOfItsNodesUnlessTheCommandLineHasOthers() throws IOException {
        Path workload = Files.writeString(
                directory.resolve("hosts.yaml"),
                "cluster: {nodes: 2, gpusPerNode: 2, cpusPerNode: 48, hostGibPerNode: 256}\njobs:\n- {job: a, submitSeconds: 0, gpus: 2, runSeconds: 600}\n");
        String[] arguments = {
            "replay",
            "--workload",
            workload.toString(),
            "--plots",
            "off",
            "--references",
            "off",
            "--suspend",
            "--out",
            directory.resolve("out").toString(),
            "--check"
        };

        assertThat(LendstreamMain.run(arguments, new PrintWriter(out), new PrintWriter(err)))
                .as(err.toString())
                .isZero();
        assertThat(report()).contains("CPUs per node").contains("48").contains("host GiB per node");

        arguments[arguments.length - 1] = "--host-gib-per-node=0";
        assertThat(LendstreamMain.run(arguments, new PrintWriter(out), new PrintWriter(err)))
                .isEqualTo(2);
        assertThat(err.toString()).contains("--suspend needs --host-gib-per-node");
    }

    @Test
    void aWorkloadInYamlHasItsOwnNodesUnlessTheCommandLineHasOthers() throws IOException {
        Path workload = Files.writeString(
                directory.resolve("mixed.yaml"),
                "cluster: {kinds: {A100: 1, T4: 2}, gpusPerNode: 2}\njobs:\n- {job: a, submitSeconds: 0, gpus: 2, runSeconds: 600}\n");
        String[] arguments = {
            "replay",
            "--workload",
            workload.toString(),
            "--plots",
            "off",
            "--references",
            "off",
            "--out",
            directory.resolve("out").toString(),
            "--check"
        };

        assertThat(LendstreamMain.run(arguments, new PrintWriter(out), new PrintWriter(err)))
                .as(err.toString())
                .isZero();
        assertThat(report()).contains("A100:1,T4:2");

        Path other = directory.resolve("other");
        arguments[arguments.length - 2] = other.toString();
        arguments[arguments.length - 1] = "--kinds=T4:3";
        assertThat(LendstreamMain.run(arguments, new PrintWriter(out), new PrintWriter(err)))
                .as(err.toString())
                .isZero();
        assertThat(Files.readString(other.resolve("report.html"))).doesNotContain("A100:1,T4:2");

        arguments[arguments.length - 1] = "--nodes=4";
        assertThat(LendstreamMain.run(arguments, new PrintWriter(out), new PrintWriter(err)))
                .isEqualTo(2);
        assertThat(err.toString())
                .contains("kinds in the section cluster has 3 nodes, but --nodes is 4; leave --nodes out.");
    }

    @Test
    void trainingNodesOfAWorkloadInYamlAreNamedByTheirField() throws IOException {
        list = Files.writeString(
                directory.resolve("few.yaml"),
                "cluster: {trainingNodes: 4}\njobs:\n- {job: a, submitSeconds: 0, gpus: 2, runSeconds: 600}\n");

        assertThat(run()).isEqualTo(2);
        assertThat(err.toString()).contains("trainingNodes in the section cluster is 4, but must be from 1 to 2.");
    }

    @Test
    void aQueueThatIsNotDeclaredStopsAllSeeds() throws IOException {
        list = Files.writeString(
                directory.resolve("queues.yaml"),
                "queues:\n- {queue: team-a, nominalQuota: 2}\njobs:\n- {job: a, submitSeconds: 0, gpus: 2, runSeconds: 600, queue: team-b}\n");

        assertThat(run("--seeds", "2")).isEqualTo(2);
        assertThat(err.toString()).startsWith("job a is in queue team-b, but declared queues are team-a;");
    }

    @Test
    void aReplayThatDoesNotEndHasNoNameOfAClassInItsError() throws IOException {
        Files.writeString(list, JOBS + "all,0,4,3600\n");

        assertThat(run("--seed", "8", "--references", "off", "--node-mtbf", "4h", "--node-repair", "4800h"))
                .isEqualTo(1);
        assertThat(err.toString()).startsWith("the replay of ").doesNotContain("Exception");
    }

    @Test
    void aJobThatMayUseNoKindIsNamed() throws IOException {
        list = Files.writeString(
                directory.resolve("picky.csv"), "job,submitSeconds,gpus,runSeconds,kinds\na,0,1,60,H100\n");

        assertThat(run("--kinds", "A100:1,T4:1")).isEqualTo(2);
        assertThat(err.toString())
                .contains(
                        "picky.csv, line 2, column kinds: found 'H100', expected only kinds of GPU that nodes have (A100, T4), but no node has H100; correct the name, or add such nodes with --kinds");
    }

    @Test
    void kindsHaveAtLeastTwoNodes() {
        String[] arguments = {
            "replay",
            "--workload",
            list.toString(),
            "--kinds",
            "A100:1",
            "--out",
            directory.resolve("out").toString()
        };

        assertThat(LendstreamMain.run(arguments, new PrintWriter(out), new PrintWriter(err)))
                .isEqualTo(2);
        assertThat(err.toString()).contains("the sum of nodes in --kinds is 1, but must be from 2 to 100000");
    }

    @Test
    void aJobThatNoKindHasEnoughGpusForIsNamed() throws IOException {
        list = Files.writeString(directory.resolve("wide.csv"), JOBS + "wide,0,4,3600\n");

        assertThat(run("--kinds", "A100:1,T4:1")).isEqualTo(2);
        assertThat(err.toString()).contains("job wide needs 4 GPUs of one kind, but training has 2 at most");
    }

    private JsonNode replay(String... options) throws IOException {
        assertThat(run(options)).as(err.toString()).isZero();
        return new ObjectMapper()
                .readTree(directory.resolve("out").resolve("summary.json").toFile());
    }

    private int run(String... options) {
        List<String> arguments = new ArrayList<>(List.of("replay", "--nodes", "2", "--gpus-per-node", "2"));
        arguments.addAll(List.of("--plots", "off", "--workload", list.toString()));
        arguments.addAll(List.of("--out", directory.resolve("out").toString()));
        arguments.addAll(List.of(options));
        return LendstreamMain.run(arguments.toArray(String[]::new), new PrintWriter(out), new PrintWriter(err));
    }
}
