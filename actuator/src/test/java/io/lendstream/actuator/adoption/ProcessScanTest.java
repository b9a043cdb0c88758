package io.lendstream.actuator.adoption;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.service.fake.FakeProc;
import io.lendstream.service.host.HostProcesses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real processes of this machine, and processes in a directory like {@code /proc}. */
class ProcessScanTest {
    private static final Tenant BERT = new Tenant.Job(new JobId("bert"));
    private static final Tenant CHAT = new Tenant.Service(new ServiceId("chat"));
    /** No process has this PID: the test's own children are not those of an actuator. */
    private static final long NONE = Long.MAX_VALUE;

    @TempDir
    private Path directory;

    private Strangers strangers;

    @BeforeEach
    void start() throws IOException {
        strangers = new Strangers(
                Files.createDirectory(directory.resolve("strangers")).toRealPath());
    }

    @AfterEach
    void end() {
        strangers.close();
    }

    private static List<FoundProcess> find(Tenant tenant, Map<String, String> patterns) {
        return find(Map.of(tenant, new AdoptionSelector(patterns)));
    }

    private static List<FoundProcess> find(Map<Tenant, AdoptionSelector> selectors) {
        return new ProcessScan(new HostProcesses(), NONE).find(selectors);
    }

    private static List<FoundProcess> find(Tenant tenant, AdoptionSelector selector) {
        return find(Map.of(tenant, selector));
    }

    private AdoptionSelector mark(String text) {
        return new AdoptionSelector(Map.of("command", "*" + directory + "*" + text + "*"));
    }

    private String here() {
        return directory.resolve("strangers").toAbsolutePath().toString();
    }

    @Test
    void selectorsAreCheckedForTheAttributesThatThereAre() {
        assertThat(AdoptionSelector.OF_PROCESSES)
                .containsExactlyElementsOf(Arrays.stream(ProcessAttribute.values())
                        .map(ProcessAttribute::word)
                        .toList());
    }

    @Test
    void aProcessIsFoundByEachAttributeAndByAllOfThem() throws Exception {
        Process process = strangers.start("sleep 300 & wait", Map.of("RUN_NAME", "bert-7", "WORLD_SIZE", "2"), "x.py");
        String user = new HostProcesses()
                .userName(new HostProcesses().of(process.pid()).orElseThrow());
        Map<String, String> all = Map.of(
                "command",
                here() + "/trainer -c * x.py",
                "user",
                user,
                "directory",
                here(),
                "environment.RUN_NAME",
                "bert-*");

        assertThat(find(BERT, all))
                .containsExactly(new FoundProcess(Strangers.user(process), List.of(BERT), Optional.of(2), shown()));
        assertThat(find(BERT, Map.of("directory", here(), "user", user + "x"))).isEmpty();
        assertThat(find(BERT, Map.of("directory", here(), "environment.RUN_NAME", "bert")))
                .isEmpty();
        assertThat(find(BERT, Map.of("directory", here(), "environment.NO_SUCH", "b*")))
                .isEmpty();
        assertThat(find(BERT, Map.of("directory", here(), "command", "*x.p"))).isEmpty();
    }

    /** Of the shell's arguments, -c and all after it may hold secrets. */
    private String shown() {
        String path = here() + "/trainer";
        return path.length() <= 120 ? path : path.substring(0, 117) + "...";
    }

