package io.lendstream.core.actuation;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.simulated.SimulatedNodes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** What a scheduler, sane or not, may decide about a node of training's and one of inference's, three GPUs each. */
final class RandomDecisions {
    static final DomainId DOMAIN = new DomainId("d");
    static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    static final List<Node> NODES = new SimulatedNodes(
                    new SimulatedNodes.Layout(DOMAIN, 2, 3, 1, 0), START, Duration.ofSeconds(10), "boot")
            .inventory();
    static final List<GpuId> GPUS =
            NODES.stream().flatMap(node -> node.gpus().stream()).map(Gpu::gpuId).toList();
    static final List<GpuId> INFERENCE = NODES.stream()
            .filter(node -> node.pool() == Pool.INFERENCE)
            .flatMap(node -> node.gpus().stream())
            .map(Gpu::gpuId)
            .toList();

    private RandomDecisions() {}

    static Decision decision(Random random, Instant now, long sequence) {
        Instant soon = now.plusSeconds(1 + random.nextInt(45));
        return new Decision(
                new DecisionId(DOMAIN, 1 + random.nextInt(2) * sequence / 40, sequence),
                now,
                soon,
                random.nextInt(10) == 0,
                new Reason("test", "", Map.of(), List.of()),
                action(random, soon, now.plusSeconds(random.nextInt(120))));
    }

    private static Action action(Random random, Instant by, Instant until) {
        var job = new JobId("job-" + random.nextInt(3));
        var service = new ServiceId("service-" + random.nextInt(2));
        List<GpuId> named = some(random);
        List<GpuId> all = new ArrayList<>(named);
        some(random).stream().filter(gpu -> !all.contains(gpu)).forEach(all::add);
        Mechanism mechanism = random.nextBoolean() ? Mechanism.AFE : Mechanism.RESTART;
        var allocation = new Allocation(random.nextBoolean() ? all : some(random), 10, 0, 1, mechanism);
        return switch (random.nextInt(7)) {
            case 0, 1 -> new Action.Lend(job, named, until, allocation);
            case 2 -> new Action.Reclaim(job, named, by, allocation);
            case 3 -> new Action.Resize(job, named, allocation);
            case 4 -> new Action.Serve(service, named, random.nextInt(3) == 0);
            case 5 -> new Action.Idle(service, named, by);
            default -> new Action.Renew(named, until);
        };
    }

    private static List<GpuId> some(Random random) {
        return GPUS.stream().filter(gpu -> random.nextInt(3) == 0).toList();
    }

    static Actuation actuation(ChangeDriver driver) {
        var actuation = new Actuation("a", Duration.ofSeconds(45), driver);
        NODES.forEach(actuation::know);
        return actuation;
    }

    static Actuation restarted(Actuation old, ChangeDriver driver) {
        var actuation = Actuation.restore("a", Duration.ofSeconds(45), driver, old.snapshot());
        NODES.forEach(actuation::know);
        return actuation;
    }
}
