package io.lendstream.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.JobPhase;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.simulator.JobResult;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.simulator.workload.Workload;
import io.lendstream.simulator.workload.Workloads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A replay of jobs some of which are gangs. */
class GangsReplayTest {
    private static final DomainId DOMAIN = new DomainId("replay");

    @TempDir
    private Path folder;

    @Test
    void gangsTrainToTheirEnd() throws IOException {
        Path jobs = Files.writeString(folder.resolve("jobs.csv"), """
                job,submitSeconds,gpus,runSeconds,gang
                a,0,8,900,true
                b,60,4,600,true
                c,120,2,600,false
                """);
        Workload workload = Workloads.load(jobs.toString(), Scene.of(DOMAIN, 1, 8, 4));

        Replayed replayed = Replay.run(
                workload, ReplaySettings.of("deepboot", true, true, new SimulatedNodes.Layout(DOMAIN, 3, 4, 2, 1)));

        assertThat(HistoryChecker.check(
                                DOMAIN, replayed.log(), replayed.outcome().decisions(), replayed.leases())
                        .violations())
                .isEmpty();
        assertThat(replayed.outcome().results().jobs())
                .extracting(JobResult::phase)
                .hasSize(3)
                .containsOnly(JobPhase.FINISHED);
    }
}
