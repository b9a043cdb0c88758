package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.core.decision.DecisionId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The state of a job with which another node process can take it over; replaced atomically. The fields of {@link
 * LastChange} and {@link Membership} are fields of the file itself.
 *
 * @param batching the job's batching after the last change
 * @param applied the job's current batching
 * @param machines the part of the job that is about other machines; absent if it has none
 */
record JobFile(
        String job,
        Program program,
        List<WantedSlot> wanted,
        Batching batching,
        Batching applied,
        @JsonUnwrapped LastChange lastChange,
        List<Release> releases,
        List<WorkerEntry> workers,
        @JsonUnwrapped Membership membership,
        @Nullable Machines machines) {
    private static final ObjectMapper JSON = new ObjectMapper()
            .setDefaultPropertyInclusion(JsonInclude.Include.NON_NULL)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

    record Program(
            JobProgram.Mode mode,
            List<String> command,
            List<String> launcher,
            Map<String, String> environment,
            String directory,
            int maxRestarts,
            long graceMillis) {
        static Program of(JobProgram p) {
            return new Program(
                    p.mode(),
                    p.command(),
                    p.launcher(),
                    p.environment(),
                    p.directory(),
                    p.maxRestarts(),
                    p.grace().toMillis());
        }

        JobProgram program() {
            return new JobProgram(
                    mode, command, launcher, environment, directory, maxRestarts, Duration.ofMillis(graceMillis));
        }
    }

    /**
     * The last change of the job's slots.
     *
     * @param change ID of the decision
     * @param askedNanos when it arrived, by {@link System#nanoTime}
     * @param settled whether it is in force
     * @param stopping whether it ends the job
     */
    record LastChange(String change, long askedNanos, boolean settled, boolean stopping) {}

    /**
     * The workers that train together, for a job that changes in place.
     *
     * @param epoch number of groups that the job has had
     * @param members workers of the group
     * @param pending the next group, if its workers may already be changing to it
     */
    record Membership(
            long epoch, List<String> members, @Nullable Pending pending) {}

    /**
     * What is known of the other machines of a job.
     *
     * @param world the machines over which it is to train; absent if only on this one
     * @param runs the decision whose world the workers are part of; absent if they are part of none
     * @param finished whether workers of that world have ended with 0
     */
    record Machines(@Nullable WorldPart world, @Nullable String runs, boolean finished) {
        static @Nullable Machines of(Optional<WorldPart> world, Optional<DecisionId> runs, boolean finished) {
            return world.isEmpty() && runs.isEmpty()
                    ? null
                    : new Machines(
                            world.orElse(null), runs.map(DecisionId::toString).orElse(null), finished);
        }
    }

    /** The machines over which the job is to train; empty if only on this one. */
    Optional<WorldPart> world() {
        return Optional.ofNullable(machines).flatMap(known -> Optional.ofNullable(known.world()));
    }

    /** The decision whose world the workers are part of; empty if they are part of none. */
    Optional<DecisionId> runs() {
        return Optional.ofNullable(machines)
                .flatMap(known -> Optional.ofNullable(known.runs()))
                .map(DecisionId::parse);
    }

    /** Whether workers of that world have ended with 0. */
    boolean finished() {
        return machines != null && machines.finished();
    }

    record WantedSlot(String gpu, String device, String addedBy, boolean bound) {}

    record Release(String gpu, String device, String change, long askedNanos) {}

    record WorkerEntry(String name, String token, String cause, List<WorkerSlot> slots) {}

    record WorkerSlot(String gpu, String device) {}

    record Pending(long epoch, String kind, List<String> members, boolean wholeChange) {}

    static JobFile read(Path file) {
        try {
            return JSON.readValue(file.toFile(), JobFile.class);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "%s cannot be read; end the job's processes and remove it".formatted(file), e);
        }
    }

    void write(Path file) {
        Path fresh = file.resolveSibling(file.getFileName() + ".new");
        try {
            PrivateFiles.empty(fresh);
            JSON.writeValue(fresh.toFile(), this);
            Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + file, e);
        }
    }
}
