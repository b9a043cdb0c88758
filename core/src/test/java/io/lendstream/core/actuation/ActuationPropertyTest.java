package io.lendstream.core.actuation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.cluster.JobId;
import io.lendstream.core.cluster.Pool;
import io.lendstream.core.cluster.ServiceId;
import io.lendstream.core.cluster.Tenant;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.simulated.SimulatedDriver;
import io.lendstream.core.simulated.SimulatedDriver.Trouble;
import io.lendstream.core.simulated.SimulatedNodes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** What holds whatever a scheduler, sane or not, decides. */
class ActuationPropertyTest {
    private static final DomainId DOMAIN = new DomainId("d");
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final List<Node> NODES = new SimulatedNodes(
                    new SimulatedNodes.Layout(DOMAIN, 2, 3, 1, 0), START, Duration.ofSeconds(10), "boot")
            .inventory();
    private static final List<GpuId> GPUS =
            NODES.stream().flatMap(node -> node.gpus().stream()).map(Gpu::gpuId).toList();
    private static final List<GpuId> INFERENCE = NODES.stream()
            .filter(node -> node.pool() == Pool.INFERENCE)
            .flatMap(node -> node.gpus().stream())
            .map(Gpu::gpuId)
            .toList();

    @Property(tries = 400)
    void noGpuIsBoundTwiceWithoutAReleaseBetweenAndReportsComeInTheOrderOfTheirTimes(@ForAll long seed) {
        var random = new Random(seed);
        var driver = SimulatedDriver.realistic()
                .withJitter(random.nextInt(2) * 0.5, seed)
                .withTrouble(random.nextBoolean() ? Trouble.NONE : new Trouble(0.2, 0.2, 0), seed);
        var actuation = actuation(driver);
        var reports = new ArrayList<ActuationReport>();
        Instant now = START;
        for (int sequence = 1; sequence <= 60; sequence++) {
            now = now.plusMillis(random.nextInt(8_000));
            if (random.nextInt(4) == 0) {
                reports.addAll(actuation.advance(now));
            }
            if (random.nextInt(10) == 0) {
                actuation = restarted(actuation, driver);
            }
            reports.addAll(actuation.take(decision(random, now, sequence), now));
        }
        reports.addAll(actuation.advance(now.plus(Duration.ofHours(2))));

        var owners = new HashMap<GpuId, Tenant>();
        Instant last = START;
        for (ActuationReport report : reports) {
            assertThat(report.at()).as("time of %s", report).isAfterOrEqualTo(last);
            last = report.at();
            follow(owners, report);
        }
        for (Holding holding : actuation.holdings()) {
            assertThat(holding.loan())
                    .as("loan of %s after every lease's end", holding)
                    .isEmpty();
            assertThat(holding.phase()).isEqualTo(Holding.Phase.BOUND);
            assertThat(owners).containsEntry(holding.gpu(), holding.tenant());
        }
        assertThat(owners).hasSameSizeAs(actuation.holdings());
        assertThat(actuation.nextEventAt()).isEmpty();
    }

    private static void follow(Map<GpuId, Tenant> owners, ActuationReport report) {
        for (GpuId gpu : report.gpus()) {
            if (report.outcome() == Outcome.BOUND) {
                assertThat(owners).as("owners at %s", report).doesNotContainKey(gpu);
                report.tenant().ifPresent(tenant -> {
                    owners.put(gpu, tenant);
                    assertThat(tenant instanceof Tenant.Job || INFERENCE.contains(gpu) || GPUS.contains(gpu))
                            .isTrue();
                });
            }
            if (report.outcome() == Outcome.RELEASED || report.outcome() == Outcome.FORCED) {
                Optional.ofNullable(owners.remove(gpu))
                        .ifPresent(owner -> assertThat(report.tenant()).contains(owner));
            }
        }
    }

    private static Decision decision(Random random, Instant now, long sequence) {
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

    private static Actuation actuation(DelayModel driver) {
        var actuation = new Actuation("a", Duration.ofSeconds(45), driver);
        NODES.forEach(actuation::know);
        return actuation;
    }

    private static Actuation restarted(Actuation old, DelayModel driver) {
        var actuation = Actuation.restore("a", Duration.ofSeconds(45), driver, old.snapshot());
        NODES.forEach(actuation::know);
        return actuation;
    }
}
