package io.lendstream.core.scheduler;

import static io.lendstream.core.fixtures.Scenario.DOMAIN;
import static io.lendstream.core.scheduler.Moment.EARLIER;
import static io.lendstream.core.scheduler.Moment.job;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.UnitPlacement;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Owner;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;

/** Random binds, releases and samples of a device plugin that picks the units itself. */
class UnitExchangeTest {
    private static final List<String> JOBS = List.of("a", "b", "c");
    private static final List<String> NODES = List.of("n", "m");
    private static final int SIZE = 4;

    /** Pods by the unit on which they really run. */
    private record Pod(String job, String user) {}

    private final Map<GpuId, Pod> pods = new TreeMap<>();
    private Moment moment = new Moment();
    private Instant now = Moment.NOW;
    private DecisionId decision = EARLIER;
    private int started;

    @Seeds(300)
    void noTenantGainsOrLosesAUnitByExchanges(Random random) {
        pods.clear();
        started = 0;
        decision = EARLIER;
        now = Moment.NOW;
        moment = new Moment().node("n", Pool.TRAINING, SIZE).node("m", Pool.TRAINING, SIZE);
        JOBS.forEach(name -> moment.job(name, 2 * SIZE));

        for (int i = 0; i < 40; i++) {
            moment.later(ofSeconds(1));
            now = now.plusSeconds(1);
            decision = new DecisionId(EARLIER.domain(), EARLIER.epoch(), EARLIER.sequence() + i);
            String node = NODES.get(random.nextInt(NODES.size()));
            switch (random.nextInt(3)) {
                case 0 -> bind(node, random);
                case 1 -> release(node, random);
                default -> sample(node);
            }
            check();
        }
        NODES.forEach(this::sample);
        check();
        checkPlaces();
    }

    private void bind(String node, Random random) {
        List<GpuId> free = new ArrayList<>();
        for (GpuState unit : units(node)) {
            if (unit.isFree()) {
                free.add(unit.gpuId());
            }
        }
        List<GpuId> empty = new ArrayList<>();
        for (GpuState unit : units(node)) {
            if (!pods.containsKey(unit.gpuId())) {
                empty.add(unit.gpuId());
            }
        }
        if (free.isEmpty()) {
            return;
        }
        String name = JOBS.get(random.nextInt(JOBS.size()));
        GpuId named = free.get(random.nextInt(free.size()));
        GpuId actual = empty.get(random.nextInt(empty.size()));
        Pod pod = new Pod(name, "pod-" + started++);
        moment.set(builder -> {
            builder.own(named, new Owner.Binding(job(name), decision, now.plusSeconds(30), Optional.empty(), 1));
            allocate(builder, name, named, true);
        });
        if (random.nextInt(4) == 0) {
            sample(node); // it may exchange the owner that is binding
        }
        pods.put(actual, pod);
        Optional<String> user = Optional.of(pod.user());
        report(
                Outcome.BOUND,
                name,
                named,
                random.nextBoolean() ? UnitPlacement.on(actual, named, user) : UnitPlacement.unknown(named, user));
    }

    private void release(String node, Random random) {
        List<GpuState> up = new ArrayList<>();
        for (GpuState unit : units(node)) {
            if (unit.owner().isUp()) {
                up.add(unit);
            }
        }
        if (up.isEmpty()) {
            return;
        }
        GpuState named = up.get(random.nextInt(up.size()));
        String name = named.owner().holdingJob().orElseThrow().value();
        moment.set(builder -> {
            builder.own(
                    named.gpuId(), new Owner.Releasing(job(name), decision, now.plusSeconds(45), now.plusSeconds(90)));
            allocate(builder, name, named.gpuId(), false);
        });
        if (random.nextInt(4) == 0) {
            sample(node);
        }
        List<GpuId> ofJob = new ArrayList<>();
        for (GpuState unit : units(node)) {
            Pod pod = pods.get(unit.gpuId());
            if (pod != null && pod.job().equals(name)) {
                ofJob.add(unit.gpuId());
            }
        }
        GpuId gone = ofJob.get(random.nextInt(ofJob.size()));
        Pod pod = pods.remove(gone);
        Optional<String> user = random.nextBoolean() ? Optional.of(pod.user()) : Optional.empty();
        moment.later(ofSeconds(1));
        now = now.plusSeconds(1);
        report(Outcome.RELEASED, name, named.gpuId(), UnitPlacement.unknown(named.gpuId(), user));
    }

    private void allocate(StepBuilder builder, String name, GpuId unit, boolean gains) {
        JobState known = builder.jobs().require(new JobId(name));
        List<GpuId> gpus = new ArrayList<>(known.allocation().gpus());
        if (gains) {
            gpus.add(unit);
        } else {
            gpus.remove(unit);
        }
        Allocation next = new Allocation(gpus, 64, 0, 1, Mechanism.AFE);
        builder.put(known.allocated(next, Optional.empty(), decision, builder.now(), builder.now())
                .aiming(gpus));
    }

    private void report(Outcome outcome, String name, GpuId named, UnitPlacement placement) {
        ActuationReport plain = moment.report(decision, outcome, job(name), named.value());
        moment.observe(new ActuationReport(
                plain.domain(),
                plain.decision(),
                plain.actuator(),
                plain.at(),
                outcome,
                plain.gpus(),
                plain.tenant(),
                plain.timings(),
                "",
                List.of(placement)));
    }

    private void sample(String node) {
        moment.later(ofSeconds(1));
        now = now.plusSeconds(1);
        List<GpuSample> samples = new ArrayList<>();
        for (GpuState unit : units(node)) {
            Pod pod = pods.get(unit.gpuId());
            samples.add(GpuSample.of(unit.gpuId()).build().withUsers(pod == null ? List.of() : List.of(pod.user())));
        }
        moment.observe(new GpuTelemetry(
                new NodeId(node), DOMAIN, "boot-1", moment.state().eventSequence(), now, samples));
    }

    private List<GpuState> units(String node) {
        return moment.state().gpus().stream()
                .filter(unit -> unit.nodeId().equals(new NodeId(node)))
                .toList();
    }

    /** Each job has as many units of a node as it has pods there, and its allocation names them. */
    private void check() {
        for (String name : JOBS) {
            List<GpuId> held = new ArrayList<>();
            for (String node : NODES) {
                List<GpuState> units = units(node).stream()
                        .filter(unit -> unit.isHeldBy(job(name)))
                        .toList();
                long there = pods.entrySet().stream()
                        .filter(pod -> pod.getKey().value().startsWith(node)
                                && pod.getValue().job().equals(name))
                        .count();
                assertThat(units).as("%s on %s", name, node).hasSize((int) there);
                units.forEach(unit -> held.add(unit.gpuId()));
            }
            assertThat(moment.jobState(name).allocation().gpus()).isEqualTo(GpuId.sorted(held));
        }
        assertThat(moment.state().gpus().stream().filter(unit -> unit.owner().isQuarantined()))
                .isEmpty();
    }

    /** A unit on which a tenant was seen is the one where it runs. */
    private void checkPlaces() {
        for (GpuState unit : moment.state().gpus().values()) {
            if (unit.slot().isPresent() && !unit.isSlot()) {
                Optional<String> there =
                        Optional.ofNullable(pods.get(unit.gpuId())).map(Pod::user);
                assertThat(unit.user()).as("%s", unit.gpuId()).isEqualTo(there);
            }
        }
    }
}
