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
        RunOutcome outcome = listed(
                folder,
                "job,submitSeconds,gpus,runSeconds,queue\nlong,0,16,90000,\nown,120,4,60,team-a\n",
                "queue,nominalQuota\nteam-a,8\nteam-b,4\n",
                123);
        Distribution waits = outcome.queueWaits().orElseThrow();
        Map<String, Distribution> byQueue = outcome.waitsByQueue();

        assertThat(waits.count()).isEqualTo(1);
        assertThat(waits.max()).isEqualTo(3);
        assertThat(byQueue.get("team-a").max()).isEqualTo(3);
        assertThat(byQueue.get("team-b").count()).isZero();
    }

    @Test
    void aGangAsksForItsNominalQuotaIfANodeCanGiveIt(@TempDir Path folder) throws IOException {
        String jobs = "job,submitSeconds,gpus,runSeconds,queue,gang,topology\nlong,0,16,90000,batch,true,\n"
                + "own,120,4,60,team-a,true,node:required\n";
        String queues = "queue,nominalQuota,cohort\nteam-a,16,all\nbatch,0,all\n";

        Distribution waits = listed(folder, jobs, queues, 1000).queueWaits().orElseThrow();

        assertThat(waits.count()).isEqualTo(1);
        assertThat(waits.max()).isBetween(1.0, (double)
                SchedulerSettings.DEFAULTS.notice().toSeconds());
    }

    @Test
    void aGangThatFitsItsQuotaButNoNodeDoesNotAsk(@TempDir Path folder) throws IOException {
        StringBuilder jobs = new StringBuilder("job,submitSeconds,gpus,runSeconds,queue,gang,topology\n");
        for (int node = 0; node < 4; node++) {
            jobs.append("long-%d,0,3,90000,,true,node:required\n".formatted(node));
        }
        jobs.append("own,120,4,60,team-a,true,node:required\n");

        RunOutcome outcome = listed(folder, jobs.toString(), "queue,nominalQuota\nteam-a,8\n", 1000);

        assertThat(outcome.results().jobs())
                .filteredOn(job -> job.job().value().startsWith("long"))
                .hasSize(4)
                .allMatch(job -> job.started().isPresent());
        assertThat(outcome.queueWaits().orElseThrow().count()).isZero();
    }

    /** The outcome of jobs and queues in lists on 16 GPUs after some seconds. */
    private static RunOutcome listed(Path folder, String jobs, String queues, int seconds) throws IOException {
        Path jobList = Files.writeString(folder.resolve("jobs.csv"), jobs);
        Path queueList = Files.writeString(folder.resolve("queues.csv"), queues);
        Workload workload = Workloads.load(jobList + "," + queueList, Scene.of(DOMAIN, 1, 16, 0));
        ReplaySettings settings = ReplaySettings.of(
                        "deepboot", true, true, new SimulatedNodes.Layout(DOMAIN, 4, 4, 4, 1))
                .until(workload.start().plusSeconds(seconds));
        return Replay.run(workload, settings).outcome();
    }

    @Test
    void withoutQueuesThereAreNoWaitsForThem() {
        assertThat(replay(some(5, false), "deepboot").outcome().queueWaits()).isEmpty();
    }
}
