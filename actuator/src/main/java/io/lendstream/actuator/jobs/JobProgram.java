package io.lendstream.actuator.jobs;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * How a job's worker processes are started and resized.
 *
 * @param command the program and its arguments, not interpreted by a shell; in mode {@code TORCHRUN} only the script
 *     and its arguments
 * @param launcher in mode {@code TORCHRUN} the command that starts torchrun, such as {@code [python3, -m,
 *     torch.distributed.run]}
 * @param environment variables in addition to the inherited ones ({@link CleanEnvironment})
 * @param maxRestarts how often failed workers are restarted
 * @param grace how long a worker may take to write a checkpoint after SIGTERM, if it is restarted
 */
public record JobProgram(
        Mode mode,
        List<String> command,
        List<String> launcher,
        Map<String, String> environment,
        String directory,
        int maxRestarts,
        Duration grace) {
    /** How a job changes its GPUs. */
    public enum Mode {
        /** In place, with the package {@code lendstream_afe}. */
        AFE,
        /** By ending torchrun and starting it again for exactly the new number of workers. */
        TORCHRUN,
        /** By ending all workers and starting the new number, with torchrun's environment but without torchrun. */
        RESTART
    }

    public JobProgram {
        command = List.copyOf(command);
        launcher = List.copyOf(launcher);
        environment = Map.copyOf(environment);
        if (command.isEmpty() || (mode == Mode.TORCHRUN && launcher.isEmpty())) {
            throw new IllegalArgumentException("a job in mode %s needs a command%s"
                    .formatted(mode, mode == Mode.TORCHRUN ? " and a launcher" : ""));
        }
        if (maxRestarts < 0 || grace.isNegative()) {
            throw new IllegalArgumentException(
                    "restarts and grace must be at least 0, but are %d and %s".formatted(maxRestarts, grace));
        }
    }

    /** A program with three restarts, thirty seconds of grace and no environment of its own. */
    public static JobProgram of(Mode mode, List<String> command, Path directory) {
        List<String> launcher = mode == Mode.TORCHRUN ? List.of("python3", "-m", "torch.distributed.run") : List.of();
        return new JobProgram(mode, command, launcher, Map.of(), directory.toString(), 3, Duration.ofSeconds(30));
    }

    /** This program, changed by restarts. */
    JobProgram restarting() {
        return new JobProgram(Mode.RESTART, command, launcher, environment, directory, maxRestarts, grace);
    }

    /** This program with further variables. */
    public JobProgram with(Map<String, String> more) {
        Map<String, String> all = new TreeMap<>(environment);
        all.putAll(more);
        return new JobProgram(mode, command, launcher, all, directory, maxRestarts, grace);
    }
}
