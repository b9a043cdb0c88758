package io.lendstream.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.Granularity;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.simulator.results.RunOutcome;
import io.lendstream.simulator.results.Summary;
import io.lendstream.simulator.workload.Demand;
import io.lendstream.simulator.workload.ModelTruth;
import io.lendstream.simulator.workload.Request;
import io.lendstream.simulator.workload.ServiceLoad;
import io.lendstream.simulator.workload.TrainingTask;
import io.lendstream.simulator.workload.Workload;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReplayTest {
    private static final DomainId DOMAIN = new DomainId("replay");
    private static final Instant START = Workload.EPOCH;
    private static final SimulatedNodes.Layout FOUR_NODES = new SimulatedNodes.Layout(DOMAIN, 4, 2, 2, 1);

    /** Six jobs on four training GPUs, beside a service whose demand rises in the second half hour. */
    private static Workload anHour() {
        List<TrainingTask> tasks =
                IntStream.range(0, 6).mapToObj(ReplayTest::job).toList();
        List<Double> demand = IntStream.range(0, 60)
                .mapToObj(minute -> minute < 30 ? 12.0 : 50.0)
                .toList();
        ServiceLoad rates = new ServiceLoad(
                service("chat", 20, Optional.empty()),
                new Demand.Rates(START, Duration.ofMinutes(1), demand, .002, .05));
        List<Request> requests = IntStream.range(0, 100)
                .mapToObj(i -> new Request("r" + i, START.plusSeconds(31L * i + 3), Duration.ofSeconds(2 + i % 5)))
                .toList();
        ServiceLoad single =
                new ServiceLoad(service("vision", .2, Optional.of(1)), new Demand.Requests(requests, START));
        return new Workload("hour", START, tasks, List.of(rates, single));
    }

    private static TrainingTask job(int number) {
        BatchRange batch = new BatchRange(128, 4096, 32, 1024, Optional.empty());
        ThroughputParameters speed = new ThroughputParameters(0.02, 0.0006, 0.05, 0.002, 0.012, 0.001, 2);
        List<GradientNoise> noise = List.of(new GradientNoise(1, 20), new GradientNoise(1, 60));
        TrainingJob job = new TrainingJob(
                new JobId("job-" + number),
                DOMAIN,
                START.plusSeconds(40L * number + 10),
                "vision",
                new TrainingJob.Scaling(2, 1, 8, true),
                TrainingJob.Precedence.USUAL,
                new TrainingJob.Traits(
                        batch,
                        new GoodputProfile(speed, noise.get(0)),
                        new RescaleCosts(Duration.ofSeconds(20), Duration.ofSeconds(3))),
                "simulated",
                Optional.empty());
        return new TrainingTask(job, new ModelTruth(speed, noise, batch, 20_000 + 4_000 * number));
    }

    private static InferenceService service(String name, double capacity, Optional<Integer> concurrency) {
        return new InferenceService(
                new ServiceId(name),
                DOMAIN,
                START,
                List.of(name),
                Duration.ofSeconds(15),
                capacity,
                concurrency,
                0,
                Duration.ofSeconds(8));
    }

    @Test
    void aReplayThatDoesNotEndNamesTheJobsThatAreRefused() {
        QueueId queue = new QueueId("team-a");
        ClusterQueue tooSmall = new ClusterQueue(
                queue, DOMAIN, START, Optional.empty(), 1, List.of(KindQuota.of(Optional.empty(), 0.5)));
        TrainingTask refused = new TrainingTask(job(0).job().in(queue), job(0).truth());
        Workload workload = new Workload("refused", START, List.of(refused), List.of(), List.of(tooSmall));
        ReplaySettings settings = ReplaySettings.of("deepboot", true, true, FOUR_NODES);

        assertThatThrownBy(() -> Replay.run(workload, settings))
                .hasMessageContaining("is not over 120 days after its last arrival")
                .hasMessageEndingWith("; refused, because their queue or the nodes can never hold them: job-0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"deepboot", "lendstream"})
    void equalInputsGiveEqualLogsAndDecisions(String policy) {
        ReplaySettings settings = ReplaySettings.of(policy, true, true, FOUR_NODES);

        Replayed first = Replay.run(anHour(), settings);
        Replayed second = Replay.run(anHour(), settings);

        assertThat(second.log()).isEqualTo(first.log());
        assertThat(second.outcome().decisions()).isEqualTo(first.outcome().decisions());
        assertThat(second.outcome().results().jobs())
                .isEqualTo(first.outcome().results().jobs());
    }

    @ParameterizedTest
    @ValueSource(strings = {"deepboot", "lendstream"})
    void everyPromiseIsKeptAndEverythingGetsDone(String policy) {
        Replayed replayed = Replay.run(anHour(), ReplaySettings.of(policy, true, true, FOUR_NODES));

        RunOutcome outcome = replayed.outcome();
        assertThat(HistoryChecker.check(DOMAIN, replayed.log(), outcome.decisions(), replayed.leases())
                        .violations())
                .isEmpty();
        Summary summary = Summary.of(outcome);
        assertThat(summary.jobs().completed()).isEqualTo(6);
        assertThat(outcome.results().requests()).hasSize(100);
        assertThat(summary.gpuUtilization()).isBetween(.1, 1.0);
        assertThat(summary.requests().sloAttainment().orElseThrow()).isGreaterThan(.95);
    }

    @ParameterizedTest
    @ValueSource(strings = {"deepboot", "lendstream", "lyra"})
    void nodesAreLentAsAWhole(String policy) {
        ReplaySettings settings = ReplaySettings.of(policy, true, true, FOUR_NODES)
                .withAbilities(Abilities.USUAL.withGranularity(Granularity.NODE));

        Replayed replayed = Replay.run(anHour(), settings);

        RunOutcome outcome = replayed.outcome();
        assertThat(HistoryChecker.check(DOMAIN, replayed.log(), outcome.decisions(), replayed.leases())
                        .violations())
                .isEmpty();
        assertThat(Summary.of(outcome).jobs().completed()).isEqualTo(6);
        assertThat(replayed.log())
                .anyMatch(event -> event.event().asDescription().isPresent());
    }

    @Test
    void aReplayThatIsBrokenOffIsTheStartOfTheWholeOne() {
        ReplaySettings settings = ReplaySettings.of("deepboot", true, true, FOUR_NODES);
        Instant end = START.plus(Duration.ofMinutes(20));

        Replayed part = Replay.run(anHour(), settings.until(end));
        Replayed whole = Replay.run(anHour(), settings);

        assertThat(part.outcome().results().now()).isEqualTo(end);
        assertThat(part.log()).isNotEmpty();
        assertThat(whole.log().subList(0, part.log().size() - 1))
                .isEqualTo(part.log().subList(0, part.log().size() - 1));
        assertThat(part.outcome().results().jobs())
                .anyMatch(job -> job.completed().isEmpty());
    }

    @Test
    void lendingShortensJobs() {
        Summary with = Summary.of(Replay.run(anHour(), ReplaySettings.of("deepboot", true, true, FOUR_NODES))
                .outcome());
        Summary without = Summary.of(Replay.run(anHour(), ReplaySettings.of("no-lending", true, true, FOUR_NODES))
                .outcome());

        assertThat(with.lending().loans()).isPositive();
        assertThat(with.lending().reclaims()).isPositive();
        assertThat(with.lending().gpuHours()).isPositive();
        assertThat(without.run().policy()).isEqualTo("no-lending");
        assertThat(without.run().lending()).isFalse();
        assertThat(without.lending().loans()).isZero();
        assertThat(without.lending().gpuHours()).isZero();
        assertThat(with.jobs().jctSeconds().mean())
                .isLessThan(without.jobs().jctSeconds().mean());
    }

    @Test
    void reportAndSummaryAgreeOnTheGpuHoursLent() {
        Replayed run = Replay.run(anHour(), ReplaySettings.of("deepboot", true, true, FOUR_NODES));

        assertThat(run.facts().loans().gpuHours())
                .isPositive()
                .isEqualTo(Summary.of(run.outcome()).lending().gpuHours());
    }

    @Test
    void namesThePoliciesThatThereAre() {
        ReplaySettings settings = ReplaySettings.of("magic", true, true, FOUR_NODES);

        assertThatThrownBy(() -> Replay.run(anHour(), settings)).hasMessageContaining("there is no policy 'magic'");
    }

    @Test
    void requestsThatWaitComeBeforeExpectedOnes() {
        SimulatedNodes.Layout layout = new SimulatedNodes.Layout(new DomainId("replay"), 2, 2, 1, 1);

        assertThat(ReplaySettings.of("lendstream", true, true, layout)
                        .scheduler()
                        .toMap())
                .containsEntry("waiting-first", "true");
    }
}
