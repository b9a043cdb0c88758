package io.lendstream.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.service.fake.FakeProc;
import io.lendstream.service.host.HostProcesses;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UserSettingsTest {
    private static final String HOST = "pid:[4026531836]";
    private static final String CONTAINER = "pid:[4026532801]";

    @TempDir
    Path directory;

    private UserSettings on(String namespace, Backend backend, String... settings) {
        new FakeProc(directory).self(namespace);
        return new UserSettings(Settings.of(AgentKeys.ALL, settings), backend, new HostProcesses(directory));
    }

    @Test
    void processesAreNamedOnTheHostWithoutASetting() {
        UserSettings here = on(HOST, Backend.NVML);

        assertThat(here.needProcesses()).isTrue();
        assertThat(here.inWords()).isEqualTo("users of GPUs: processes by /proc");
    }

    @Test
    void inAContainerWithPidsOfItsOwnTheyAreNotAndTheLogSaysWhy() {
        UserSettings inside = on(CONTAINER, Backend.NVML);

        assertThat(inside.needProcesses()).isFalse();
        assertThat(inside.inWords())
                .startsWith("users of GPUs are not named; processes are not, because")
                .endsWith("run it on the host, or with hostPID");
        assertThatCode(inside::check).doesNotThrowAnyException();
    }

    @Test
    void theSettingOutweighsTheNamespace() {
        assertThat(on(CONTAINER, Backend.NVML, "agent.processes=true").needProcesses())
                .isTrue();
    }

    @Test
    void processesMayBeLeftOut() {
        UserSettings without = on(HOST, Backend.NVML, "agent.processes=false");

        assertThat(without.needProcesses()).isFalse();
        assertThat(without.inWords()).isEqualTo("users of GPUs are not named");
    }

    @Test
    void slurmNeedsProcessesAlsoWhereTheyAreNotNamed() {
        UserSettings slurm = on(CONTAINER, Backend.NVML, "agent.slurm=true");

        assertThat(slurm.needProcesses()).isTrue();
        assertThat(slurm.inWords()).startsWith("users of GPUs: Slurm jobs by control groups; processes are not");
    }

    @Test
    void aBackendWithoutProcessesNamesNone() {
        UserSettings exporter = on(HOST, Backend.DCGM);

        assertThat(exporter.needProcesses()).isFalse();
        assertThat(exporter.inWords()).isEqualTo("users of GPUs: labels of the exporter");
        assertThatThrownBy(() -> new UserSettings(
                                Settings.of(AgentKeys.ALL, "agent.processes=true"),
                                Backend.DCGM,
                                new HostProcesses(directory))
                        .check())
                .isInstanceOf(SettingsException.class)
                .hasMessage(
                        "agent.processes is true, but agent.backend is dcgm, which does not report the processes of GPUs. Use the nvml backend, or leave agent.processes out.");
    }

    @Test
    void aSystemWithoutProcNamesNone() {
        var here = new HostProcesses(directory.resolve("none"));

        assertThat(new UserSettings(Settings.of(AgentKeys.ALL), Backend.NVML, here).needProcesses())
                .isFalse();
        assertThatThrownBy(
                        () -> new UserSettings(Settings.of(AgentKeys.ALL, "agent.processes=true"), Backend.NVML, here)
                                .check())
                .isInstanceOf(SettingsException.class)
                .hasMessageContaining("has no /proc");
    }
}
