package io.lendstream.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class LendstreamMainTest {

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void withoutACommandItShowsThoseThereAre() {
        int code = run();

        assertThat(code).isEqualTo(2);
        assertThat(err.toString()).contains("Usage: lendstream", "demo", "No command given");
    }

    @Test
    void everyCommandsHelpHasUsageAndAnExample() {
        assertThat(commands(LendstreamMain.commandLine())).isNotEmpty().allSatisfy(command -> {
            String help = command.getUsageMessage(CommandLine.Help.Ansi.OFF);
            assertThat(help).contains("Usage: " + command.getCommandSpec().qualifiedName());
            assertThat(help).contains("Example: " + command.getCommandSpec().qualifiedName());
            assertThat(help).doesNotContain("Optional.empty", "Default: []").doesNotContainPattern("Default:\\s*\n");
            assertThat(help.lines()).as("what can be copied is whole").noneMatch(line -> line.matches(".*https?:/?/?"));
            assertThat(command.getCommandSpec().usageMessage().footer()).allMatch(line -> line.length() < 80);
        });
    }

    @CommandLine.Command(name = "large")
    private static final class Large implements Runnable {
        @Override
        public void run() {
            throw new OutOfMemoryError("Java heap space");
        }
    }

    @Test
    void aHeapThatIsTooSmallIsNamedWithTheWayToGiveMore() {
        int code = LendstreamMain.execute(new CommandLine(new Large()).setErr(new PrintWriter(err, true)));

        assertThat(code).isEqualTo(1);
        assertThat(err.toString().lines())
                .containsExactly(
                        "This needs more memory than its heap of %d MB. Set LENDSTREAM_JAVA_OPTS=-Xmx4g, or run less at a time."
                                .formatted(Runtime.getRuntime().maxMemory() >> 20));
    }

    @Test
    void anUnknownCommandIsBadUsageInOneLine() {
        int code = run("tops");

        assertThat(code).isEqualTo(2);
        assertThat(err.toString().lines())
                .containsExactly(
                        "there is no command 'tops'; did you mean top or topics? 'lendstream --help' lists the commands.");
    }

    @Test
    void anUnknownCommandIsBadUsageWithHelpToo() {
        int code = run("--verbose", "dmeo", "--help");

        assertThat(code).isEqualTo(2);
        assertThat(out.toString()).isEmpty();
        assertThat(err.toString().lines())
                .containsExactly(
                        "there is no command 'dmeo'; did you mean demo? 'lendstream --help' lists the commands.");
    }

    @Test
    void anUnknownCommandOfAGroupNamesTheCommandsOfTheGroup() {
        assertThat(run("topics", "creat", "--help")).isEqualTo(2);
        assertThat(run("topics", "frob")).isEqualTo(2);

        assertThat(err.toString().lines())
                .containsExactly(
                        "there is no command 'creat'; did you mean create? 'lendstream topics --help' lists the commands.",
                        "there is no command 'frob'; 'lendstream topics --help' lists the commands.");
    }

    @Test
    void helpBeginsWithWhatTheCommandDoes() {
        assertThat(commands(LendstreamMain.commandLine())).allSatisfy(command -> {
            String help = command.getUsageMessage(CommandLine.Help.Ansi.OFF);
            String[] description = command.getCommandSpec().usageMessage().description();

            assertThat(description).as(command.getCommandName()).isNotEmpty();
            assertThat(help).startsWith(description[0].substring(0, Math.min(20, description[0].length())));
        });
    }

    @Test
    void everyCommandIsListedInItsGroup() {
        String help = LendstreamMain.commandLine().getUsageMessage(CommandLine.Help.Ansi.OFF);

        assertThat(help.lines().map(String::strip))
                .containsSubsequence("Start here:", "Operate:", "Replay and plan:", "Setup:")
                .doesNotContain("Commands:");
    }

    @Test
    void listsAreTextForPeopleAndJsonForTools() throws IOException {
        assertThat(run("policies")).isZero();
        assertThat(out.toString().lines()).anyMatch(line -> line.matches("lendstream +experimental: .*"));
        assertThat(err.toString()).isEmpty();
        out.getBuffer().setLength(0);

        assertThat(run("policies", "--json")).isZero();

        JsonNode policies = new ObjectMapper().readTree(out.toString());
        assertThat(policies).anySatisfy(policy -> {
            assertThat(policy.get("name").asText()).isEqualTo("lendstream");
            assertThat(policy.get("experimental").asBoolean()).isTrue();
            assertThat(policy.get("warning").asText()).contains("can starve services");
        });
        assertThat(err.toString()).isEmpty();
        for (String list : List.of("models", "presets")) {
            out.getBuffer().setLength(0);
            assertThat(run(list, "--json")).isZero();
            assertThat(new ObjectMapper().readTree(out.toString()))
                    .isNotEmpty()
                    .allSatisfy(
                            entry -> assertThat(entry.get("summary").asText()).isNotEmpty());
        }
    }

    @Test
    void anUnknownOptionIsBadUsageInOneLine() {
        int code = run("demo", "--colour");

        assertThat(code).isEqualTo(2);
        assertThat(err.toString().lines())
                .containsExactly("there is no option '--colour'; see lendstream demo --help.");
    }

    @Test
    void anUnknownOptionComesBeforeMissingOnesWithTheNearestNames() {
        assertThat(run("replay", "--frob")).isEqualTo(2);
        assertThat(run("replay", "--workloads", "day")).isEqualTo(2);
        assertThat(run("replay", "--nodse=4", "--out", "out")).isEqualTo(2);
        assertThat(run("replay", "--out", "out")).isEqualTo(2);
        assertThat(run("forecast", "--horizons", "15m")).isEqualTo(2);
        assertThat(run("plan", "--profile", "profiles")).isEqualTo(2);

        assertThat(err.toString().lines())
                .satisfiesExactly(
                        line -> assertThat(line)
                                .isEqualTo("there is no option '--frob'; see lendstream replay --help."),
                        line -> assertThat(line)
                                .isEqualTo(
                                        "there is no option '--workloads'; did you mean --workload? See lendstream replay --help."),
                        line -> assertThat(line).startsWith("there is no option '--nodse'; did you mean --nodes"),
                        line -> assertThat(line).contains("Missing required option", "--workload"),
                        line -> assertThat(line).startsWith("there is no option '--horizons'; did you mean --horizon"),
                        line -> assertThat(line).startsWith("there is no option '--profile'; did you mean --profiles"));
    }

    @Test
    void aValueOutOfBoundsIsNamedWithItsBoundAndWayOut() {
        int code = run("topics", "create", "--partitions", "0");

        assertThat(code).isEqualTo(2);
        assertThat(err.toString().lines()).containsExactly("--partitions is 0, but must be at least 1.");
    }

    @Test
    void whereAnErrorComesFromIsShownOnlyWhenAskedFor() {
        run("topics", "create", "--partitions", "0", "--verbose");

        assertThat(err.toString()).contains("at io.lendstream.launcher.");
    }

    @Test
    void namesThatNoRecordMayHaveAreErrorsBeforeAnyConnection() {
        assertThat(run("explain", "a b/1/17")).isEqualTo(2);
        assertThat(run("approve", "../1/17")).isEqualTo(2);
        assertThat(run("freeze", "--domain", "east\n")).isEqualTo(2);
        assertThat(run("reset", "GPU-1", "\u001b[2J")).isEqualTo(2);

        assertThat(err.toString().lines())
                .satisfiesExactly(
                        line -> assertThat(line)
                                .startsWith("the domain of ID may have printable ASCII")
                                .contains("U+0020"),
                        line -> assertThat(line).startsWith("the domain of ID '..' has a part that is '.' or '..'"),
                        line -> assertThat(line)
                                .startsWith("--domain may have")
                                .contains("character 5 of ", "is U+000A"),
                        line -> assertThat(line).startsWith("GPU may have").contains("character 1 of ", "is U+001B"));
    }

    @Test
    void trainingNodesThatLeaveNoneToInferenceAreAnError() {
        int code = run("demo", "--nodes", "2", "--training-nodes", "9");

        assertThat(code).isEqualTo(2);
        assertThat(err.toString())
                .startsWith("--training-nodes is 9, but must leave training and inference at least one node each of 2");
    }

    @Test
    void whereResultsCannotGoIsToldBeforeAReplayBegins(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("notes.txt"), "mine");

        int code = run("replay", "--workload", "day", "--out", file.toString());

        assertThat(code).isEqualTo(2);
        assertThat(out.toString()).isEmpty();
        assertThat(err.toString().lines())
                .containsExactly("--out is %s, but is a file; name another directory.".formatted(file));
    }

    @Test
    void namesThatAReplayTakesAreNamedWhereItGetsAnother(@TempDir Path directory) {
        assertThat(run("replay", "--workload", "day", "--out", directory.toString(), "--policy", "deepboot,foo"))
                .isEqualTo(2);
        assertThat(run("replay", "--workload", "day", "--out", directory.toString(), "--lending", "maybe"))
                .isEqualTo(2);
        assertThat(run("replay", "--workload", "day", "--out", directory.toString(), "--lend", "rack"))
                .isEqualTo(2);
        assertThat(run("replay", "--workload", "day", "--out", directory.toString(), "--units", "kubelet"))
                .isEqualTo(2);
        assertThat(run(
                        "replay",
                        "--published-timing",
                        "--workload",
                        "day",
                        "--out",
                        directory.toString(),
                        "--units",
                        "device-plugin"))
                .isEqualTo(2);
        assertThat(run(
                        "replay",
                        "--published-timing",
                        "--anchors",
                        "on",
                        "--workload",
                        "day",
                        "--out",
                        directory.toString()))
                .isEqualTo(2);

        assertThat(err.toString().lines())
                .satisfiesExactly(
                        line -> assertThat(line).contains("no policy 'foo'", "deepboot, lendstream", "no-lending"),
                        line -> assertThat(line).isEqualTo("--lending is 'maybe', but must be on, off or both."),
                        line -> assertThat(line)
                                .isEqualTo(
                                        "--lend is 'rack', but must be slice (also a MIG instance), gpu, node, group (all nodes of inference together), or group:LABEL, where LABEL is rack, nvlink-domain or a label of nodeGroups."),
                        line -> assertThat(line)
                                .isEqualTo("--units is 'kubelet', but must be driver or device-plugin."),
                        line -> assertThat(line)
                                .isEqualTo(
                                        "--units must be driver with --published-timing, whose simulators name each GPU."),
                        line -> assertThat(line)
                                .isEqualTo(
                                        "--references is 'on', but --published-timing has none; name the policies to compare in --policy."));
    }

    @Test
    void aReplayIsComparedWithTheBaselineAndTheOracleByDefault(@TempDir Path directory) throws IOException {
        JsonNode runs = replayList(directory, "--list-jobs", "elastic", "--services", aService(directory));

        assertThat(runs).as("the references are no runs that were asked for").hasSize(1);
        JsonNode run = runs.get(0);
        assertThat(run.get("policy").asText()).isEqualTo("lendstream");
        assertThat(run.get("floorAvgJctSeconds").asDouble())
                .isGreaterThan(run.get("avgJctSeconds").asDouble());
        assertThat(run.get("gapClosed").asDouble()).isPositive();
        assertThat(out.toString())
                .contains(
                        "no-lending baseline: no-lending, lending off",
                        "lendstream, lending on",
                        "oracle: clairvoyant, lending on");
    }

    @Test
    void aDevicePluginMayPickTheGpusOfAReplay(@TempDir Path directory) throws IOException {
        JsonNode run = replayList(directory, "--anchors", "off", "--units", "device-plugin", "--check")
                .get(0);

        assertThat(run.get("completedJobs").asInt())
                .isEqualTo(run.get("trainingJobs").asInt());
        assertThat(out.toString()).contains("every promise was kept");
        assertThat(Files.readString(directory.resolve("out/report.html"))).contains("device-plugin");
    }

    @Test
    void withoutReferencesAReplayPlaysNothingElse(@TempDir Path directory) throws IOException {
        JsonNode run = replayList(directory, "--anchors", "off").get(0);

        assertThat(run.get("floorAvgJctSeconds").isNull()).isTrue();
        assertThat(out.toString()).doesNotContain("no-lending", "clairvoyant");
    }

    @Test
    void jobsOfAListAreRigidUnlessAskedToBeElastic(@TempDir Path directory) throws IOException {
        double rigid = replayList(directory, "--anchors", "off")
                .get(0)
                .get("avgJctSeconds")
                .asDouble();
        double elastic = replayList(directory, "--anchors", "off", "--list-jobs", "elastic")
                .get(0)
                .get("avgJctSeconds")
                .asDouble();
        int code = run("replay", "--workload", "day", "--out", directory.toString(), "--list-jobs", "rubber");

        assertThat(rigid).isGreaterThan(3600);
        assertThat(elastic).isLessThan(3600);
        assertThat(code).isEqualTo(2);
        assertThat(err.toString().lines()).containsExactly("--list-jobs is 'rubber', but must be rigid or elastic.");
    }

    @Test
    void aJobThatIsTooLargeWithoutLendingCostsTheComparisonButNotTheReplay(@TempDir Path directory) throws IOException {
        JsonNode run = replay(directory, "a,0,3,3600", "--services", aService(directory))
                .get(0);

        assertThat(run.get("completedJobs").asInt()).isEqualTo(1);
        assertThat(run.get("floorAvgJctSeconds").isNull()).isTrue();
        assertThat(out.toString())
                .contains(
                        "there is no baseline to compare with: a job needs 3 GPUs, and training has 2 without lending");
    }

    /** A service that needs no GPU for an hour, and then one. */
    private static String aService(Path directory) throws IOException {
        Files.writeString(directory.resolve("rates.csv"), "epoch_s,value\n0,0\n3600,0.5\n7200,0.5\n");
        return Files.writeString(directory.resolve("services.csv"), """
                        service,series,secondsPerRequest,replicaCapacityPerSecond,sloMs,warmUpSeconds,scale
                        chat,rates.csv,0.1,1,5000,5,1
                        """).toString();
    }

    /** Two jobs of an hour on a GPU each, on two nodes of two GPUs of which one is training's. */
    private JsonNode replayList(Path directory, String... options) throws IOException {
        return replay(directory, "a,0,1,3600\nb,0,1,3600", options);
    }

    private JsonNode replay(Path directory, String jobs, String... options) throws IOException {
        Path list =
                Files.writeString(directory.resolve("list.csv"), "job,submitSeconds,gpus,runSeconds\n" + jobs + "\n");
        List<String> arguments = new ArrayList<>(List.of("replay", "--policy", "lendstream", "--nodes", "2"));
        arguments.addAll(List.of("--gpus-per-node", "2", "--workload", list.toString()));
        arguments.addAll(List.of("--out", directory.resolve("out").toString()));
        arguments.addAll(List.of(options));

        assertThat(run(arguments.toArray(String[]::new))).as(err.toString()).isZero();

        return new ObjectMapper()
                .readTree(directory.resolve("out").resolve("summary.json").toFile());
    }

    @Test
    void aRepairTimeThatIsNoDurationIsBadUsage(@TempDir Path directory) {
        String[] replay = {"replay", "--workload", "day", "--out", directory.toString(), "--node-mtbf", "200h"};

        assertThat(run(Stream.concat(Stream.of(replay), Stream.of("--node-repair", "30s"))
                        .toArray(String[]::new)))
                .isEqualTo(2);
        assertThat(run(Stream.concat(Stream.of(replay), Stream.of("--node-repair", "soon"))
                        .toArray(String[]::new)))
                .isEqualTo(2);

        assertThat(err.toString().lines())
                .satisfiesExactly(
                        line -> assertThat(line).contains("the repair longer than PT1M"),
                        line -> assertThat(line)
                                .isEqualTo(
                                        "--node-repair is 'soon', but must be a length of time such as 90m or 200h."));
    }

    @Test
    void aDataDirectoryWithFilesIsBadUsage(@TempDir Path directory) throws IOException {
        Files.writeString(directory.resolve("notes.txt"), "mine");

        int code = run("demo", "--headless", "--data-dir", directory.toString(), "--out", directory.toString());

        assertThat(code).isEqualTo(2);
        assertThat(err.toString()).startsWith("--data-dir is %s, but must be new or empty".formatted(directory));
    }

    @Test
    void aWorkloadThatIsCutOffIsAnErrorInOneLine(@TempDir Path directory) throws IOException {
        Path file = cutOff(directory);

        for (String command : List.of("replay", "demo")) {
            int code = run(
                    command,
                    "--workload",
                    file.toString(),
                    "--out",
                    directory.resolve("out").toString());

            assertThat(code).isEqualTo(2);
        }

        assertThat(err.toString().lines())
                .hasSize(2)
                .allSatisfy(line ->
                        assertThat(line).contains(file + " is cut off: the gzip stream ends early; copy it again"));
    }

    private static Path cutOff(Path directory) throws IOException {
        var packed = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(packed)) {
            gzip.write("name,time,application,num_replicas,batch_size,duration\n".getBytes(UTF_8));
            byte[] noise = new byte[20_000];
            new Random(1).nextBytes(noise);
            gzip.write(noise);
        }
        Path file = directory.resolve("jobs.csv.gz");
        return Files.write(file, Arrays.copyOf(packed.toByteArray(), 10_000));
    }

    @Test
    void aBinaryFileIsNotEchoedToTheTerminal(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("jobs.csv");
        Files.write(file, new byte[] {0x1b, '[', '2', 'J', 0, 7, (byte) 0xc2, (byte) 0x9b, 'x', '\n', 1, 2});

        int code = run(
                "replay",
                "--workload",
                file.toString(),
                "--out",
                directory.resolve("out").toString());

        assertThat(code).isEqualTo(2);
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString().strip().chars()).allMatch(each -> each >= ' ' && each < 0x7f);
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aFullDiskIsToldInOneLineWithTheWayOut(@TempDir Path directory) throws IOException {
        Files.createSymbolicLink(directory.resolve("jobs.csv.part"), Path.of("/dev/full"));

        int code =
                run("replay", "--workload", "day", "--nodes", "2", "--anchors", "off", "--out", directory.toString());

        assertThat(code).isEqualTo(1);
        assertThat(err.toString().lines().toList())
                .last()
                .isEqualTo(
                        "jobs.csv cannot be written to %s: No space left on device. Free space there, or name another directory."
                                .formatted(directory));
        assertThat(directory.resolve("summary.json")).doesNotExist();
        assertThat(directory.resolve("jobs.csv")).doesNotExist();
    }

    private int run(String... args) {
        return LendstreamMain.run(args, new PrintWriter(out), new PrintWriter(err));
    }

    /** All but services: those show their own help, in their own process. */
    private static Stream<CommandLine> commands(CommandLine command) {
        Collection<CommandLine> children = command.getSubcommands().values();
        if (command.getCommand() instanceof ServiceProcess) {
            return Stream.of();
        }
        if (!children.isEmpty()) {
            return Stream.concat(Stream.of(command), children.stream().flatMap(LendstreamMainTest::commands));
        }
        return Stream.of(command);
    }
}
