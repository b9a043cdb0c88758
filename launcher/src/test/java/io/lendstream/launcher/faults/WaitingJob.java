package io.lendstream.launcher.faults;

import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.JobId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;

/** A job that does nothing but wait for a signal to end. */
final class WaitingJob {
    private WaitingJob() {}

    /**
     * The job.
     *
     * @param most GPUs that it takes
     */
    static TrainingJob of(JobId name, Instant submitted, int most, String driver) {
        return new TrainingJob(
                name,
                Site.DOMAIN,
                submitted,
                "waiting",
                new TrainingJob.Scaling(1, 1, most, true),
                TrainingJob.Precedence.USUAL,
                Site.TRAITS,
                driver,
                Optional.empty());
    }

    /**
     * Writes its program, which prints its process id.
     *
     * @return the directory of programs
     */
    static Path programs(Path parent, Path pid) throws IOException {
        Path programs = parent.resolve("programs");
        Files.createDirectories(programs.resolve("jobs"));
        Files.writeString(programs.resolve("jobs").resolve("waiting.json"), """
                {"mode": "restart", "command": ["sh", "-c", "echo $$ > %s; exec sleep 3600"], "directory": "%s", "graceSeconds": 2}
                """.formatted(pid, parent));
        return programs;
    }
}
