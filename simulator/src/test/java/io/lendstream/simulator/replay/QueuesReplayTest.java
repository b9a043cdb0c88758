package io.lendstream.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.simulator.Distribution;
import io.lendstream.simulator.results.RunOutcome;
import io.lendstream.simulator.workload.Presets;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.simulator.workload.Workload;
import io.lendstream.simulator.workload.Workloads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Queues get their nominal quota within a notice of asking, under policies that do not know them. */
class QueuesReplayTest {
    private static final DomainId DOMAIN = new DomainId("replay");

    private static Replayed replay(Workload workload, String policy) {
        Replayed replayed = Replay.run(
                workload,
                ReplaySettings.of(
                        policy,
                        true,
                        true,
                        new SimulatedNodes.Layout(DOMAIN, 4, 4, 4, 1).with(Presets.topology("teams"))));
        assertThat(HistoryChecker.check(
                                DOMAIN, replayed.log(), replayed.outcome().decisions(), replayed.leases())
                        .violations())
                .isEmpty();
        return replayed;
    }

    private static Workload some(int jobs, boolean queues) {
        Workload teams = Presets.create("teams", Scene.of(DOMAIN, 1, 16, 0));
        return new Workload(
                "some", teams.start(), teams.tasks().subList(0, jobs), List.of(), queues ? teams.queues() : List.of());
    }

    @ParameterizedTest
    @ValueSource(strings = {"deepboot", "tiresias"})
    void aQueueWaitsForItsNominalQuotaForANoticeAtMost(String policy) {
        Replayed replayed = replay(some(60, true), policy);

        assertThat(replayed.outcome().decisions())
                .anyMatch(decision -> decision.reason().is(ReasonCode.QUOTA)
                        && decision.reason().numbers().containsKey("usedOfOther"));
        assertThat(replayed.outcome().decisions())
                .as("a job that gives up GPUs names its queue")
                .anyMatch(decision -> decision.reason().text().contains("queue batch has no share left for "));
        Distribution waits = replayed.outcome().queueWaits().orElseThrow();
        assertThat(waits.count()).isGreaterThan(0);
        assertThat(waits.max()).isLessThanOrEqualTo((double)
                SchedulerSettings.DEFAULTS.notice().toSeconds());
    }

    @Test
    void anAskThatIsNotMetWaitsUntilTheEndOfTheRun(@TempDir Path folder) throws IOException {
        Path jobs = Files.writeString(
                folder.resolve("jobs.csv"),
                "job,submitSeconds,gpus,runSeconds,queue\nlong,0,16,90000,\nown,120,4,60,team-a\n");
        Path queues = Files.writeString(folder.resolve("queues.csv"), "queue,nominalQuota\nteam-a,8\nteam-b,4\n");
        Workload workload = Workloads.load(jobs + "," + queues, Scene.of(DOMAIN, 1, 16, 0));
        ReplaySettings settings = ReplaySettings.of(
                        "deepboot", true, true, new SimulatedNodes.Layout(DOMAIN, 4, 4, 4, 1))
                .until(workload.start().plusSeconds(123));

        RunOutcome outcome = Replay.run(workload, settings).outcome();
        Distribution waits = outcome.queueWaits().orElseThrow();
        Map<String, Distribution> byQueue = outcome.waitsByQueue();

        assertThat(waits.count()).isEqualTo(1);
        assertThat(waits.max()).isEqualTo(3);
        assertThat(byQueue.get("team-a").max()).isEqualTo(3);
        assertThat(byQueue.get("team-b").count()).isZero();
    }

    @Test
    void withoutQueuesThereAreNoWaitsForThem() {
        assertThat(replay(some(5, false), "deepboot").outcome().queueWaits()).isEmpty();
    }
}