    @Test
    void aChildCountsForItsRootWhichIsListedOnceWithAllThatClaimIt() throws Exception {
        Process root = strangers.start(
                "WORLD_SIZE=4 \"$0\" -c 'sleep 300 & wait' worker-a & \"$0\" -c 'sleep 300 & wait' worker-b & wait",
                Map.of());
        await().atMost(ofSeconds(10)).until(() -> find(BERT, mark("worker-b")).size() == 1);

        assertThat(find(Map.of(BERT, mark("worker-*"), CHAT, mark("worker-b"))))
                .extracting(FoundProcess::user, FoundProcess::claimedBy, FoundProcess::workers)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple(Strangers.user(root), List.of(BERT, CHAT), Optional.of(4)));
    }

    @Test
    void aRootIsNotFoundBecauseOfAChildAlone() throws Exception {
        Process root = strangers.start(
                "run() { RUN=$1 \"$0\" -c 'sleep 300 & wait' & }; run bert; run chat; wait", Map.of(), "supervisor");
        AdoptionSelector bert =
                new AdoptionSelector(Map.of("command", here() + "/trainer*", "environment.RUN", "bert"));
        AdoptionSelector chat =
                new AdoptionSelector(Map.of("command", here() + "/trainer*", "environment.RUN", "chat"));
        await().atMost(ofSeconds(10)).until(() -> root.descendants().count() == 4);

        assertThat(find(BERT, bert)).isEmpty();
        assertThat(find(Map.of(BERT, bert, CHAT, chat))).isEmpty();
        assertThat(find(Map.of(BERT, bert, CHAT, mark("supervisor"))))
                .as("in doubt")
                .extracting(FoundProcess::claimedBy)
                .containsExactly(List.of(BERT, CHAT));
    }

    @Test
    void whatLendstreamStartedIsNotFound() throws Exception {
        strangers.start("sleep 300 & wait", Map.of("LENDSTREAM_TENANT", "lendstream/d/job/bert"), "ours");
        strangers.idle("theirs");

        assertThat(find(BERT, mark("theirs"))).hasSize(1);
        assertThat(find(BERT, mark("ours"))).isEmpty();
    }

    @Test
    void theActuatorItselfItsAncestorsAndWhatItStartedAreNotFound() throws Exception {
        strangers.idle("child");
        var scan = new ProcessScan(new HostProcesses(), ProcessHandle.current().pid());

        assertThat(find(BERT, mark("child"))).hasSize(1);
        assertThat(scan.find(Map.of(BERT, mark("child")))).isEmpty();
        assertThat(scan.find(Map.of(BERT, new AdoptionSelector(Map.of("command", "*java*")))))
                .extracting(FoundProcess::user)
                .noneMatch(user -> user.startsWith(
                        "process/%d-".formatted(ProcessHandle.current().pid())));
    }

    @Test
    void aProcessThatHasEndedIsNotFound() throws Exception {
        Process process = strangers.idle("short");
        assertThat(find(BERT, mark("short"))).hasSize(1);

        process.destroyForcibly().waitFor();

        // A child that its shell has just forked has the same command until it becomes another program.
        await().untilAsserted(() -> assertThat(find(BERT, mark("short"))).isEmpty());
    }

    @Test
    void aSelectorThatNamesAnUnknownAttributeSaysSoAndClaimsNothing() {
        AdoptionSelector unknown = new AdoptionSelector(Map.of("command", "*sleep*", "image", "x"));
        assertThat(ProcessScan.complaint(unknown))
                .contains("it names the attribute 'image', which processes do not have; they have command, user, unit, "
                        + "directory, environment.NAME");
        assertThat(ProcessScan.complaint(new AdoptionSelector(Map.of("environment.", "x"))))
                .isPresent();
        assertThat(ProcessScan.complaint(new AdoptionSelector(Map.of("environment.A", "x"))))
                .isEmpty();
        assertThat(find(BERT, unknown)).isEmpty();
    }

    @Test
    void unitsAreThoseOfSystemdAndThreadsOfTheKernelAreNotFound() throws Exception {
        Path proc = directory.resolve("proc");
        var fake = new FakeProc(proc)
                .with(10, 1, 100, "/bin/a")
                .groups(10, "0::/system.slice/train@1.service")
                .with(11, 1, 100, "/bin/b")
                .groups(11, "0::/user.slice/user@7.service/app.slice/run-3.scope")
                .with(12, 1, 100, "/bin/c")
                .groups(12, "4:memory:/system.slice/train@1.service\n1:name=systemd:/user.slice/u.slice")
                .with(13, 1, 100, "/bin/d")
                .groups(13, "0::/system.slice/train@1.service");
        for (int pid = 10; pid < 13; pid++) {
            Files.writeString(proc.resolve(pid + "/cmdline"), "a\0");
        }
        Files.writeString(proc.resolve("13/cmdline"), "");
        var scan = new ProcessScan(new HostProcesses(fake.directory()), NONE);

        assertThat(users(scan, "train@*.service")).containsExactly("process/10-100");
        assertThat(users(scan, "run-3.scope")).containsExactly("process/11-100");
        assertThat(users(scan, "user@7.service")).isEmpty();
    }

    @Test
    void workersAreCountedAlsoIfOnlyTheirLauncherMatches() throws Exception {
        Path proc = directory.resolve("proc");
        var fake = new FakeProc(proc)
                .with(10, 1, 100, "/usr/bin/python3")
                .environment(10, "WORLD_SIZE=1")
                .with(11, 10, 101, "/bin/sh")
                .with(12, 11, 102, "/usr/bin/python3")
                .environment(12, "LOCAL_WORLD_SIZE=2", "WORLD_SIZE=4")
                .with(13, 12, 103, "/usr/bin/python3")
                .environment(13, "LOCAL_WORLD_SIZE=2")
                .with(14, 1, 104, "/usr/bin/python3")
                .environment(14, "WORLD_SIZE=9");
        for (int pid = 10; pid < 15; pid++) {
            Files.writeString(proc.resolve(pid + "/cmdline"), pid == 10 ? "python3\0torchrun\0" : "python3\0a.py\0");
        }

        List<FoundProcess> found = new ProcessScan(new HostProcesses(fake.directory()), NONE)
                .find(Map.of(BERT, new AdoptionSelector(Map.of("command", "*torchrun*"))));

        assertThat(found)
                .extracting(FoundProcess::user, FoundProcess::workers)
                .containsExactly(org.assertj.core.groups.Tuple.tuple("process/10-100", Optional.of(4)));
    }

    private static List<String> users(ProcessScan scan, String unit) {
        return scan.find(Map.of(BERT, new AdoptionSelector(Map.of("unit", unit)))).stream()
                .map(FoundProcess::user)
                .toList();
    }
}
