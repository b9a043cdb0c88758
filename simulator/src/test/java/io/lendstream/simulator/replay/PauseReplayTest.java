package io.lendstream.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.simulated.SimulatedHost;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.core.simulated.SimulatedTopology;
import io.lendstream.simulator.JobResult;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.simulator.workload.Workload;
import io.lendstream.simulator.workload.Workloads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A job of the policy with queues gives its GPUs to a shorter one: it is paused, and goes on from host memory. */
class PauseReplayTest {
    private static final DomainId DOMAIN = new DomainId("replay");

    @TempDir
    private Path folder;

    /** A long job has both GPUs of the only node when ten short jobs come. */
    private Replayed replay(boolean suspend) throws IOException {
        StringBuilder lines = new StringBuilder(
                "job,submitSeconds,gpus,runSeconds,pauseSeconds,resumeSeconds,pausedGib\nlong,0,2,14400,5,3,40\n");
        for (int i = 0; i < 10; i++) {
            lines.append("short-%d,%d,2,300,,,\n".formatted(i, 7200 + i));
        }
        Path file = Files.writeString(folder.resolve("jobs.csv"), lines);
        Workload workload = Workloads.load(file.toString(), Scene.of(DOMAIN, 1, 2, 0));
        SimulatedNodes.Layout layout = new SimulatedNodes.Layout(DOMAIN, 1, 2, 1, 1)
                .with(SimulatedTopology.NONE.with(SimulatedHost.of(16, 128L << 30)));
        return Replay.run(
                workload,
                ReplaySettings.of("tiresias:demote-gpu-hours=2", true, false, layout)
                        .withAbilities(Abilities.USUAL.withSuspend(suspend)));
    }

    private static boolean pauses(Replayed replayed) {
        return replayed.log().stream()
                .anyMatch(event -> event.event() instanceof TrainingProgress said && said.phase() == JobPhase.PAUSED);
    }

    private static double seconds(Replayed replayed) {
        JobResult job = replayed.outcome().results().jobs().stream()
                .filter(each -> each.job().value().equals("long"))
                .findFirst()
                .orElseThrow();
        return job.completed().orElseThrow().toEpochMilli() / 1000.0
                - job.submitted().toEpochMilli() / 1000.0;
    }

    @Test
    void aPreemptedJobIsPausedAndResumesFaster() throws IOException {
        Replayed with = replay(true);
        Replayed without = replay(false);

        assertThat(HistoryChecker.check(DOMAIN, with.log(), with.outcome().decisions(), with.leases())
                        .violations())
                .isEmpty();
        assertThat(pauses(with)).isTrue();
        assertThat(pauses(without)).isFalse();
        assertThat(with.outcome().decisions())
                .anyMatch(decision -> decision.action()
                        .jobChange()
                        .filter(change -> change.allocation().mechanism() == Mechanism.PAUSE
                                && !change.allocation().gpus().isEmpty())
                        .isPresent());
        assertThat(seconds(with)).isLessThan(seconds(without));
    }
}
