package io.lendstream.agent;

import io.lendstream.core.event.NodeFacts;
import io.lendstream.service.settings.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The CPU and host memory of a machine with Linux, as its kernel reports them. They are not known where the files are
 * missing or have another form.
 *
 * @param proc the directory {@code /proc}
 */
record HostProbe(Path proc) {
    /** This machine. */
    static final HostProbe LOCAL = new HostProbe(Path.of("/proc"));

    private static final int MILLIS_PER_CPU = 1000;
    private static final Pattern MEMORY = Pattern.compile("MemTotal:\\s+(\\d{1,15}) kB");
    private static final Pattern PROCESSOR = Pattern.compile("processor\\s*:.*");

    /** The facts of the settings, with the CPU and host memory that the settings or this machine have. */
    NodeFacts facts(Settings settings) {
        return facts(
                settings,
                settings.get(AgentKeys.CPUS).or(this::cpus),
                settings.get(AgentKeys.HOST_MEMORY).or(this::memoryBytes));
    }

    /** The facts of the settings alone: they are about another machine than this one. */
    static NodeFacts declared(Settings settings) {
        return facts(settings, settings.get(AgentKeys.CPUS), settings.get(AgentKeys.HOST_MEMORY));
    }

    private static NodeFacts facts(Settings settings, Optional<Integer> cpus, Optional<Long> memory) {
        return NodeLabels.of(settings)
                .withHost(
                        cpus.filter(count -> count > 0).map(count -> (long) count * MILLIS_PER_CPU),
                        memory.filter(bytes -> bytes > 0));
    }

    /** The number of processors; empty if it is not known. */
    Optional<Integer> cpus() {
        int count = (int) lines("cpuinfo").stream()
                .filter(line -> PROCESSOR.matcher(line).matches())
                .count();
        return count > 0 ? Optional.of(count) : Optional.empty();
    }

    /** The memory of the machine; empty if it is not known. */
    Optional<Long> memoryBytes() {
        return lines("meminfo").stream()
                .map(MEMORY::matcher)
                .filter(Matcher::matches)
                .map(line -> Long.parseLong(line.group(1)) << 10)
                .findFirst();
    }

    private List<String> lines(String file) {
        try {
            return Files.readAllLines(proc.resolve(file));
        } catch (IOException e) {
            return List.of();
        }
    }
}
