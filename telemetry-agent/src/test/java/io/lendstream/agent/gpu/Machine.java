package io.lendstream.agent.gpu;

import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A machine that the double of NVML plays, as the lines of its script. A line of a GPU begins with a space; words are
 * those that {@code read_gpu_line} in {@code machine.c} knows, numbers are in NVML's units.
 */
final class Machine {
    private static final long GIB = 1L << 30;
    private static final long MIB = 1L << 20;
    private static final Map<Integer, Integer> KIND_OF_SLICES = Map.of(1, 0, 2, 1, 3, 2, 4, 3, 7, 4);

    private final List<String> lines = new ArrayList<>();
    private int xids;

    private Machine(String driver) {
        lines.add("driver " + driver);
    }

    static Machine withDriver(String version) {
        return new Machine(version);
    }

    static Machine thatCannotBeInitialised(int code) {
        return new Machine("0").line("initError " + code);
    }

    private Machine line(String line) {
        lines.add(line);
        return this;
    }

    /** A GPU; lines that follow are about it. */
    Machine gpu(String uuid, String name, int major, int gib) {
        int number =
                (int) lines.stream().filter(line -> line.startsWith("gpu ")).count();
        return line("gpu " + uuid)
                .line(" name " + name)
                .line(" pci 00000000:%02X:00.0".formatted(7 + 8 * number))
                .line(" capability %d 0".formatted(major))
                .line(" memory %d %d %d".formatted(gib * GIB, 600 * MIB, 2048 * MIB));
    }

    /** What a healthy GPU of a data centre tells. */
    Machine healthy() {
        return has("power 143250")
                .has("energy 9876543210")
                .has("temperature 41")
                .has("memoryTemperature 47")
                .has("clocks 1410 1593")
                .has("reasons 0x4")
                .has("ecc 3 0");
    }

    Machine has(String what) {
        return line(" " + what);
    }

    /** A call on this GPU that fails. */
    Machine fails(String function, int code) {
        return has("error %s %d".formatted(function, code));
    }

    Machine inMigMode(MigGpu kind) {
        has("mig 1 1");
        for (MigProfile profile : kind.profiles()) {
            boolean isDouble = profile.computeSlices() == 1 && profile.memorySlices() == 2;
            int slot = profile.hasMediaEngines() ? 7 : isDouble ? 9 : KIND_OF_SLICES.get(profile.computeSlices());
            has("profile %d %d %d %d %d %d %d %s %s"
                    .formatted(
                            slot,
                            profile.id(),
                            profile.computeSlices(),
                            profile.most(),
                            profile.sms().orElse(0),
                            Math.round(profile.memoryGib().orElse(0) * 1024),
                            profile.memorySlices(),
                            profile.name(),
                            profile.starts().stream().map(String::valueOf).collect(Collectors.joining(" "))));
        }
        return this;
    }

    /** An instance with a compute instance as large as it. */
    Machine instance(MigGpu kind, int id, String profile, int start, String uuid, String activity) {
        MigProfile of = kind.profile(profile).orElseThrow();
        long bytes = Math.round(of.memoryGib().orElseThrow() * GIB);
        return has("instance %d 0 %d %d %d %s %d %d %s"
                .formatted(id, of.id(), start, of.memorySlices(), uuid, bytes, 37 * MIB, activity));
    }

    /** An XID error that happens when the double first reads it, if a listener exists at that time. */
    Machine xid(int gpu, int number) {
        return line("xid %d %d %d".formatted(++xids, gpu, number));
    }

    Machine xidOfInstance(int gpu, int number, int instance) {
        return line("xid %d %d %d %d".formatted(++xids, gpu, number, instance));
    }

    Machine whereEachCallTakes(int milliseconds) {
        return line("sleep " + milliseconds);
    }

    String script() {
        return String.join("\n", lines) + "\n";
    }
}
