package io.lendstream.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.simulated.SimulatedDelays;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Replays in which a device plugin picks the GPUs of each node, and agents show which. */
class SlotsReplayTest {
    private static final int CASES = 4;

    static Stream<String> policies() {
        return Policies.all().stream().map(Policy::spec);
    }

    private static RandomCase drawn(String policy, int number) {
        return RandomCase.of(policy, 3_000_017L * policy.hashCode() + number);
    }

    private static ReplaySettings picked(RandomCase drawn) {
        return drawn.settings()
                .withAbilities(RandomCase.PICKED)
                .withDelays(SimulatedDelays.realistic())
                .withOutages(Outages.NONE);
    }

    @ParameterizedTest
    @MethodSource("policies")
    void historiesAreCleanAndNumbersOfEachNodeAreThoseThatRun(String policy) {
        int compared = 0;
        for (int i = 0; i < CASES; i++) {
            RandomCase drawn = drawn(policy, i);
            Replayed replayed = Replay.run(drawn.workload(), picked(drawn));

            assertThat(HistoryChecker.check(
                                    RandomCase.DOMAIN,
                                    replayed.log(),
                                    replayed.outcome().decisions(),
                                    replayed.leases())
                            .violations())
                    .isEmpty();
            assertThat(replayed.outcome().results().jobs())
                    .allSatisfy(job -> assertThat(job.completed()).isPresent());
            compared += compared(replayed);
        }
        assertThat(compared).as("nodes at rest").isGreaterThan(20);
    }

    /** Compares the users that agents show with the owners, on nodes without a transfer; how many there are. */
    private static int compared(Replayed replayed) {
        Scheduler scheduler =
                Scheduler.of((SchedulerStarted) replayed.log().get(0).event());
        ClusterState state = ClusterState.empty(RandomCase.DOMAIN);
        int compared = 0;
        for (DomainEvent event : replayed.log()) {
            Step step = scheduler.step(state, event);
            state = step.state();
            if (event.event() instanceof GpuTelemetry sample) {
                List<GpuState> units = units(state, sample.nodeId());
                if (units.stream().noneMatch(unit -> unit.owner().isInTransfer())) {
                    assertThat(decided(units))
                            .as("%s at %s", sample.nodeId(), sample.at())
                            .isEqualTo(running(sample));
                    compared++;
                }
            }
            assertThat(step.state().gpus().stream().filter(unit -> unit.owner().isQuarantined()))
                    .isEmpty();
        }
        return compared;
    }

    private static List<GpuState> units(ClusterState state, NodeId node) {
        return state.gpus().stream().filter(unit -> unit.nodeId().equals(node)).toList();
    }

    private static Map<String, Integer> decided(List<GpuState> units) {
        Map<String, Integer> counts = new TreeMap<>();
        for (GpuState unit : units) {
            unit.owner().holder().map(SlotsReplayTest::name).ifPresent(name -> counts.merge(name, 1, Integer::sum));
        }
        return counts;
    }

    private static String name(Tenant tenant) {
        return tenant.match(Tenant.Cases.of(
                job -> job.job().value(), service -> service.service().value()));
    }

    /** The tenants of a node by the users that its agent shows, such as {@code kubernetes/default/job-1-7/main}. */
    private static Map<String, Integer> running(GpuTelemetry sample) {
        Map<String, Integer> counts = new TreeMap<>();
        for (GpuSample gpu : sample.gpus()) {
            for (String user : gpu.usedBy().orElse(List.of())) {
                String pod = user.split("/", -1)[2];
                counts.merge(pod.substring(0, pod.lastIndexOf('-')), 1, Integer::sum);
            }
        }
        return counts;
    }

    @Test
    void ownersOfGpusAreExchanged() {
        long exchanges = 0;
        for (int i = 0; i < CASES; i++) {
            RandomCase drawn = drawn("deepboot", i);
            Replayed replayed = Replay.run(drawn.workload(), picked(drawn));
            exchanges += exchanges(replayed);
        }
        assertThat(exchanges).isPositive();
    }

    /** Owners that changed because an agent showed a tenant on another GPU. */
    private static long exchanges(Replayed replayed) {
        Scheduler scheduler =
                Scheduler.of((SchedulerStarted) replayed.log().get(0).event());
        ClusterState state = ClusterState.empty(RandomCase.DOMAIN);
        long changed = 0;
        for (DomainEvent event : replayed.log()) {
            ClusterState before = state;
            state = scheduler.step(state, event).state();
            if (event.event() instanceof GpuTelemetry sample) {
                for (GpuSample gpu : sample.gpus()) {
                    changed += state.gpus()
                                    .require(gpu.gpuId())
                                    .owner()
                                    .holder()
                                    .equals(before.gpus()
                                            .require(gpu.gpuId())
                                            .owner()
                                            .holder())
                            ? 0
                            : 1;
                }
            }
        }
        return changed;
    }

    @Test
    void equalInputsGiveEqualHistories() {
        RandomCase drawn = drawn("deepboot", 1);

        Replayed first = Replay.run(drawn.workload(), picked(drawn));
        Replayed second = Replay.run(drawn.workload(), picked(drawn));

        assertThat(second.log()).isEqualTo(first.log());
        assertThat(second.outcome().decisions()).isEqualTo(first.outcome().decisions());
    }
}
