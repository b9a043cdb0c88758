package io.lendstream.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
    void knowsNothingWhereTheFilesAreMissingOrOfAnotherForm() throws IOException {
        assertThat(new HostProbe(proc).cpus()).isEmpty();
        assertThat(new HostProbe(proc).memoryBytes()).isEmpty();

        Files.writeString(proc.resolve("meminfo"), "MemTotal: plenty\n");

        assertThat(new HostProbe(proc).memoryBytes()).isEmpty();
    }
}
