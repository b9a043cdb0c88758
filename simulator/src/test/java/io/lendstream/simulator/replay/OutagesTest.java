package io.lendstream.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.simulator.JobResult;
import io.lendstream.simulator.replay.Outages.Outage;
import io.lendstream.simulator.workload.Demand;
import io.lendstream.simulator.workload.Request;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.simulator.workload.ServiceLoad;
import io.lendstream.simulator.workload.Workload;
import io.lendstream.simulator.workload.Workloads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutagesTest {
    private static final DomainId DOMAIN = new DomainId("replay");
    private static final Instant START = Workload.EPOCH;
    /** Nodes 0 and 1 are training's, 2 and 3 inference's. */
    private static final SimulatedNodes.Layout FOUR_NODES = new SimulatedNodes.Layout(DOMAIN, 4, 2, 2, 1);

    @TempDir
    private Path directory;

    private static Instant at(double seconds) {
        return START.plusMillis(Math.round(1000 * seconds));
    }

    private Workload jobs(boolean elastic, String... lines) throws IOException {
        Path file = directory.resolve("jobs.csv");
        Files.writeString(file, "job,submitSeconds,gpus,runSeconds,application,outcome,crashAtShare\n");
        Files.write(file, List.of(lines), java.nio.file.StandardOpenOption.APPEND);
        return Workloads.load(file.toString(), Scene.of(DOMAIN, 1, 4, 4).withElasticLists(elastic));
    }

    private static ReplaySettings settings(Outage... outages) {
        return ReplaySettings.of("no-lending", false, true, FOUR_NODES).withOutages(Outages.of(List.of(outages)));
    }

    private static Outage outage(String node, double from, double to) {
        return new Outage(new NodeId(node), at(from), at(to));
    }

    private static Replayed replay(Workload workload, ReplaySettings settings) {
        Replayed replayed = Replay.run(workload, settings);
        assertThat(HistoryChecker.check(
                                DOMAIN, replayed.log(), replayed.outcome().decisions(), replayed.leases())
                        .violations())
                .isEmpty();
        return replayed;
    }

    private static JobResult only(Replayed replayed) {
        assertThat(replayed.outcome().results().jobs()).hasSize(1);
        return replayed.outcome().results().jobs().get(0);
    }

    @Test
    void anInventoryMissesASilentNodeUntilItIsBack() throws IOException {
        Replayed replayed = replay(jobs(false, "a,0,2,7000,,,"), settings(outage("node-03", 1000, 2000)));

        List<Instant> samples = replayed.log().stream()
                .map(DomainEvent::event)
                .filter(GpuTelemetry.class::isInstance)
                .map(GpuTelemetry.class::cast)
                .filter(sample -> sample.nodeId().equals(new NodeId("node-03")))
                .map(GpuTelemetry::at)
                .toList();
        assertThat(samples).noneMatch(at -> at.isAfter(at(1000)) && at.isBefore(at(2000)));
        assertThat(samples).anyMatch(at -> at.isAfter(at(2000)));
        assertThat(replayed.log())
                .filteredOn(event -> event.event() instanceof NodeLeft)
                .extracting(DomainEvent::at)
                .containsExactly(at(1060));
    }

    @Test
    void aRigidJobGoesBackToItsCheckpointAndStartsAgainElsewhere() throws IOException {
        Workload one = jobs(false, "a,0,2,7000,,,");
        Replayed calm = replay(one, settings());
        Replayed replayed = replay(one, settings(outage("node-00", 3000, 90_000)));

        // The last checkpoint was at most 10 minutes old, the node was missed after one, and a start takes 10 s.
        Duration later = Duration.between(
                only(calm).completed().orElseThrow(), only(replayed).completed().orElseThrow());
        assertThat(later).isBetween(Duration.ofSeconds(60), Duration.ofSeconds(600 + 60 + 60 + 30));
        assertThat(only(replayed).restarts()).isPositive();
        List<Decision> lost = replayed.outcome().decisions().stream()
                .filter(decision -> decision.reason().code().equals("lost"))
                .toList();
        assertThat(lost)
                .singleElement()
                .satisfies(decision -> assertThat(decision.at()).isEqualTo(at(3060)));
    }

    @Test
    void anElasticJobShrinksToWhatItHasLeft() throws IOException {
        Replayed replayed = replay(jobs(true, "a,0,4,20000,,,"), settings(outage("node-01", 3000, 90_000)));

        assertThat(replayed.log().stream()
                        .map(DomainEvent::event)
                        .filter(TrainingProgress.class::isInstance)
                        .map(TrainingProgress.class::cast)
                        .filter(said ->
                                said.phase() == JobPhase.RUNNING && said.at().isAfter(at(3000)))
                        .map(progress -> progress.parallelism().replicas()))
                .isNotEmpty()
                .allMatch(replicas -> replicas <= 2);
        assertThat(only(replayed).completed()).isPresent();
    }

    @Test
    void aJobThatNeedsALostNodeWaitsUntilItIsBack() throws IOException {
        Replayed replayed = replay(jobs(false, "a,0,4,7000,,,"), settings(outage("node-01", 3000, 9000)));

        assertThat(only(replayed).completed().orElseThrow()).isBetween(at(9000 + 7000 - 3000), at(9000 + 7000));
    }

    @Test
    void requestsOfALostReplicaAreAnsweredElsewhere() {
        List<Request> requests = IntStream.range(0, 40)
                .mapToObj(i -> new Request("r" + i, at(30.0 * i + 3), Duration.ofSeconds(25)))
                .toList();
        InferenceService vision = new InferenceService(
                new ServiceId("vision"),
                DOMAIN,
                START,
                List.of("vision"),
                Duration.ofSeconds(60),
                .04,
                Optional.of(1),
                0,
                Duration.ofSeconds(8));
        Workload workload = new Workload(
                "vision", START, List.of(), List.of(new ServiceLoad(vision, new Demand.Requests(requests, START))));
        Replayed replayed = replay(workload, settings(outage("node-02", 500, 2000), outage("node-03", 2100, 9000)));

        assertThat(replayed.outcome().results().requests()).hasSize(40);
    }

    @Test
    void aCrashCostsTheWorkSinceTheLastCheckpointAndARestart() throws IOException {
        Instant calm = only(replay(jobs(false, "a,0,2,7000,,,"), settings()))
                .completed()
                .orElseThrow();
        JobResult crashed = only(replay(jobs(false, "a,0,2,7000,,,0.5"), settings()));

        // Half of 7000 s is 5 checkpoints of 600 s and 500 s more; a start takes 10 s.
        assertThat(crashed.completed()).contains(calm.plusSeconds(500 + 10));
        assertThat(crashed.restarts()).isEqualTo(1);
    }

    @Test
    void aJobThatFailsGivesItsGpusBackAndSaysSo() throws IOException {
        Replayed replayed = replay(jobs(false, "a,0,4,600,,failed,", "b,1,4,600,,killed,"), settings());

        assertThat(replayed.log().stream()
                        .map(DomainEvent::event)
                        .filter(TrainingProgress.class::isInstance)
                        .map(TrainingProgress.class::cast)
                        .map(TrainingProgress::phase)
                        .filter(JobPhase::isOver))
                .containsExactly(JobPhase.FAILED, JobPhase.CANCELLED);
        assertThat(replayed.outcome().results().jobs())
                .extracting(JobResult::phase)
                .containsExactly(JobPhase.FAILED, JobPhase.CANCELLED);
    }

    @Test
    void nodesFailAsOftenAsToldAndEquallyWithEqualSeeds() {
        List<OutageClock.Turn> turns = hundredDays(7);

        // 4 nodes for 2400 h, 11 h a round of 10 h at work and an hour of repair: 873 losses, give or take 3 sigma.
        assertThat(turns.stream().filter(turn -> turn.kind() == OutageClock.Kind.LOST))
                .hasSizeBetween(873 - 90, 873 + 90);
        assertThat(hundredDays(7)).isEqualTo(turns);
        assertThat(hundredDays(8)).isNotEqualTo(turns);
    }

    private static List<OutageClock.Turn> hundredDays(long seed) {
        SimulatedNodes nodes = new SimulatedNodes(FOUR_NODES, START, Duration.ofMinutes(1), "test");
        OutageClock clock = new OutageClock(
                Outages.byChance(Duration.ofHours(10), Duration.ofHours(1)), nodes.inventory(), START, seed);
        Instant end = START.plus(Duration.ofDays(100));
        return java.util.stream.Stream.generate(() -> clock.poll(end))
                .takeWhile(Optional::isPresent)
                .map(Optional::orElseThrow)
                .toList();
    }

    @Test
    void refusesOutagesWithoutEffect() {
        assertThatThrownBy(() -> Outages.of(List.of(outage("node-00", 100, 130))))
                .hasMessageContaining("must begin after the outage before it and last longer than PT1M");
        assertThatThrownBy(() -> Outages.byChance(Duration.ofHours(1), Duration.ofSeconds(30)))
                .hasMessageContaining("the repair longer than PT1M");
    }
}
