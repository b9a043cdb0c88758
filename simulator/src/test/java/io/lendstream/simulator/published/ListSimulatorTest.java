package io.lendstream.simulator.published;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.PolicyInfo;
import io.lendstream.core.policy.ats.ReclaimsByLeastLoss;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.simulator.JobResult;
import io.lendstream.simulator.replay.Replay;
import io.lendstream.simulator.replay.ReplaySettings;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.simulator.workload.Workload;
import io.lendstream.simulator.workload.Workloads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ListSimulatorTest {
    private static final int START = 10;

    @TempDir
    private Path directory;

    /** A policy as it is, but that it never says how long its plan holds. */
    private record Restless(Policy policy) implements ReclaimsByLeastLoss {
        @Override
        public PolicyInfo info() {
            return policy.info();
        }

        @Override
        public Duration planEvery() {
            return policy.planEvery();
        }

        @Override
        public Plan plan(ClusterView cluster) {
            Plan plan = policy.plan(cluster);
            return new Plan(plan.targets(), plan.reasons(), plan.standings(), plan.left(), Optional.empty());
        }

        @Override
        public String spec() {
            return policy.spec();
        }
    }

    /** A list whose lines are seconds of submission, seconds of training and GPUs. */
    private Workload list(int[]... jobs) throws IOException {
        StringBuilder text = new StringBuilder("timestamp,duration,num_gpus,gpu_time,cluster\n");
        Instant begin = Instant.parse("2017-10-03T00:00:00Z");
        for (int[] job : jobs) {
            String time = begin.plusSeconds(job[0]).toString().replace('T', ' ').replace("Z", "");
            text.append("%s,%d.0,%d,%d,c\n".formatted(time, job[1], job[2], job[1] * job[2]));
        }
        Path file = Files.writeString(directory.resolve("list.csv"), text);
        return Workloads.load(file.toString(), Scene.of(new DomainId("test"), 1, 8, 0));
    }

    private static List<JobResult> run(Workload list, Policy policy, int nodes, int gpusPerNode) {
        PublishedSettings settings = new PublishedSettings(
                nodes, gpusPerNode, policy, PublishedSettings.Timing.DEEPBOOT, false, true, false, 1);
        return ListSimulator.run(list, settings).runs().stream()
                .map(run -> run.result(list.start()))
                .toList();
    }

    private static long second(Workload list, Optional<Instant> time) {
        return Duration.between(list.start(), time.orElseThrow()).toSeconds();
    }

    @Test
    void aJobStartsAtATickPausesTrainsAndLeavesItsGpusToTheNextTick() throws IOException {
        Workload list = list(new int[] {0, 100, 1}, new int[] {30, 50, 1});

        List<JobResult> jobs = run(list, Policies.parse("tiresias"), 1, 1);

        assertThat(jobs).extracting(job -> second(list, job.started())).containsExactly(60L, 180L);
        assertThat(jobs)
                .extracting(job -> second(list, job.completed()))
                .containsExactly(60L + START + 100, 180L + START + 50);
        assertThat(jobs).extracting(JobResult::gpuSeconds).containsExactly(110.0, 60.0);
    }

    @Test
    void aJobThatWasServedLongWaitsForNewcomersAndGoesOnAfterThem() throws IOException {
        Workload list = list(new int[] {0, 7200, 2}, new int[] {4000, 600, 1});

        List<JobResult> jobs = run(list, Policies.parse("tiresias:demote-gpu-hours=1"), 1, 2);

        JobResult suspended = jobs.get(0);
        assertThat(second(list, jobs.get(1).started())).isEqualTo(4020);
        assertThat(suspended.restarts()).isEqualTo(1);
        assertThat(suspended.gpuSeconds()).isEqualTo(2 * (7200 + 2 * START));
        // It stood still from the newcomer's start to the tick after its end.
        assertThat(second(list, suspended.completed())).isEqualTo(60 + START + 7200 + (4680 - 4020) + START);
    }

    @Test
    void minutesInWhichAPlanHoldsMayBePassedOver() throws IOException {
        for (int seed = 1; seed <= 20; seed++) {
            Workload list = list(random(seed));
            for (String policy : List.of("tiresias", "tiresias:demote-gpu-hours=0.5", "tiresias:demote-gpu-hours=8")) {
                Policy parsed = Policies.parse(policy);

                assertThat(run(list, parsed, 3, 4))
                        .as("%s with seed %d", policy, seed)
                        .isEqualTo(run(list, new Restless(parsed), 3, 4));
            }
        }
    }

    @Test
    void everyJobGetsItsGpusForItsTime() throws IOException {
        for (String policy : List.of("tiresias", "deepboot", "clairvoyant", "lendstream")) {
            Workload list = list(random(7));

            List<JobResult> jobs = run(list, Policies.parse(policy), 3, 4);

            for (int i = 0; i < jobs.size(); i++) {
                JobResult job = jobs.get(i);
                int gpus = list.tasks().get(i).job().scaling().requestedGpus();
                double trained = list.tasks().get(i).truth().totalProgress();
                double paused = job.gpuSeconds() / gpus - trained;
                assertThat(paused).as("%s %s", policy, job).isBetween(1.0, (1.0 + job.restarts()) * START);
            }
        }
    }

    @Test
    void comesCloseToTheReplayThatDecidesAsInProduction() throws IOException {
        Workload list = list(random(3));
        SimulatedNodes.Layout layout = new SimulatedNodes.Layout(new DomainId("test"), 3, 4, 3, 1);
        List<JobResult> decided = Replay.run(list, ReplaySettings.of("tiresias", true, false, layout))
                .outcome()
                .results()
                .jobs();

        assertThat(average(run(list, Policies.parse("tiresias"), 3, 4)) / average(decided))
                .isBetween(0.95, 1.05);
    }

    private static double average(List<JobResult> jobs) {
        return jobs.stream()
                .mapToLong(job -> job.completionTime().orElseThrow().toSeconds())
                .average()
                .orElseThrow();
    }

    private static int[][] random(int seed) {
        Random random = new Random(seed);
        int[][] jobs = new int[60][];
        for (int i = 0; i < jobs.length; i++) {
            jobs[i] = new int[] {
                random.nextInt(40_000), 1 + (int) Math.exp(2 + 7 * random.nextDouble()), 1 + random.nextInt(6)
            };
        }
        return jobs;
    }

    @Test
    void aWorkloadThatCannotBePlayedIsReported() throws IOException {
        Workload list = list(new int[] {0, 100, 5});

        assertThatThrownBy(() -> run(list, Policies.parse("tiresias"), 1, 4))
                .hasMessage("job c-000001 asks for 5 GPUs, but there are 4 for training");
    }
}
