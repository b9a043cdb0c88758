package io.lendstream.actuator.adoption;

import static io.lendstream.actuator.adoption.Strangers.stays;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.service.host.HostProcesses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real processes, each with a child. */
class AdoptionHostTest {
    private static final Tenant BERT = new Tenant.Job(new JobId("bert"));
    private static final Tenant CHAT = new Tenant.Service(new ServiceId("chat"));
    private static final DecisionId DECISION = new DecisionId(new DomainId("d"), 1, 7);
    private static final String ENDS = "sleep 300 & wait";
    private static final String IGNORES_SIGTERM = "trap '' TERM; sleep 300 & while :; do wait; done";

    @TempDir
    private Path directory;

    private final List<String> heard = new CopyOnWriteArrayList<>();
    private Strangers strangers;
    private AdoptionHost host;

    @BeforeEach
    void start() throws IOException {
        strangers = new Strangers(
                Files.createDirectory(directory.resolve("strangers")).toRealPath());
        host = opened();
    }

    @AfterEach
    void end() {
        host.close();
        strangers.close();
    }

    private AdoptionHost opened() {
        AdoptionHost opened = AdoptionHost.open(directory.resolve("state"), this::hear, InstantSource.system());
        opened.start();
        return opened;
    }

    private void hear(AdoptedTenant adopted, AdoptionEnd end) {
        heard.add("%s on %s%s%s%s"
                .formatted(
                        adopted.tenant(),
                        adopted.units(),
                        end.isAsked() ? ", asked" : "",
                        end.isForced() ? ", forced" : "",
                        end == AdoptionEnd.OTHERS_RUN_ON ? ", others run on" : ""));
    }

    private void hears(String line) {
        await().atMost(ofSeconds(10)).untilAsserted(() -> assertThat(heard).contains(line));
    }

    private static List<GpuId> gpus(String... names) {
        return List.of(names).stream().map(GpuId::new).toList();
    }

    private Process started(String script) throws IOException {
        Process process = strangers.start(script, Map.of());
        await().atMost(ofSeconds(10)).until(() -> process.descendants().count() > 0);
        return process;
    }

    private AdoptedTenant adopted(Tenant tenant, Process process, String... gpus) {
        assertThat(host.adopt(DECISION, tenant, Strangers.user(process), gpus(gpus)))
                .isEmpty();
        return host.of(tenant).get(host.of(tenant).size() - 1);
    }

    private Optional<String> refused(Tenant tenant, String user, String... gpus) {
        return host.adopt(DECISION, tenant, user, gpus(gpus));
    }

    @Test
    void aProcessIsTakenOverAsItIsAndLaterEndedWithItsChildren() throws Exception {
        Process process = started(ENDS);
        AdoptedTenant chat = adopted(CHAT, process, "GPU-b", "GPU-a");
        assertThat(chat.units()).isEqualTo(gpus("GPU-a", "GPU-b"));
        assertThat(adopted(CHAT, process, "GPU-a", "GPU-b")).as("repeated").isEqualTo(chat);
        assertThat(strangers.running()).hasSize(2);

        host.end(chat, Optional.empty());

        hears("service chat on [GPU-a, GPU-b], asked");
        assertThat(strangers.running()).isEmpty();
        assertThat(host.of(CHAT)).isEmpty();
        assertThat(host.endedByItself(CHAT)).isEmpty();
        assertThat(host.hasEnded(chat.process().toString())).isTrue();
    }

    @Test
    void aProcessThatIgnoresSigtermIsKilledAfterItsGraceWithItsChildren() throws Exception {
        AdoptedTenant bert = adopted(BERT, started(IGNORES_SIGTERM), "GPU-a");

        host.end(bert, Optional.of(ofMillis(300)));

        assertThat(host.isEnding(bert)).isTrue();
        hears("job bert on [GPU-a], asked, forced");
        assertThat(strangers.running()).isEmpty();
    }

    @Test
    void withoutAGraceItRunsUntilItIsKilled() throws Exception {
        AdoptedTenant chat = adopted(CHAT, started(IGNORES_SIGTERM), "GPU-a");
        host.end(chat, Optional.empty());
        stays(() -> {
            assertThat(heard).isEmpty();
            assertThat(strangers.running()).isNotEmpty();
        });

        host.kill(chat);

        hears("service chat on [GPU-a], asked, forced");
        assertThat(strangers.running()).isEmpty();
    }

    @Test
    void aProcessThatEndsByItselfIsReportedAndItsChildrenRunOn() throws Exception {
        AdoptedTenant bert = adopted(BERT, started("sleep 300 & sleep 0.7; exit 3"), "GPU-a");

        hears("job bert on [GPU-a], others run on");
        assertThat(strangers.running()).hasSize(1);
        assertThat(host.of(BERT)).isEmpty();
        assertThat(host.endedByItself(BERT)).isPresent();
        host.kill(bert);
        assertThat(strangers.running()).as("given up").hasSize(1);
    }

