package io.lendstream.actuator.jobs;

import static io.lendstream.actuator.jobs.ExampleJob.BATCHING;
import static io.lendstream.actuator.jobs.ExampleJob.change;
import static io.lendstream.actuator.jobs.ExampleJob.slots;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lendstream.core.id.JobId;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Jobs of any name, and jobs that cannot be started; they need no PyTorch. */
class JobStartTest extends InJobDirectory {
    private static final List<String> NAMES = List.of(
            ".", "..", "a/b", "a b", "x".repeat(249), "字".repeat(249), "\uD83D\uDE80".repeat(124), "\u001b[31m");

    private JobProgram sleeping() {
        return JobProgram.of(JobProgram.Mode.RESTART, List.of("sleep", "300"), state);
    }

    private static List<String> occupied(JobHost host) {
        return host.running().stream()
                .filter(job -> !job.occupied().isEmpty())
                .map(job -> job.job().value())
                .toList();
    }

    @Test
    void jobsOfAnyNameStartAndAreTakenOverAfterARestartOnce() throws Exception {
        try (var host = JobHost.open(state, heard)) {
            for (int i = 0; i < NAMES.size(); i++) {
                host.start(new JobId(NAMES.get(i)), sleeping(), slots("" + i), BATCHING, change(i + 1));
                heard.await("bound gpu%d by %d".formatted(i, i + 1));
            }
            heard.awaitUntil(() -> sleepers(processes()) == NAMES.size(), "all to run");
        }
        List<OsProcess> before = processes();
        try (Stream<Path> homes = Files.list(state.resolve("jobs"))) {
            assertThat(homes).hasSize(NAMES.size());
        }

        try (var host = JobHost.open(state, heard)) {
            assertThat(occupied(host)).containsExactlyInAnyOrderElementsOf(NAMES);
            for (int i = 0; i < NAMES.size(); i++) {
                host.start(new JobId(NAMES.get(i)), sleeping(), slots("" + i), BATCHING, change(i + 1));
            }
            assertThat(occupied(host)).hasSize(NAMES.size());
            assertThat(processes()).as("none is started a second time").containsExactlyInAnyOrderElementsOf(before);
            for (String name : NAMES) {
                host.stop(new JobId(name), change(100));
            }
            heard.awaitUntil(() -> processes().isEmpty(), "the end of all");
        }
    }

    /** How many are the program itself, rather than the shell that waits for it. */
    private static long sleepers(List<OsProcess> processes) {
        return processes.stream()
                .filter(each -> {
                    try {
                        return Files.readString(Path.of("/proc/%d/comm".formatted(each.pid())))
                                .equals("sleep\n");
                    } catch (IOException e) {
                        return false; // it has ended
                    }
                })
                .count();
    }

    @Test
    void jobsThatTheVersionBeforeLeftUnderTheirEncodedNamesAreTakenOver() throws Exception {
        Path jobs = Files.createDirectories(state.resolve("jobs"));
        Map<String, Path> homes = new TreeMap<>();
        homes.put(".", jobs);
        homes.put("..", state);
        for (String name : List.of("bert/large v2", "x".repeat(230), "字".repeat(27))) {
            homes.put(name, jobs.resolve(URLEncoder.encode(name, StandardCharsets.UTF_8)));
        }
        int number = 0;
        for (Map.Entry<String, Path> each : homes.entrySet()) {
            leave(each.getKey(), each.getValue(), number++);
        }
        List<OsProcess> before = processes();
        assertThat(before).hasSize(2 * homes.size());

        try (var host = JobHost.open(state, heard)) {
            assertThat(occupied(host)).containsExactlyInAnyOrderElementsOf(homes.keySet());
            assertThat(processes()).containsExactlyInAnyOrderElementsOf(before);
            for (String name : homes.keySet()) {
                host.stop(new JobId(name), change(2));
            }
            heard.awaitUntil(() -> processes().isEmpty(), "the end of all");
            await().atMost(RecordingJobListener.PATIENCE)
                    .until(() -> host.running().isEmpty());
        }
        for (Path home : homes.values()) {
            assertThat(home.resolve("job.json")).doesNotExist();
        }
    }

