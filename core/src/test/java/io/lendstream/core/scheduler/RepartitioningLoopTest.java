package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.fixtures.ClosedLoop;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.simulated.SimulatedDriver;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.MigInstance;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.SlicePlan;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Four A100 that may be cut, and three services on them whose load halves and comes back. */
class RepartitioningLoopTest {
    private static final Map<String, Double> RATES = Map.of("chat", 2500.0, "search", 1500.0, "vision", 3700.0);
    private static final Duration PROMISED = Duration.ofMillis(120);
    private static final int MINUTES = 110;

    private final ClosedLoop loop = new ClosedLoop(
            new Scheduler(
                    Policies.parse("lendstream"), SchedulerSettings.DEFAULTS.withRepartition(true), Slices.LATENCIES),
            new SimulatedNodes.Layout(Scenario.DOMAIN, 1, 4, 0, 1, 7),
            SimulatedDriver.realistic());
    private final Map<String, Long> sequences = new TreeMap<>();

    /** What a service is asked for, as a share of its most: half of it from the 25th to the 60th minute. */
    private static double load(double minute) {
        double falling = 1 - Math.max(0, Math.min(1, (minute - 20) / 5)) / 2;
        double rising = Math.max(0, Math.min(1, (minute - 60) / 20)) / 2;
        return falling + rising;
    }

    private double minute(Instant at) {
        return Duration.between(Scenario.START, at).toMillis() / 60_000.0;
    }

    private double rate(String service, Instant at) {
        return RATES.getOrDefault(service, 0.0) * load(minute(at));
    }

    @Test
    void gpusAreFreedAndLentWhenLoadHalvesAndNoServiceEverHasTooLittleWhenItComesBack() {
        RATES.keySet().stream().sorted().forEach(service -> loop.tell(service(service)));
        Scenario jobs = Scenario.of("lendstream");
        loop.tell(jobs.jobRecord("wide", 2, true));
        for (String job : List.of("small", "tiny")) {
            loop.tell(jobs.jobRecord(job, 1, true).onSlicesOf(8L << 30));
        }
        Set<String> reached = new HashSet<>();
        List<String> short_ = new ArrayList<>();
        Map<Integer, Integer> gpus = new TreeMap<>();
        Map<Integer, Integer> lent = new TreeMap<>();
        double least = Double.MAX_VALUE;
        for (int second = 0; second < 60 * MINUTES; second++) {
            if (second % 15 == 0) {
                RATES.keySet().stream().sorted().forEach(service -> loop.tell(rateRecord(service)));
            }
            if (second % 60 == 0) {
                RATES.keySet().stream().sorted().forEach(service -> loop.tell(forecast(service)));
            }
            loop.second();
            for (String service : RATES.keySet()) {
                double share = capacity(service) / rate(service, loop.now());
                if (share >= 1) {
                    reached.add(service);
                } else if (reached.contains(service)) {
                    short_.add("%s has %.2f of its rate at minute %.1f".formatted(service, share, minute(loop.now())));
                }
                least = reached.contains(service) ? Math.min(least, share) : least;
            }
            if (second % 60 == 59) {
                gpus.put(second / 60 + 1, serving().size());
                lent.put(second / 60 + 1, lent());
            }
        }
        System.out.printf(
                "GPUs that serve by minute: %s%nlent units by minute: %s%nleast capacity over rate: %.3f%nrecuts %d, "
                        + "lends %d, reclaims %d, events %d%n",
                changes(gpus),
                changes(lent),
                least,
                count(Action.Repartition.class),
                count(Action.Lend.class),
                count(Action.Reclaim.class),
                loop.state().eventSequence());
        loop.decisions().stream()
                .filter(decision -> !(decision.action() instanceof Action.Renew))
                .limit(Long.getLong("slices.print", 0))
                .forEach(decision -> System.out.printf(
                        "%.2f %s: %s%n",
                        minute(decision.at()),
                        decision.action().kind(),
                        decision.reason().text()));

        assertThat(short_).isEmpty();
        assertThat(reached).isEqualTo(RATES.keySet());
        assertThat(loop.verdict().violations()).isEmpty();
        assertThat(gpus.get(50)).as("GPUs that serve half the load").isLessThan(gpus.get(19));
        assertThat(lent.get(50)).as("lent units then").isGreaterThanOrEqualTo(4 - gpus.get(50));
        assertThat(loop.decisions())
                .as("the job that needs a whole GPU gets one that services left")
                .anyMatch(decision -> decision.action() instanceof Action.Lend lend
                        && lend.job().value().equals("wide")
                        && lend.gpus().stream().noneMatch(gpu -> gpu.value().contains("/")));
        assertThat(gpus.get(MINUTES)).isGreaterThan(gpus.get(50));
        assertThat(loop.decisions())
                .anyMatch(decision -> decision.action() instanceof Action.Reclaim
                        && decision.reason().text().contains("GPU-seconds of training"));
    }

