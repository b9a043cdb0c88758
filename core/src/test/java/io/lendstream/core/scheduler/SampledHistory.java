package io.lendstream.core.scheduler;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Node;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;

/**
 * What a scheduler receives in the order of arrival: a {@link RandomHistory} without its ticks, with agents that sample
 * often. Agents have clocks that are behind, fall silent, restart, lose and repeat samples, and find users and errors.
 */
final class SampledHistory {
    private static final int[] PERIODS = {1, 2, 3, 5, 10, 25, 45};

    private final Random random;
    private final Map<NodeId, Agent> agents = new TreeMap<>();
    private final List<Arrival> arrivals = new ArrayList<>();

    /** An event with the time at which it arrives. */
    record Arrival(Instant at, Event event) {}

    private final class Agent {
        private final int period = PERIODS[random.nextInt(PERIODS.length)];
        private final int behind = random.nextInt(3) == 0 ? random.nextInt(70) : 0;
        private final Map<GpuId, List<String>> users = new HashMap<>();
        private Node node;
        private int boot = 1;
        private long sequence;
        private Instant next;

        Agent(Node node, Instant now) {
            this.node = node;
            this.next = now;
        }

        void sample(Instant now) {
            next = now.plusSeconds(period);
            int dice = random.nextInt(300);
            if (dice == 0) {
                next = now.plusSeconds(30 + random.nextInt(200));
                return;
            } else if (dice == 1) {
                boot++;
                sequence = 0;
            } else if (dice == 2) {
                sequence += 3;
            }
            GpuTelemetry sample = new GpuTelemetry(
                    node.nodeId(),
                    Scenario.DOMAIN,
                    "boot-" + boot,
                    ++sequence,
                    now.minusSeconds(behind),
                    node.gpus().stream().map(gpu -> of(gpu.gpuId())).toList());
            arrivals.add(new Arrival(now, sample));
            if (dice == 3) {
                arrivals.add(new Arrival(now, sample));
            }
        }

        private GpuSample of(GpuId gpu) {
            if (random.nextInt(400) == 0) {
                users.put(gpu, random.nextBoolean() ? List.of() : List.of("process/1-1"));
            }
            GpuSample sample = GpuSample.of(gpu).build();
            Optional<GpuSample> erred = random.nextInt(2000) == 0
                    ? Optional.of(GpuSample.of(gpu)
                            .lastXid(random.nextInt(4) == 0 ? 79 : 13)
                            .build())
                    : Optional.empty();
            return erred.orElse(sample).withUsers(users.getOrDefault(gpu, List.of()));
        }
    }

    private SampledHistory(long seed) {
        random = new Random(seed);
        Instant now = Scenario.START;
        for (DomainEvent logged : RandomHistory.of(seed).log()) {
            Event event = logged.event();
            sampleUntil(now, event.at());
            now = event.at().isAfter(now) ? event.at() : now;
            if (event.isTick()
                    || event.asStarted().isPresent()
                    || event.asTelemetry().isPresent()) {
                continue;
            }
            arrivals.add(new Arrival(now, event));
            Instant from = now.plusMillis(random.nextInt(1000));
            event.asNode()
                    .ifPresent(node -> agents.computeIfAbsent(node.nodeId(), any -> new Agent(node, from)).node = node);
        }
    }

    private void sampleUntil(Instant from, Instant until) {
        for (Instant time = from; time.isBefore(until); time = time.plusMillis(250)) {
            for (Agent agent : agents.values()) {
                if (!agent.next.isAfter(time)) {
                    agent.sample(time);
                }
            }
        }
    }

    static List<Arrival> of(long seed) {
        return List.copyOf(new SampledHistory(seed).arrivals);
    }
}
