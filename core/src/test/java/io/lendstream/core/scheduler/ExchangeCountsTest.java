package io.lendstream.core.scheduler;

import static io.lendstream.core.scheduler.Moment.EARLIER;
import static io.lendstream.core.scheduler.Moment.job;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.SlotKnowledge;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;

/** Exchanges of random units of nodes with two kinds, in both pools. */
class ExchangeCountsTest {
    private static final List<String> JOBS = List.of("a", "b", "c");
    private static final List<ServiceId> SERVICES = List.of(new ServiceId("chat"), new ServiceId("search"));
    private static final int SIZE = 8;
    /** With the seeds at least 10,000 exchanges. */
    private static final int EXCHANGES = 500;

    @Seeds(20)
    void noTenantHasMoreOrFewerUnitsOfANodeAndKind(Random random) {
        Moment moment = new Moment().node("t", Pool.TRAINING, SIZE).node("i", Pool.INFERENCE, SIZE);
        JOBS.forEach(name -> moment.job(name, 2 * SIZE));
        moment.set(builder -> occupy(builder, random));
        Map<String, Integer> before = counts(moment);
        int exchanged = 0;
        int refused = 0;

        while (exchanged < EXCHANGES) {
            moment.later(Duration.ofSeconds(1));
            StepBuilder builder = moment.after(Duration.ZERO);
            List<GpuState> units = moment.state().gpus().stream().toList();
            GpuState one = units.get(random.nextInt(units.size()));
            GpuState other = units.get(random.nextInt(units.size()));
            UnitExchange exchange = new UnitExchange(builder);
            if (one.isSlot() && exchange.isAllowed(one, other, builder.now())) {
                exchange.exchange(one.gpuId(), other.gpuId());
                exchanged++;
            } else {
                refused++;
            }
            moment.kept(builder);
            assertThat(counts(moment)).isEqualTo(before);
            checkAllocations(moment);
        }

        assertThat(refused).isPositive();
        assertThat(moment.state().gpus().stream().filter(unit -> unit.owner().isQuarantined()))
                .as("units out of service stay so")
                .allMatch(unit -> unit.gpuId().value().endsWith("-g0"));
    }

    /** The first unit of each node is out of service; odd ones are of another kind than even ones. */
    private static void occupy(StepBuilder builder, Random random) {
        Map<String, List<GpuId>> ofJobs = new TreeMap<>();
        for (GpuState unit : builder.gpus().stream().toList()) {
            GpuId id = unit.gpuId();
            int number = Integer.parseInt(id.value().substring(id.value().indexOf("-g") + 2));
            builder.put(unit.of(Optional.of(new KindId(number % 2 == 0 ? "A100" : "L4"))));
            builder.own(id, owner(unit.pool(), number, random));
            builder.gpu(id)
                    .owner()
                    .holder()
                    .ifPresent(tenant -> builder.put(builder.gpu(id)
                            .placed(Optional.of(
                                    random.nextInt(4) == 0
                                            ? SlotKnowledge.named(Optional.of("pod-" + id))
                                            : SlotKnowledge.slot(Optional.of("pod-" + id))))));
            builder.gpu(id)
                    .owner()
                    .holdingJob()
                    .ifPresent(name -> ofJobs.computeIfAbsent(name.value(), any -> new ArrayList<>())
                            .add(id));
        }
        ofJobs.forEach((name, gpus) -> builder.put(builder.jobs()
                .require(new JobId(name))
                .allocated(
                        new Allocation(gpus, 64, 0, 1, Mechanism.AFE),
                        Optional.empty(),
                        EARLIER,
                        builder.now(),
                        builder.now())
                .aiming(gpus)));
    }

    private static Owner owner(Pool pool, int number, Random random) {
        if (number == 0) {
            return new Owner.Quarantined("by the test");
        }
        JobId borrower = new JobId(JOBS.get(random.nextInt(JOBS.size())));
        ServiceId service = SERVICES.get(random.nextInt(SERVICES.size()));
        return switch (random.nextInt(4)) {
            case 0 -> new Owner.Free();
            case 1 ->
                new Owner.Binding(
                        pool == Pool.TRAINING ? new Tenant.Job(borrower) : new Tenant.Service(service),
                        EARLIER,
                        Moment.NOW.plusSeconds(3600),
                        Optional.empty(),
                        1);
            default ->
                pool == Pool.TRAINING
                        ? new Owner.Training(borrower)
                        : random.nextBoolean()
                                ? new Owner.Lent(borrower, EARLIER, Moment.NOW.plusSeconds(3600))
                                : new Owner.Serving(service);
        };
    }

    /** Units by node, kind, pool and owner. */
    private static Map<String, Integer> counts(Moment moment) {
        Map<String, Integer> counts = new TreeMap<>();
        for (GpuState unit : moment.state().gpus().values()) {
            String like = "%s %s %s: %s %s"
                    .formatted(
                            unit.nodeId(),
                            unit.kind().map(KindId::value).orElse(""),
                            unit.pool(),
                            unit.owner().label(),
                            unit.owner().holder().map(Tenant::toString).orElse("nothing"));
            counts.merge(like, 1, Integer::sum);
        }
        return counts;
    }

    private static void checkAllocations(Moment moment) {
        for (String name : JOBS) {
            List<GpuId> held = moment.state().gpus().stream()
                    .filter(unit -> unit.isHeldBy(job(name)))
                    .map(GpuState::gpuId)
                    .sorted()
                    .toList();
            assertThat(moment.jobState(name).allocation().gpus()).isEqualTo(held);
            assertThat(moment.jobState(name).target()).isEqualTo(held);
        }
    }
}