    /** What the version before has on disk of a job with one worker, which runs. */
    private void leave(String name, Path home, int gpu) throws Exception {
        Path worker = Files.createDirectories(home.resolve("workers")).resolve("w-" + gpu);
        Files.createDirectories(home);
        WorkerProcess.start(
                "w-" + gpu,
                worker,
                List.of("sleep", "300"),
                CleanEnvironment.ofThisProcess(),
                Map.of("LENDSTREAM_AFE_SOCKET", state.resolve("jobs.sock").toString()),
                state);
        heard.awaitUntil(() -> sleepers(OsProcess.carrying(WorkerProcess.NAME, "w-" + gpu)) == 1, "the worker");
        Files.writeString(home.resolve("job.json"), """
                {"job":"%s","program":{"mode":"RESTART","command":["sleep","300"],"launcher":[],"environment":{},
                 "directory":"%s","maxRestarts":3,"graceMillis":30000},
                 "wanted":[{"gpu":"gpu%d","device":"%d","addedBy":"test/1/1","bound":true}],
                 "batching":{"localBatch":8,"accumulation":1,"learningRateScale":1.0},
                 "applied":{"localBatch":8,"accumulation":1,"learningRateScale":1.0},
                 "change":"test/1/1","askedNanos":1,"settled":true,"stopping":false,"releases":[],
                 "workers":[{"name":"w-%d","token":"t","cause":"test/1/1","slots":[{"gpu":"gpu%d","device":"%d"}]}],
                 "epoch":0,"members":[]}
                """.formatted(name, state, gpu, gpu, gpu, gpu, gpu));
    }

    @Test
    void aJobWithANulInItsNameIsReportedFailedAndTheOthersAreLookedAfter() throws Exception {
        Path go = state.resolve("go");
        try (var host = JobHost.open(state, heard)) {
            host.start(new JobId("a\0b"), sleeping(), slots("0"), BATCHING, change(1));
            heard.awaitUntil(() -> heard.lines().contains("exited 127"), "the end of the job");
            JobProgram program = JobProgram.of(
                    JobProgram.Mode.RESTART,
                    List.of("sh", "-c", "while ! [ -e \"$0\" ]; do sleep 0.1; done", go.toString()),
                    state);
            host.start(new JobId("good"), program, slots("1"), BATCHING, change(2));
            heard.await("bound gpu1 by 2");
            Files.createFile(go);
            heard.await("exited 0");
            assertThat(host.running()).isEmpty();
        }

        assertThat(heard.lines()).anyMatch(line -> line.startsWith("failed 1: ") && line.contains("NUL"));
        try (Stream<Path> homes = Files.list(state.resolve("jobs"))) {
            assertThat(homes.map(home -> home.getFileName().toString())).containsExactly("good");
        }
    }

    @Test
    void aJobWithANulThatTheVersionBeforeHadTakenIsEnded() throws Exception {
        Path home = Files.createDirectories(state.resolve("jobs/a%00b"));
        Files.writeString(home.resolve("job.json"), """
                {"job":"a\\u0000b","program":{"mode":"AFE","command":["sleep","300"],"launcher":[],
                 "environment":{"LENDSTREAM_JOB":"a\\u0000b"},"directory":"%s","maxRestarts":3,"graceMillis":30000},
                 "wanted":[{"gpu":"gpu0","device":"0","addedBy":"test/1/1","bound":false}],
                 "batching":{"localBatch":8,"accumulation":1,"learningRateScale":1.0},
                 "applied":{"localBatch":8,"accumulation":1,"learningRateScale":1.0},
                 "change":"test/1/1","askedNanos":1,"settled":false,"stopping":false,"releases":[],
                 "workers":[],"epoch":0,"members":[]}
                """.formatted(state));

        try (var host = JobHost.open(state, heard)) {
            heard.await("exited 127");
            assertThat(host.running()).isEmpty();
        }
        assertThat(home.resolve("job.json")).doesNotExist();
        assertThat(home.resolve("workers")).doesNotExist();
    }

