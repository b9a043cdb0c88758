package io.lendstream.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.NodeFacts;
import io.lendstream.service.settings.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostProbeTest {
    @TempDir
    Path proc;

    @Test
    void readsProcessorsAndMemoryOfTheKernel() throws IOException {
        Files.writeString(
                proc.resolve("cpuinfo"),
                "processor\t: 0\nmodel name\t: a processor: fast\n\nprocessor\t: 1\nmodel name\t: b\n");
        Files.writeString(proc.resolve("meminfo"), "MemTotal:       16777216 kB\nMemFree:         1024 kB\n");

        assertThat(new HostProbe(proc).cpus()).contains(2);
        assertThat(new HostProbe(proc).memoryBytes()).contains(16L << 30);
    }

    @Test
    void settingsReplaceWhatTheKernelReports() throws IOException {
        Files.writeString(proc.resolve("cpuinfo"), "processor\t: 0\n");
        Files.writeString(proc.resolve("meminfo"), "MemTotal: 1024 kB\n");
        HostProbe probe = new HostProbe(proc);

        NodeFacts known = probe.facts(settings("agent.labels=rack=r1"));
        assertThat(known).isEqualTo(new NodeFacts(Map.of("rack", "r1"), Optional.of(1000L), Optional.of(1L << 20)));
        assertThat(probe.facts(settings("agent.cpus=64", "agent.host-memory=512GiB")))
                .isEqualTo(new NodeFacts(Map.of(), Optional.of(64_000L), Optional.of(512L << 30)));
        assertThat(probe.facts(settings("agent.cpus=0", "agent.host-memory=0B")))
                .isEqualTo(NodeFacts.NONE);
        assertThat(HostProbe.declared(settings())).isEqualTo(NodeFacts.NONE);
    }

    private static Settings settings(String... settings) {
        return Settings.of(AgentKeys.ALL, settings);
    }

    @Test
    void knowsNothingWhereTheFilesAreMissingOrOfAnotherForm() throws IOException {
        assertThat(new HostProbe(proc).cpus()).isEmpty();
        assertThat(new HostProbe(proc).memoryBytes()).isEmpty();

        Files.writeString(proc.resolve("meminfo"), "MemTotal: plenty\n");

        assertThat(new HostProbe(proc).memoryBytes()).isEmpty();
    }
}
