package io.lendstream.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.simulator.workload.Workload;
import io.lendstream.simulator.workload.Workloads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DeadlineArrivalsTest {
    private static final DomainId DOMAIN = new DomainId("replay");

    @ParameterizedTest
    @ValueSource(ints = {59, 60, 61, 120})
    void aJobThatCannotMeetItsDeadlineIsRefusedAlsoWhereItArrivesAtTheTimeOfAPlan(int second, @TempDir Path folder)
            throws IOException {
        Path jobs = Files.writeString(folder.resolve("jobs.csv"), """
                job,submitSeconds,gpus,runSeconds,deadline,deadlineKind
                before,%d,1,3600,,
                late,%d,1,1800,%d,hard
                """.formatted(second - 30, second, second + 540));
        Workload workload = Workloads.load(jobs.toString(), Scene.of(DOMAIN, 1, 8, 0));

        Replayed replayed = Replay.run(
                workload, ReplaySettings.of("deepboot", true, true, new SimulatedNodes.Layout(DOMAIN, 2, 4, 2, 1)));

        List<String> answers = replayed.outcome().decisions().stream()
                .filter(decision -> decision.reason().is(ReasonCode.ADMISSION))
                .map(decision -> decision.reason().text())
                .toList();
        assertThat(answers).hasSize(1).first().asString().startsWith("late is refused: it cannot end by its deadline");
    }
}
