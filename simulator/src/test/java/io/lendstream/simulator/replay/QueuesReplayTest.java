package io.lendstream.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.simulator.Distribution;
import io.lendstream.simulator.results.RunOutcome;
import io.lendstream.simulator.workload.Presets;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.simulator.workload.TrainingTask;
import io.lendstream.simulator.workload.Workload;
import io.lendstream.simulator.workload.Workloads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Queues get their nominal quota within a notice of asking, under policies that do not know them. */
class QueuesReplayTest {
    private static final DomainId DOMAIN = new DomainId("replay");
    private static final int NODE_GPUS = 4;
    private static final int FEW_NODES = 4;
    /** Jobs up to about the time when the last team begins. */
    private static final int SOME = 60;

    private static final int ALL = 120;

    private static Replayed replay(Workload workload, String policy, int nodes) {
        Replayed replayed = Replay.run(
                workload,
                ReplaySettings.of(
                        policy,
                        true,
                        true,
                        new SimulatedNodes.Layout(DOMAIN, nodes, NODE_GPUS, nodes, 1).with(Presets.topology("teams"))));
        assertThat(HistoryChecker.check(
                                DOMAIN, replayed.log(), replayed.outcome().decisions(), replayed.leases())
                        .violations())
                .isEmpty();
        return replayed;
    }

    private static Workload teams(long seed, int jobs, int nodes) {
        Workload teams = Presets.create("teams", Scene.of(DOMAIN, seed, nodes * NODE_GPUS, 0));
        return new Workload("some", teams.start(), teams.tasks().subList(0, jobs), List.of(), teams.queues());
    }

    /** The jobs that took GPUs of other jobs for the nominal quota of their queue. */
    private static List<TrainingJob> claimants(Workload workload, Replayed replayed) {
        List<String> claims = replayed.outcome().decisions().stream()
                .map(Decision::reason)
                .filter(reason ->
                        reason.is(ReasonCode.QUOTA) && reason.numbers().containsKey("usedOfOther"))
                .map(Reason::text)
                .toList();
        return workload.tasks().stream()
                .map(TrainingTask::job)
                .filter(job -> claims.stream().anyMatch(text -> text.contains(": %s of queue ".formatted(job.job()))))
                .toList();
    }

    /** Replays some jobs of teams, and finds that no queue waited longer than a notice for its nominal quota. */
    private static Replayed inTime(String policy, long seed, int jobs, int nodes) {
        Workload workload = teams(seed, jobs, nodes);

        Replayed replayed = replay(workload, policy, nodes);

        List<TrainingJob> claimants = claimants(workload, replayed);
        Distribution waits = replayed.outcome().queueWaits().orElseThrow();
        System.out.printf(
                "teams, %s, seed %d: %d jobs claimed GPUs of others, %d of them gangs; %.0f waits, the longest %.1f s%n",
                policy,
                seed,
                claimants.size(),
                claimants.stream().filter(job -> job.shape().gang()).count(),
                waits.count(),
                waits.max());
        assertThat(claimants)
                .as("gangs that claim GPUs of others")
                .anyMatch(job -> job.shape().gang());
        assertThat(waits.count()).isGreaterThan(0);
        assertThat(waits.max()).isLessThanOrEqualTo((double)
                SchedulerSettings.DEFAULTS.notice().toSeconds());
        return replayed;
    }

    @ParameterizedTest
    @CsvSource({
        "deepboot, 1",
        "deepboot, 2",
        "lendstream, 1",
        "lendstream, 2",
        "tiresias, 1",
        "tiresias, 2",
        "tiresias, 3",
        "pollux, 2"
    })
    void aQueueWaitsForItsNominalQuotaForANoticeAtMost(String policy, long seed) {
        assertThat(inTime(policy, seed, SOME, FEW_NODES).outcome().decisions())
                .as("a job that gives up GPUs names its queue")
                .anyMatch(decision -> decision.reason().text().contains("queue batch has no share left for "));
    }

    /** In the last case a job with a hard deadline waits for other jobs under a policy that plans each minute. */
    @Tag("long")
    @ParameterizedTest
    @CsvSource({"deepboot, 1, 4", "lendstream, 2, 4", "pollux, 3, 4", "tiresias, 1, 16"})
    void soItDoesWhenAllTeamsWork(String policy, long seed, int nodes) {
        Map<String, Distribution> waits =
                inTime(policy, seed, ALL, nodes).outcome().waitsByQueue();

        assertThat(waits.get("speech").count()).as("the last team to begin").isGreaterThan(0);
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
        String jobs = """
                job,submitSeconds,gpus,runSeconds,queue,gang,topology
                long,0,16,90000,batch,true,
                own,120,4,60,team-a,true,node:required
                """;
        String queues = """
                queue,nominalQuota,cohort
                team-a,16,all
                batch,0,all
                """;

        Distribution waits = listed(folder, jobs, queues, 1000).queueWaits().orElseThrow();

        assertThat(waits.count()).isEqualTo(1);
        assertThat(waits.max())
                .isBetween(1.0, (double) SchedulerSettings.DEFAULTS.notice().toSeconds());
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
        Workload teams = teams(1, 5, FEW_NODES);
        Workload none = new Workload("none", teams.start(), teams.tasks(), List.of());

        assertThat(replay(none, "deepboot", FEW_NODES).outcome().queueWaits()).isEmpty();
    }
}