    private static String changes(Map<Integer, Integer> byMinute) {
        List<String> changes = new ArrayList<>();
        int last = -1;
        for (Map.Entry<Integer, Integer> entry : byMinute.entrySet()) {
            if (entry.getValue() != last) {
                changes.add(entry.getKey() + "=" + entry.getValue());
                last = entry.getValue();
            }
        }
        return String.join(" ", changes);
    }

    private long count(Class<? extends Action> kind) {
        return loop.decisions().stream()
                .filter(decision -> kind.isInstance(decision.action()))
                .count();
    }

    /** What instances that serve answer, by what the scheduler knows of them. */
    private double capacity(String service) {
        double sum = 0;
        ServiceId name = new ServiceId(service);
        Optional<SlicePlan.Demand> demand = loop.state().slices().flatMap(plan -> plan.demand(name));
        for (GpuState unit : loop.state().gpus().values()) {
            if (unit.owner().equals(new Owner.Serving(name)) && demand.isPresent()) {
                sum += unit.instance()
                        .map(instance -> demand.get().capacity(instance.profile()))
                        .orElse(demand.get().largest());
            }
        }
        return sum;
    }

    private Set<GpuId> serving() {
        Set<GpuId> gpus = new HashSet<>();
        for (GpuState unit : loop.state().gpus().values()) {
            if (unit.owner() instanceof Owner.Serving) {
                gpus.add(unit.instance().map(MigInstance::gpu).orElse(unit.gpuId()));
            }
        }
        return gpus;
    }

    private int lent() {
        return (int) loop.state().gpus().stream()
                .filter(unit -> unit.owner() instanceof Owner.Lent)
                .count();
    }

    private static InferenceService service(String name) {
        return new InferenceService(
                new ServiceId(name),
                Scenario.DOMAIN,
                Scenario.START,
                List.of(name),
                PROMISED,
                1000,
                Optional.empty(),
                1,
                Duration.ofMinutes(1));
    }

    private RequestRate rateRecord(String service) {
        double rate = rate(service, loop.now());
        return new RequestRate(
                new ServiceId(service),
                Scenario.DOMAIN,
                "gateway",
                "boot-1",
                sequences.merge(service, 1L, Long::sum),
                loop.now().minusSeconds(15),
                loop.now(),
                Math.round(rate * 15),
                Math.round(rate * 15),
                0,
                0,
                Optional.empty(),
                Optional.empty(),
                List.of());
    }

    /** One that knows the curve, give or take five per cent. */
    private DemandForecast forecast(String service) {
        List<HorizonQuantiles> horizons = IntStream.rangeClosed(1, 30)
                .mapToObj(ahead -> {
                    double rate = rate(service, loop.now().plus(Duration.ofMinutes(ahead)));
                    return new HorizonQuantiles(Duration.ofMinutes(ahead), .97 * rate, rate, 1.03 * rate, 1.05 * rate);
                })
                .toList();
        return new DemandForecast(
                new ServiceId(service),
                Scenario.DOMAIN,
                loop.now(),
                Duration.ofMinutes(1),
                "test",
                horizons,
                Optional.empty(),
                Optional.empty());
    }
}