    @Test
    void childrenThatEndSoonAfterTheirRootDoNotRunOn() throws Exception {
        adopted(BERT, started("sleep 1.5 & sleep 0.5; exit 3"), "GPU-a");

        hears("job bert on [GPU-a]");
    }

    @Test
    void whatARootLeavesBehindThatWasAskedToEndIsKilled() throws Exception {
        adopted(BERT, started("trap 'exit 0' TERM; sleep 300 & wait"), "GPU-a");

        host.end(host.of(BERT).get(0), Optional.empty());

        hears("job bert on [GPU-a], asked");
        assertThat(strangers.running()).isEmpty();
    }

    @Test
    void anotherHostOnTheDirectoryGoesOn() throws Exception {
        AdoptedTenant bert = adopted(BERT, started(IGNORES_SIGTERM), "GPU-a");
        AdoptedTenant chat = adopted(CHAT, started(ENDS), "GPU-b");
        host.close();
        assertThat(strangers.running()).hasSize(4);

        host = opened();
        assertThat(host.of(BERT)).containsExactly(bert);
        host.end(bert, Optional.of(ofMillis(1200)));
        host.close();

        host = opened();
        assertThat(host.isEnding(bert)).as("it was told to end").isTrue();
        assertThat(host.isEnding(chat)).isFalse();
        hears("job bert on [GPU-a], asked, forced");
        assertThat(host.of(CHAT)).containsExactly(chat);
    }

    @Test
    void aProcessThatEndedWhileNoHostWatchedIsReportedByTheNext() throws Exception {
        Process process = started(ENDS);
        adopted(BERT, process, "GPU-a");
        host.close();
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly().waitFor();

        host = opened();

        hears("job bert on [GPU-a]");
        host.close();
        host = opened();
        assertThat(host.of(BERT)).isEmpty();
        assertThat(host.endedByItself(BERT)).as("remembered").isPresent();
    }

    @Test
    void aProcessOfAnEarlierBootHasEndedAlsoIfItsNameCameAgain() throws Exception {
        AdoptedTenant bert = adopted(BERT, started(ENDS), "GPU-a");
        host.close();
        Path file = directory.resolve("state/adopted.json");
        String text = Files.readString(file);
        Files.writeString(file, text.replaceAll("\"boot\":\"[^\"]*\"", "\"boot\":\"another\""));

        host = opened();

        hears("job bert on [GPU-a]");
        assertThat(host.of(BERT)).isEmpty();
        host.kill(bert);
        assertThat(strangers.running()).hasSize(2);
        host.close();
        host = opened();
        assertThat(host.of(BERT)).isEmpty();
        assertThat(host.endedByItself(BERT)).isPresent();

        host.close();
        Files.writeString(file, text.replaceAll(",\"boot\":\"[^\"]*\"", ""));
        host = opened();
        assertThat(host.of(BERT)).as("an earlier file").containsExactly(bert);
    }

    @Test
    void aProcessThatIsLetGoRunsOn() throws Exception {
        AdoptedTenant bert = adopted(BERT, started(ENDS), "GPU-a");

        host.letGo(bert);

        assertThat(host.of(BERT)).isEmpty();
        host.end(bert, Optional.empty());
        host.kill(bert);
        stays(() -> {
            assertThat(strangers.running()).hasSize(2);
            assertThat(heard).isEmpty();
        });
        assertThat(adopted(BERT, strangers.idle(), "GPU-a").units()).hasSize(1);
    }

    @Test
    void whatCannotBeTakenOverIsRefusedWithTheReasonAndRunsOn() throws Exception {
        Process process = started(ENDS);
        String user = Strangers.user(process);
        long pid = process.pid();
        long child = process.descendants().findFirst().orElseThrow().pid();
        Process ours = strangers.start(ENDS, Map.of("LENDSTREAM_TENANT", "lendstream/d/job/bert"));
        Process ended = strangers.start("sleep 0.2; exit 3", Map.of());
        String endedUser = Strangers.user(ended);
        ended.waitFor();
        int before = strangers.running().size();

        assertThat(refused(BERT, "process/%d-1".formatted(pid), "GPU-a"))
                .hasValueSatisfying(why -> assertThat(why).contains("its PID is that of " + user));
        assertThat(refused(BERT, endedUser, "GPU-a")).contains(endedUser + " is not taken over: it has ended");
        assertThat(refused(BERT, Strangers.user(ours), "GPU-a"))
                .hasValueSatisfying(why -> assertThat(why).contains("started it as lendstream/d/job/bert"));
        assertThat(refused(BERT, "kubernetes/ns/pod/c", "GPU-a"))
                .hasValueSatisfying(why -> assertThat(why).contains("it is no process"));
        assertThat(refused(BERT, user))
                .hasValueSatisfying(why -> assertThat(why).contains("it has no GPU"));
        assertThat(refused(BERT, ownName(), "GPU-a"))
                .hasValueSatisfying(why -> assertThat(why).containsAnyOf("the actuator runs in it", "report it as"));

        assertThat(host.of(BERT)).isEmpty();
        assertThat(strangers.running()).hasSize(before).contains(pid, child);
    }

