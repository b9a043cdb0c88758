package io.lendstream.simulator.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.event.TopologyWish;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.simulated.SimulatedGpu;
import io.lendstream.core.simulated.SimulatedTopology;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PresetsTest {
    private static Scene scene(long seed) {
        return Scene.of(new DomainId("test"), seed, 16, 32);
    }

    @ParameterizedTest
    @ValueSource(strings = {"day", "smooth", "web", "switching"})
    void equalSeedsGiveEqualWorkloadsAndOthersDoNot(String name) {
        assertThat(Presets.create(name, scene(7))).isEqualTo(Presets.create(name, scene(7)));
        assertThat(Presets.create(name, scene(7))).isNotEqualTo(Presets.create(name, scene(8)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"day", "smooth", "web", "switching"})
    void peakDemandTakesMostOfTheInferencePoolAndLeavesMuchOfItIdleOtherwise(String name) {
        for (long seed = 1; seed <= 10; seed++) {
            double[] replicas = replicasNeeded(Presets.create(name, scene(seed)));

            double peak = 0;
            double sum = 0;
            for (double needed : replicas) {
                peak = Math.max(peak, needed);
                sum += needed;
            }
            assertThat(peak / 32).isBetween(.6, .9);
            assertThat(1 - sum / replicas.length / 32).as("share idle").isBetween(.3, .85);
        }
    }

    private static double[] replicasNeeded(Workload workload) {
        double[] replicas = new double[24 * 60];
        for (ServiceLoad load : workload.loads()) {
            Demand.Rates rates = (Demand.Rates) load.demand();
            for (int minute = 0; minute < replicas.length; minute++) {
                replicas[minute] += rates.at(workload.start().plus(Duration.ofMinutes(minute)))
                        / load.service().replicaCapacityPerSecond();
            }
        }
        return replicas;
    }

    @Test
    void smoothServicesHaveThePeakAndTroughOfTheirModel() {
        Workload smooth = Presets.create("smooth", scene(3));

        for (ServiceLoad load : smooth.loads()) {
            Demand.Rates rates = (Demand.Rates) load.demand();
            double least =
                    rates.perSecond().stream().mapToDouble(rate -> rate).min().orElseThrow();
            assertThat(rates.peak() / rates.mean()).isBetween(1.6, 3.2);
            assertThat(rates.peak() / least).isBetween(4.0, 14.0);
        }
    }

    @Test
    void theQueueHasFortyToEightyJobsOfSeveralKinds() {
        for (long seed = 1; seed <= 10; seed++) {
            Workload day = Presets.create("day", scene(seed));

            assertThat(day.tasks()).hasSizeBetween(40, 80);
            assertThat(day.tasks().stream()
                            .map(task -> task.job().application())
                            .distinct())
                    .hasSizeGreaterThanOrEqualTo(4);
            assertThat(day.lastTrainingArrival().orElseThrow())
                    .isBefore(day.start().plus(Duration.ofHours(16)));
        }
    }

    @Test
    void heteroHasJobsThatDeclareTheirSpeedOnThreeKinds() {
        Workload hetero = Presets.create("hetero", scene(3));

        assertThat(hetero.loads()).isEmpty();
        assertThat(hetero.tasks()).hasSize(80).allSatisfy(task -> {
            assertThat(task.job().kindNeeds().profileKind()).contains(SimulatedGpu.T4.kind());
            assertThat(task.job().kindNeeds().kindTraits())
                    .hasSize(2)
                    .allSatisfy(traits ->
                            assertThat(traits.ratio().orElseThrow().factor()).isEqualTo(task.speedOn(traits.kind())));
            assertThat(task.speedOn(SimulatedGpu.T4.kind())).isEqualTo(1);
        });
        assertThat(hetero).isEqualTo(Presets.create("hetero", scene(3)));
    }

    @Test
    void heteroJobsSynchroniseByTheLinksOfEachKind() {
        TrainingTask bert = Presets.create("hetero", scene(3)).tasks().stream()
                .filter(task -> task.job().application().equals("bert"))
                .findFirst()
                .orElseThrow();
        StepTime onT4 = new StepTime(1.55, 0.45);

        assertThat(bert.stepOn(SimulatedGpu.T4.kind(), onT4, 2)).isEqualTo(onT4);
        assertThat(bert.stepOn(SimulatedGpu.RTX6000.kind(), onT4, 1).syncSeconds())
                .isCloseTo(0.75, within(1e-9));
        assertThat(bert.stepOn(SimulatedGpu.A100.kind(), onT4, 1).seconds())
                .isCloseTo(1.1 / 5.5 + 0.45 / 5.5, within(1e-9));
        assertThat(bert.stepOn(SimulatedGpu.A100.kind(), onT4, 2).seconds()).isCloseTo(0.2 + 0.005, within(1e-9));
    }

    @Test
    void heteroHasThreeKindsOfNodes() {
        assertThat(Presets.kinds("hetero", 16))
                .isEqualTo(Map.of(SimulatedGpu.T4, 6, SimulatedGpu.RTX6000, 6, SimulatedGpu.A100, 4));
        assertThat(Presets.kinds("hetero", 3))
                .isEqualTo(Map.of(SimulatedGpu.T4, 1, SimulatedGpu.RTX6000, 1, SimulatedGpu.A100, 1));
        assertThat(Presets.kinds("day", 16)).isEmpty();
        assertThatThrownBy(() -> Presets.kinds("hetero", 2)).hasMessageContaining("needs at least 3 nodes");
    }

    @Test
    void teamsHaveQuotasThatMakeUpTheClusterAndGangsThatFitThem() {
        Workload teams = Presets.create("teams", scene(3));

        assertThat(teams.queues())
                .extracting(queue -> queue.queue().value())
                .containsExactly("batch", "research", "speech", "vision");
        assertThat(teams.queues().stream()
                        .mapToDouble(queue -> queue.quotas().get(0).nominalQuota())
                        .sum())
                .isEqualTo(48);
        assertThat(teams.tasks())
                .hasSize(120)
                .allSatisfy(task -> assertThat(task.job().queue()).isPresent());
        assertThat(teams).isEqualTo(Presets.create("teams", scene(3)));
    }

    @Test
    void teamsHaveGangsOnOneNodeAndNearEachOther() {
        List<TrainingJob> gangs = Presets.create("teams", scene(3)).tasks().stream()
                .map(TrainingTask::job)
                .filter(job -> job.shape().gang())
                .toList();

        assertThat(gangs).hasSizeGreaterThan(20).allSatisfy(job -> {
            assertThat(job.scaling().elastic()).isFalse();
            assertThat(job.scaling().requestedGpus()).isGreaterThan(1);
        });
        assertThat(gangs.stream().map(job -> job.shape().topology().orElseThrow()))
                .contains(
                        new TopologyWish(TopologyLevel.NODE, true),
                        new TopologyWish(TopologyLevel.NVLINK_DOMAIN, false),
                        new TopologyWish(TopologyLevel.RACK, false));
        assertThat(gangs.stream().filter(job -> job.shape().required().isPresent()))
                .as("they fit in a node")
                .allMatch(job -> job.scaling().requestedGpus() <= 4);
        assertThat(Presets.topology("teams").labels().rack()).isPresent();
        assertThat(Presets.topology("teams").labels().nvlinkDomain()).isPresent();
        assertThat(Presets.topology("day")).isEqualTo(SimulatedTopology.NONE);
    }

    @Test
    void someJobsOfTeamsHaveSoftDeadlinesAndSomeHardOnes() {
        int hard = 0;
        int soft = 0;
        for (long seed = 1; seed <= 10; seed++) {
            for (TrainingTask task : Presets.create("teams", scene(seed)).tasks()) {
                Optional<Instant> deadline = task.job().precedence().deadline();
                deadline.ifPresent(at -> assertThat(at).isAfter(task.job().submittedAt()));
                hard += task.job().hardDeadline().isPresent() ? 1 : 0;
                soft += deadline.isPresent() && task.job().hardDeadline().isEmpty() ? 1 : 0;
            }
        }
        assertThat(hard / 1200.0).isCloseTo(0.1, within(0.03));
        assertThat(soft / 1200.0).isCloseTo(0.2, within(0.03));
    }

    @Test
    void llmHasReplicasOfOneTwoFourAndEightGpusThatFitTogether() {
        Workload llm = Presets.create("llm", scene(3));

        assertThat(llm.loads().stream()
                        .flatMap(load -> load.service().hardware().shapes().stream())
                        .map(ReplicaShape::units))
                .containsExactlyInAnyOrder(1, 1, 1, 2, 4, 8, 8);
        assertThat(llm.loads().stream()
                        .flatMap(load -> load.service().hardware().shapes().stream())
                        .map(shape -> shape.starts().cold()))
                .allMatch(cold ->
                        cold.compareTo(Duration.ofSeconds(30)) >= 0 && cold.compareTo(Duration.ofMinutes(5)) <= 0);
        assertThat(llm.loads())
                .anyMatch(load ->
                        load.service().hardware().roles().equals(List.of(ReplicaRole.PREFILL, ReplicaRole.DECODE)));
        assertThat(InferenceNeed.of(llm, 32).exceeds()).isFalse();
        assertThat(llm).isEqualTo(Presets.create("llm", scene(3)));
        assertThatThrownBy(() -> Presets.create("llm", Scene.of(new DomainId("test"), 1, 16, 24)))
                .hasMessageContaining("preset llm needs at least 25 inference GPUs, but there are 24");
    }

    @Test
    void namesThePresetsThereAre() {
        assertThatThrownBy(() -> Presets.create("year", scene(1)))
                .hasMessage(
                        "there is no preset 'year'; presets are [day, smooth, web, switching, week, hetero, teams, llm]");
    }
}
