package io.lendstream.core.simulated;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.actuation.Holding;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.fixtures.ClosedLoop;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.core.state.GpuState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/** A scheduler and an actuator in a cluster in which a device plugin picks the GPUs. */
class DevicePluginTest {
    private static final int SECONDS = 1500;

    private long sequence;

    @Seeds(20)
    void numbersOfEachNodeFollowWhatReallyRuns(Random random) {
        DevicePlugin plugin = new DevicePlugin(random, random.nextBoolean());
        ClosedLoop loop = new ClosedLoop(
                new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS),
                new SimulatedNodes.Layout(Scenario.DOMAIN, 3, 4, 1, 7),
                SimulatedDelays.realistic(),
                plugin);
        Scenario records = Scenario.of("deepboot");
        loop.tell(records.serviceRecord("chat", 1));
        loop.tell(records.serviceRecord("search", 1));
        loop.tell(records.jobRecord("a", 4, true));
        loop.tell(records.jobRecord("b", 6, true));
        int compared = 0;

        for (int second = 0; second < SECONDS; second++) {
            if (second % 15 == 0) {
                loop.tell(rate(loop, "chat", 5 + random.nextInt(30)));
                loop.tell(rate(loop, "search", random.nextInt(20)));
            }
            if (second % 60 == 59) {
                loop.stock();
            }
            loop.second();
            compared += compare(loop, plugin);
        }

        assertThat(compared).as("nodes at rest").isGreaterThan(SECONDS / 10);
        assertThat(loop.state().gpus().stream().filter(unit -> unit.owner().isQuarantined()))
                .isEmpty();
        assertThat(loop.verdict().violations()).isEmpty();
    }

    private RequestRate rate(ClosedLoop loop, String service, double perSecond) {
        return new RequestRate(
                new ServiceId(service),
                Scenario.DOMAIN,
                "gateway",
                "boot-1",
                ++sequence,
                loop.now().minusSeconds(15),
                loop.now(),
                RequestRate.Requests.answered(Math.round(perSecond * 15)),
                RequestRate.Latency.NOT_MEASURED,
                List.of(),
                List.of());
    }

    /** Compares the nodes on which nothing changes; how many they are. */
    private static int compare(ClosedLoop loop, DevicePlugin plugin) {
        Map<NodeId, List<GpuState>> nodes = new HashMap<>();
        loop.state().gpus().stream()
                .forEach(unit -> nodes.computeIfAbsent(unit.nodeId(), any -> new ArrayList<>())
                        .add(unit));
        Set<GpuId> changing = new HashSet<>();
        for (Holding holding : loop.holdings()) {
            if (holding.phase() != Holding.Phase.BOUND) {
                changing.add(holding.gpu());
            }
        }
        int compared = 0;
        for (List<GpuState> units : nodes.values()) {
            boolean isAtRest =
                    units.stream().noneMatch(unit -> unit.owner().isInTransfer() || changing.contains(unit.gpuId()));
            if (isAtRest) {
                compared++;
                Map<Tenant, Integer> decided = new HashMap<>();
                Map<Tenant, Integer> running = new HashMap<>();
                for (GpuState unit : units) {
                    unit.owner().holder().ifPresent(tenant -> decided.merge(tenant, 1, Integer::sum));
                    Optional.ofNullable(plugin.tenants().get(unit.gpuId()))
                            .ifPresent(tenant -> running.merge(tenant, 1, Integer::sum));
                }
                assertThat(running).as("%s at %s", units, loop.now()).isEqualTo(decided);
            }
        }
        return compared;
    }
}