    @Test
    void aProgramThatCanNeverStartIsGivenUpAtOnceInEveryMode() throws Exception {
        int change = 0;
        try (var host = JobHost.open(state, heard)) {
            for (JobProgram.Mode mode : JobProgram.Mode.values()) {
                int now = ++change;
                JobProgram program = JobProgram.of(mode, List.of("sleep", "3\0"), state);
                host.start(new JobId("job"), program, slots("0,1"), BATCHING, change(now));
                heard.awaitUntil(
                        () -> heard.lines().stream()
                                        .filter("exited 127"::equals)
                                        .count()
                                == now,
                        "the end in mode " + mode);
                assertThat(heard.lines())
                        .anyMatch(line ->
                                line.startsWith("failed %d: workers in".formatted(now)) && line.contains("NUL"));
            }
            assertThat(host.running()).isEmpty();
        }
        assertThat(state.resolve("jobs/job/workers")).doesNotExist();
    }

    @Test
    void aProgramWhoseDirectoryIsLateStartsWhenItIsThere() throws Exception {
        Path late = state.resolve("late");
        try (var host = JobHost.open(state, heard)) {
            JobProgram program = JobProgram.of(JobProgram.Mode.RESTART, List.of("sleep", "300"), late);
            host.start(new JobId("job"), program, slots("0"), BATCHING, change(1));
            assertThat(host.running()).hasSize(1);
            assertThat(occupied(host)).isEmpty();
            Files.createDirectory(late);

            heard.await("bound gpu0 by 1");

            assertThat(heard.lines()).noneMatch(line -> line.startsWith("failed"));
        }
    }

    @Test
    void aFileThatCannotBeReadIsSetAsideWhereNothingOfItsJobRunsAndStopsTheStartWhereItDoes() throws Exception {
        Path idle = Files.createDirectories(state.resolve("jobs/idle"));
        Files.writeString(idle.resolve("job.json"), "{\"job\":");
        leave("good", state.resolve("jobs/good"), 0);
        try (var host = JobHost.open(state, heard)) {
            assertThat(occupied(host)).containsExactly("good");
        }
        assertThat(idle.resolve("job.json")).doesNotExist();
        assertThat(idle.resolve("job.json.unreadable")).exists();

        Files.writeString(state.resolve("jobs/good/job.json"), "{}");

        assertThatThrownBy(() -> JobHost.open(state, heard)).hasMessageContaining("end its processes and remove it");
        assertThat(state.resolve("jobs/good/job.json")).hasContent("{}");
    }