    @Test
    void aProcessThatTheSelectorDoesNotMatchItselfIsRefused() throws Exception {
        Process root = strangers.start("RUN=chat \"$0\" -c 'sleep 300 & wait' & wait", Map.of("RUN", "all"));
        await().atMost(ofSeconds(10)).until(() -> root.descendants().count() == 2);
        host.know(Map.of(CHAT, new AdoptionSelector(Map.of("environment.RUN", "chat"))));

        assertThat(refused(CHAT, Strangers.user(root), "GPU-a"))
                .hasValueSatisfying(why -> assertThat(why).contains("the selector of service chat", "does not match"));

        host.know(Map.of(CHAT, new AdoptionSelector(Map.of("environment.RUN", "all"))));
        assertThat(refused(CHAT, Strangers.user(root), "GPU-a")).isEmpty();
    }

    private static String ownName() {
        var hosts = new HostProcesses();
        return hosts.of(ProcessHandle.current().pid()).orElseThrow().name().toString();
    }

    @Test
    void aProcessBelowAnotherOfItsProgramIsRefusedBecauseAgentsNameItsRoot() throws Exception {
        Process root = strangers.start("\"$0\" -c 'sleep 300 & wait' & wait", Map.of());
        await().atMost(ofSeconds(10)).until(() -> root.descendants().count() == 2);
        var hosts = new HostProcesses();
        String worker = hosts.of(root.children().findFirst().orElseThrow().pid())
                .orElseThrow()
                .name()
                .toString();

        assertThat(refused(BERT, worker, "GPU-a"))
                .contains("%s is not taken over: agents report it as %s now".formatted(worker, Strangers.user(root)));
    }

    @Test
    void aProcessIsOneTenantAndAReplicaAndAJobHaveOneProcess() throws Exception {
        Process first = started(ENDS);
        String second = Strangers.user(started(ENDS));
        adopted(CHAT, first, "GPU-a", "GPU-b");

        assertThat(refused(BERT, Strangers.user(first), "GPU-a"))
                .hasValueSatisfying(why -> assertThat(why).contains("it is service chat on [GPU-a, GPU-b] already"));
        assertThat(refused(CHAT, Strangers.user(first), "GPU-a"))
                .hasValueSatisfying(why -> assertThat(why).contains("already"));
        assertThat(refused(CHAT, second, "GPU-b"))
                .hasValueSatisfying(why -> assertThat(why).contains("a replica has one process"));
        assertThat(refused(CHAT, second, "GPU-c")).as("another replica").isEmpty();

        adopted(BERT, started(ENDS), "GPU-d");
        assertThat(refused(BERT, Strangers.user(started(ENDS)), "GPU-e"))
                .hasValueSatisfying(why -> assertThat(why).contains("a job has one process here"));
    }

    @Test
    void aProcessThatMayNotBeSignalledIsRefused() throws Exception {
        Process process = started(ENDS);
        host.close();
        host = new AdoptionHost(
                directory.resolve("state"),
                this::hear,
                InstantSource.system(),
                pid -> pid == process.pid() ? Optional.of("no permission") : Optional.empty(),
                ProcessHandle.current().pid());

        assertThat(refused(BERT, Strangers.user(process), "GPU-a"))
                .hasValueSatisfying(why -> assertThat(why).contains("no permission"));
    }

    @Test
    void signalZeroNeedsARunningProcessAndChangesNothing() throws Exception {
        Process process = started(ENDS);
        assertThat(SignalCheck.byShell(process.pid())).isEmpty();
        assertThat(process.isAlive()).isTrue();

        assertThat(SignalCheck.byShell(4_194_304 + 1))
                .hasValueSatisfying(why -> assertThat(why).contains("CAP_KILL"));
    }

    @Test
    void aFileOfALaterVersionIsNotRead() throws Exception {
        host.close();
        Path file = directory.resolve("state/adopted.json");
        Files.writeString(file, "{\"version\": 2, \"processes\": [], \"ended\": []}");
        assertThatThrownBy(this::opened)
                .hasStackTraceContaining("it has version 2")
                .hasMessageContaining("remove it");

        Files.writeString(file, """
            {"version": 1, "processes": [{"job": "bert", "process": "process/4194305-1", "units": ["GPU-a"],
             "decision": "d/1/7", "asked": false}], "ended": []}
            """);
        host = opened();
        hears("job bert on [GPU-a]");
    }
}
