package io.lendstream.service.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lendstream.service.fake.FakeProc;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HostProcessesTest {
    private static final String PYTHON = "/none/bin/python3.12";

    @TempDir
    Path directory;

    private FakeProc proc;
    private HostProcesses host;

    @BeforeEach
    void start() {
        proc = new FakeProc(directory).with(1, 0, 2, "/none/systemd").owner(1, 0);
        host = new HostProcesses(directory);
    }

    private String user(long pid) {
        return host.user(host.of(pid).orElseThrow());
    }

    @Test
    void aProcessIsNamedByItsPidAndItsStart() {
        proc.with(40, 1, 900, PYTHON);

        assertThat(user(40)).isEqualTo("process/40-900");
    }

    @Test
    void theWorkersOfALauncherHaveOneName() {
        proc.with(40, 1, 900, "/none/bin/bash")
                .with(41, 40, 910, PYTHON) // torchrun
                .with(42, 41, 920, PYTHON)
                .with(43, 41, 920, PYTHON)
                .with(44, 43, 930, "/none/bin/bash")
                .with(45, 44, 940, PYTHON + " (deleted)"); // started by a worker, after an update of Python

        assertThat(List.of(user(41), user(42), user(43), user(45))).containsOnly("process/41-910");
        assertThat(user(44)).as("a shell of its own").isEqualTo("process/40-900");
    }

    @Test
    void anAncestorOfAnotherUserIsNoRoot() {
        proc.with(41, 1, 910, PYTHON).owner(41, 0).with(42, 41, 920, PYTHON);

        assertThat(user(42)).isEqualTo("process/42-920");
    }

    @Test
    void whereTheProgramIsHiddenTheNameOfTheProcessIsCompared() {
        proc.with(41, 1, 910, PYTHON).with(42, 41, 920, PYTHON).hide(41).hide(42);
        proc.with(51, 1, 910, PYTHON)
                .with(52, 51, 920, "/none/bin/ruby")
                .hide(51)
                .hide(52);

        assertThat(user(42)).isEqualTo("process/41-910");
        assertThat(user(52)).isEqualTo("process/52-920");
    }

    @Test
    void aTenantHasItsNameAlsoWhereItHasOverwrittenItsEnvironment() {
        proc.with(41, 1, 910, "/none/bin/sh")
                .environment(41, "HOME=/", "LENDSTREAM_TENANT=lendstream/east/job/bert")
                .with(42, 41, 920, PYTHON)
                .environment(42, "HOME=/", "LENDSTREAM_TENANT=lendstream/east/job/bert")
                .with(43, 42, 930, PYTHON)
                .environment(43, "", "", "");

        assertThat(List.of(user(42), user(43))).containsOnly("lendstream/east/job/bert");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "bert",
                "lendstream/east/job/",
                "lendstream/east/pod/bert",
                "lendstream/east/job/bert/0",
                "lendstream/east/job/two words",
                "lendstream/../job/bert",
                "lendstream/east/job/x\ny"
            })
    void aVariableThatIsNoTenantIsNotPublished(String value) {
        proc.with(42, 1, 920, PYTHON).environment(42, "LENDSTREAM_TENANT=" + value);

        assertThat(user(42)).isEqualTo("process/42-920");
    }

    @Test
    void anUnreadableEnvironmentGivesThePlainName() {
        proc.with(42, 1, 920, PYTHON).environment(42, "LENDSTREAM_TENANT=lendstream/east/job/bert");
        assertThat(user(42)).isEqualTo("lendstream/east/job/bert");

        proc.hide(42);
        assertThat(user(42)).isEqualTo("process/42-920");
    }

    @Test
    void aDeadProcessIsNone() {
        proc.with(42, 1, 920, PYTHON).stat(42, 1, 920, "python3", 'Z');

        assertThat(host.of(42)).isEmpty();
        assertThat(host.of(43)).isEmpty();
        assertThat(host.all()).extracting(HostProcess::pid).containsExactly(1L);
    }

    @Test
    void aReusedPidIsAnotherProcess() {
        proc.with(42, 1, 920, PYTHON).environment(42, "LENDSTREAM_TENANT=lendstream/east/job/bert");
        HostProcess before = host.of(42).orElseThrow();
        proc.with(42, 1, 950, PYTHON).environment(42, "LENDSTREAM_TENANT=lendstream/east/job/other");

        assertThat(host.variable(before, TenantName.VARIABLE)).isEmpty();
        assertThat(host.of(42).map(host::user)).contains("lendstream/east/job/other");
    }

    @Test
    void aParentThatIsYoungerThanItsChildHasAReusedPid() {
        proc.with(41, 1, 990, PYTHON)
                .environment(41, "LENDSTREAM_TENANT=lendstream/east/job/bert")
                .with(42, 41, 920, PYTHON);

        assertThat(user(42)).isEqualTo("process/42-920");
    }

    @Test
    void aCircleOfParentsEnds() {
        proc.with(41, 42, 920, PYTHON).with(42, 41, 920, PYTHON);

        assertThat(user(42)).startsWith("process/4");
    }

    @Test
    void aNameMayHaveBrackets() {
        proc.with(42, 1, 920, PYTHON).stat(42, 1, 920, "a) S 7 (b", 'S');

        assertThat(host.of(42)).hasValueSatisfying(process -> {
            assertThat(process.command()).isEqualTo("a) S 7 (b");
            assertThat(process.parent()).isEqualTo(1);
            assertThat(process.startTicks()).isEqualTo(920);
            assertThat(process.owner()).isEqualTo(1000);
        });
    }

    @Test
    void programsAreComparedByTheirFileNames() {
        proc.with(42, 1, 920, "/none/bin/nvidia-cuda-mps-server")
                .stat(42, 1, 920, "nvidia-cuda-mps", 'S')
                .with(43, 1, 920, "/none/nvidia-cuda-mps-x/python3");

        assertThat(host.of(42).orElseThrow().runs("nvidia-cuda-mps-*")).isTrue();
        assertThat(host.of(42).orElseThrow().runs("nvidia-cuda-mps")).isFalse();
        assertThat(host.of(43).orElseThrow().runs("nvidia-cuda-mps-*")).isFalse();
        proc.hide(42);
        assertThat(host.of(42).orElseThrow().runs("nvidia-cuda-mps-*")).isTrue();
        assertThat(host.of(42).orElseThrow().runs("nvidia-cuda-mps-server")).isTrue();
        assertThat(host.of(42).orElseThrow().runs("python*")).isFalse();
    }

    @Test
    void aSystemWithoutSuchFilesHasNoProcesses() {
        var elsewhere = new HostProcesses(directory.resolve("none"));

        assertThat(elsewhere.isThere()).isFalse();
        assertThat(elsewhere.hasPidsOfTheHost()).isFalse();
        assertThat(elsewhere.all()).isEmpty();
        assertThat(elsewhere.of(1)).isEmpty();
    }

    @Test
    void aContainerHasPidsOfItsOwn() {
        proc.self("pid:[4026532801]");

        assertThat(host.isThere()).isTrue();
        assertThat(host.hasPidsOfTheHost()).isFalse();
    }

    @Test
    void theHostHasThePidsOfTheHost() {
        proc.self("pid:[4026531836]");

        assertThat(host.hasPidsOfTheHost()).isTrue();
    }

    @Test
    void aProcessOfThisMachineIsReadAsItIs() throws IOException {
        var here = new HostProcesses();
        assumeTrue(here.isThere());
        var builder = new ProcessBuilder("sleep", "60");
        builder.environment().put(TenantName.VARIABLE, "lendstream/east/service/chat");
        Process process = builder.start();
        try {
            HostProcess found = here.of(process.pid()).orElseThrow();

            assertThat(found.parent()).isEqualTo(ProcessHandle.current().pid());
            assertThat(here.user(found)).isEqualTo("lendstream/east/service/chat");
            assertThat(here.all()).contains(found);
            assertThat(here.user(here.of(ProcessHandle.current().pid()).orElseThrow()))
                    .startsWith("process/");
        } finally {
            process.destroyForcibly().onExit().join();
        }
        assertThat(here.of(process.pid())).isEmpty();
    }
}