    @Test
    void aWorkerGetsOfTheEnvironmentWhatIsAllowedAndWhatItsProgramDeclares() throws Exception {
        Map<String, String> actuators = Map.of(
                "PATH", System.getenv("PATH"),
                "LANG", "C.UTF-8",
                "LENDSTREAM_KAFKA_SASL_JAAS_CONFIG", "password=broker",
                "DATABASE_PASSWORD", "hidden");
        Path seen = state.resolve("seen");
        JobProgram program = JobProgram.of(
                        JobProgram.Mode.RESTART,
                        List.of("sh", "-c", "env > %s.new && mv %s.new %s".formatted(seen, seen, seen)),
                        state)
                .with(Map.of("MINE", "declared"));
        try (var host = JobHost.open(state, CleanEnvironment.of(actuators, List.of()), heard)) {
            host.start(new JobId("job"), program, slots("0"), BATCHING, change(1));
            heard.await("exited 0");
        }

        Map<String, String> environment = new TreeMap<>();
        Files.readAllLines(seen).forEach(line -> environment.put(line.split("=", 2)[0], line.split("=", 2)[1]));
        List.of("PWD", "OLDPWD", "SHLVL", "_").forEach(environment::remove); // the shell's own
        assertThat(environment).containsEntry("MINE", "declared").containsEntry("LANG", "C.UTF-8");
        assertThat(environment.keySet())
                .containsExactlyInAnyOrder(
                        "PATH",
                        "LANG",
                        "MINE",
                        "CUDA_VISIBLE_DEVICES",
                        "GLOO_SOCKET_IFNAME",
                        "RANK",
                        "WORLD_SIZE",
                        "LOCAL_RANK",
                        "LOCAL_WORLD_SIZE",
                        "MASTER_ADDR",
                        "MASTER_PORT",
                        "LENDSTREAM_AFE_MODE",
                        "LENDSTREAM_AFE_SOCKET",
                        "LENDSTREAM_AFE_TOKEN",
                        "LENDSTREAM_AFE_WORKER",
                        "LENDSTREAM_LOCAL_BATCH",
                        "LENDSTREAM_ACCUMULATION",
                        "LENDSTREAM_LEARNING_RATE_SCALE");
    }

    @Test
    void aProgramMayRunAsAnotherUserWhereTheActuatorIsRootAndIsFoundAgainAndEnded() throws Exception {
        assumeTrue(
                "root".equals(System.getProperty("user.name")),
                "skipped: only root may start processes of another user");
        JobProgram program = JobProgram.of(
                JobProgram.Mode.RESTART,
                List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sleep", "300"),
                state);
        try (var host = JobHost.open(state, heard)) {
            host.start(new JobId("job"), program, slots("0"), BATCHING, change(1));
            heard.awaitUntil(() -> sleepers(processes()) == 1, "the program");
        }
        OsProcess sleep = processes().stream()
                .filter(each -> sleepers(List.of(each)) == 1)
                .findFirst()
                .orElseThrow();
        assertThat(Files.readString(Path.of("/proc/%d/status".formatted(sleep.pid()))))
                .contains("Uid:\t65534\t65534");

        try (var host = JobHost.open(state, heard)) {
            assertThat(occupied(host)).containsExactly("job");
            host.stop(new JobId("job"), change(2));
            heard.awaitUntil(() -> processes().isEmpty(), "its end");
        }
    }

    @Test
    void directoriesAndFilesAreClosedToOthersThoseOfTheVersionBeforeToo() throws Exception {
        Files.createDirectories(state.resolve("jobs/job"));
        Files.setPosixFilePermissions(state.resolve("jobs/job"), PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.setPosixFilePermissions(state.resolve("jobs"), PosixFilePermissions.fromString("rwxr-xr-x"));
        try (var host = JobHost.open(state, heard)) {
            host.start(new JobId("job"), sleeping(), slots("0"), BATCHING, change(1));
            heard.await("bound gpu0 by 1");
        }

        List<String> open = new ArrayList<>();
        try (Stream<Path> all = Files.walk(state)) {
            for (Path each : all.toList()) {
                String rights = PosixFilePermissions.toString(Files.getPosixFilePermissions(each));
                boolean isOurs = !each.endsWith("lock") && !each.endsWith("claimed"); // those say nothing
                boolean isClosed = rights.equals(Files.isDirectory(each) ? "rwx------" : "rw-------");
                if (isOurs && (Files.isDirectory(each) || Files.isRegularFile(each)) && !isClosed) {
                    open.add(each + " " + rights);
                }
            }
        }
        assertThat(open).isEmpty();
    }

    @Test
    void aDirectoryThatIsTooLongForASocketIsRefusedWithItsLength() {
        Path deep = state.resolve("x".repeat(100));

        assertThat(JobHost.complaint(deep))
                .hasValueSatisfying(
                        why -> assertThat(why).contains("but the limit is 107. Use a shorter state directory"));
        assertThat(JobHost.complaint(state)).isEmpty();
    }
}
