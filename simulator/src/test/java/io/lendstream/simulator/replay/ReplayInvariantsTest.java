package io.lendstream.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.simulated.SimulatedDelays;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import io.lendstream.simulator.JobResult;
import io.lendstream.simulator.WorldResults;
import io.lendstream.simulator.replay.Outages.Outage;
import io.lendstream.simulator.workload.Demand;
import io.lendstream.simulator.workload.TrainingTask;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What must hold of every replay, on random small clusters with random jobs, services, losses of nodes and transfers
 * that go wrong: tenants that do not come up, that hang until they are killed, and that leave late.
 * {@code -Dlendstream.cases=20000} tries more of them; what fails names its seed.
 */
@Tag("long")
class ReplayInvariantsTest {
    private static final int CASES = Integer.getInteger("lendstream.cases", 160);
    /**
     * No tenant needs longer to leave by {@link SimulatedDelays#realistic()}: a checkpoint takes 4 s, and a step of
     * these jobs under 3 s.
     */
    private static final Duration PLAIN_RELEASE = Duration.ofSeconds(5);

    static Stream<String> policies() {
        return Policies.all().stream().map(Policy::spec);
    }

    @ParameterizedTest
    @MethodSource("policies")
    void everyInvariantHoldsWhateverTheCluster(String policy) {
        int each = CASES / (int) policies().count();
        Map<Trouble, Integer> troubles = new EnumMap<>(Trouble.class);
        for (int i = 0; i < each; i++) {
            RandomCase drawn = RandomCase.of(policy, 1_000_003L * policy.hashCode() + i);
            try {
                Replayed replayed = Replay.run(drawn.workload(), drawn.settings());
                check(drawn, replayed);
                count(replayed, troubles);
            } catch (AssertionError | RuntimeException broken) {
                throw new AssertionError("broken with %s".formatted(drawn), broken);
            }
            if (i % 10 == 0) {
                equalInputsGiveEqualHistories(drawn);
            }
        }
        assertThat(troubles).as("what went wrong in %d cases", each).containsOnlyKeys(Trouble.values());
    }

    /** A device plugin picks the GPUs of each node, so that names stand for slots. */
    @ParameterizedTest
    @MethodSource("policies")
    void everyInvariantHoldsWhereADevicePluginPicksTheGpus(String policy) {
        int each = CASES / 2 / (int) policies().count();
        for (int i = 0; i < each; i++) {
            RandomCase drawn = RandomCase.of(policy, 2_000_003L * policy.hashCode() + i);
            try {
                check(drawn, Replay.run(drawn.workload(), drawn.settings().withAbilities(RandomCase.PICKED)));
            } catch (AssertionError | RuntimeException broken) {
                throw new AssertionError("broken with %s".formatted(drawn), broken);
            }
        }
    }

    /** What can go wrong with a transfer. */
    private enum Trouble {
        /** A tenant did not come up. */
        FAILED_BIND,
        /** A tenant was killed at its deadline. */
        HUNG_RELEASE,
        /** A tenant took longer to leave than one ever does where nothing goes wrong. */
        LATE_RELEASE
    }

    private static void count(Replayed replayed, Map<Trouble, Integer> troubles) {
        for (DomainEvent event : replayed.log()) {
            if (event.event() instanceof ActuationReport report
                    && !report.gpus().isEmpty()) {
                trouble(report).ifPresent(kind -> troubles.merge(kind, 1, Integer::sum));
            }
        }
    }

    private static Optional<Trouble> trouble(ActuationReport report) {
        Optional<Duration> release = report.timings().release();
        return switch (report.outcome()) {
            case FAILED -> Optional.of(Trouble.FAILED_BIND);
            case FORCED -> Optional.of(Trouble.HUNG_RELEASE);
            case RELEASED ->
                release.filter(took -> took.compareTo(PLAIN_RELEASE) > 0).map(took -> Trouble.LATE_RELEASE);
            default -> Optional.empty();
        };
    }

    private static void check(RandomCase drawn, Replayed replayed) {
        assertThat(HistoryChecker.check(
                                RandomCase.DOMAIN,
                                replayed.log(),
                                replayed.outcome().decisions(),
                                replayed.leases())
                        .violations())
                .isEmpty();
        allocationsFit(drawn, replayed);
        jobsRunOnWhatTheyNeed(drawn, replayed);
        nothingIsLost(drawn, replayed);
        gpuTimeAddsUp(drawn, replayed);
    }

    /** Capacity: no allocation names a GPU twice, one that is not there, or one of a node known to be lost. */
    private static void allocationsFit(RandomCase drawn, Replayed replayed) {
        Map<NodeId, Set<GpuId>> gpus = new HashMap<>();
        Set<GpuId> all = new HashSet<>();
        for (DomainEvent event : replayed.log()) {
            if (event.event() instanceof Node node) {
                Set<GpuId> there = new HashSet<>();
                node.gpus().forEach(gpu -> there.add(gpu.gpuId()));
                gpus.put(node.nodeId(), there);
                all.addAll(there);
            }
        }
        assertThat(all).hasSize(drawn.gpus());
        for (Decision decision : replayed.outcome().decisions()) {
            List<GpuId> used = used(decision.action());
            assertThat(used).as("%s", decision).doesNotHaveDuplicates().allMatch(all::contains);
            for (Outage outage : drawn.outages()) {
                boolean missed = decision.at().isAfter(outage.from().plusSeconds(60))
                        && decision.at().isBefore(outage.to());
                if (missed) {
                    assertThat(used)
                            .as("%s while %s", decision, outage)
                            .doesNotContainAnyElementsOf(gpus.getOrDefault(outage.node(), Set.of()));
                }
            }
        }
    }

    private static List<GpuId> used(Action action) {
        if (action instanceof Action.Serve serve) {
            return serve.gpus();
        }
        return allocation(action).map(Allocation::gpus).orElse(List.of());
    }

    private static Optional<Allocation> allocation(Action action) {
        if (action instanceof Action.Lend lend) {
            return Optional.of(lend.allocation());
        }
        if (action instanceof Action.Reclaim reclaim) {
            return Optional.of(reclaim.allocation());
        }
        if (action instanceof Action.Resize resize) {
            return Optional.of(resize.allocation());
        }
        return Optional.empty();
    }

    /** Gang: a rigid job runs with exactly its GPUs or with none, an elastic one within its range. */
    private static void jobsRunOnWhatTheyNeed(RandomCase drawn, Replayed replayed) {
        Map<JobId, TrainingJob> jobs = new TreeMap<>();
        drawn.workload().tasks().forEach(task -> jobs.put(task.job().job(), task.job()));
        for (DomainEvent event : replayed.log()) {
            if (event.event() instanceof TrainingProgress said && said.phase() == JobPhase.RUNNING) {
                assertFits(jobs, said.job(), said.parallelism().replicas());
            }
        }
        for (Decision decision : replayed.outcome().decisions()) {
            Optional<Allocation> allocation = allocation(decision.action());
            if (allocation.filter(given -> !given.gpus().isEmpty()).isPresent()) {
                JobId job = new JobId(decision.action().target());
                assertFits(jobs, job, allocation.get().gpus().size());
            }
        }
    }

    private static void assertFits(Map<JobId, TrainingJob> jobs, JobId name, int gpus) {
        TrainingJob job = jobs.get(name);
        assertThat(job).as("%s", name).isNotNull();
        TrainingJob.Scaling scaling = job.scaling();
        int least = scaling.elastic() ? scaling.minGpus() : scaling.requestedGpus();
        int most = scaling.elastic() ? scaling.maxGpus() : scaling.requestedGpus();
        assertThat(gpus).as("GPUs of %s", job).isBetween(least, most);
    }

    /** With time enough, every job ends as it was to, and every request is answered. */
    private static void nothingIsLost(RandomCase drawn, Replayed replayed) {
        WorldResults results = replayed.outcome().results();
        List<TrainingTask> tasks = drawn.workload().tasks();
        assertThat(results.jobs()).hasSize(tasks.size());
        for (int i = 0; i < tasks.size(); i++) {
            JobResult job = results.jobs().get(i);
            assertThat(job.job()).isEqualTo(tasks.get(i).job().job());
            assertThat(job.completed()).as("%s", job).isPresent();
            assertThat(job.done()).as("%s", job).isEqualTo(1);
            assertThat(job.phase()).as("%s", job).isEqualTo(tasks.get(i).fate().end());
        }
        long requests = drawn.workload().loads().stream()
                .map(load -> load.demand())
                .filter(Demand.Requests.class::isInstance)
                .mapToLong(demand -> ((Demand.Requests) demand).requests().size())
                .sum();
        assertThat(results.requests()).hasSize((int) requests);
    }

    /**
     * Conservation: owners, by the scheduler's log, have had all GPU time between them; and each job had exactly the
     * time that the log says, up to its end and without that on nodes that were lost, or on GPUs that the actuator
     * refused it.
     */
    private static void gpuTimeAddsUp(RandomCase drawn, Replayed replayed) {
        Owners owners = new Owners(drawn, replayed);
        Scheduler scheduler =
                Scheduler.of((SchedulerStarted) replayed.log().get(0).event());
        ClusterState state = ClusterState.empty(RandomCase.DOMAIN);
        for (DomainEvent event : replayed.log()) {
            Step step = scheduler.step(state, event);
            state = step.state();
            for (GpuId gpu : step.changed().owners()) {
                owners.change(gpu, state.gpus().get(gpu), state.now());
            }
        }
        owners.close(state.now());

        double all = drawn.gpus() * seconds(drawn.workload().start(), state.now());
        assertThat(owners.seconds.values().stream()
                        .mapToDouble(Double::doubleValue)
                        .sum())
                .as("GPU-seconds of %s", owners.seconds)
                .isCloseTo(all, within(1e-6 * all));
        Map<JobId, Integer> mostGpus = new HashMap<>();
        drawn.workload()
                .tasks()
                .forEach(task ->
                        mostGpus.put(task.job().job(), task.job().scaling().maxGpus()));
        double held = 0;
        for (JobResult job : replayed.outcome().results().jobs()) {
            double had = owners.ofJobs.getOrDefault(job.job(), 0.0);
            // A job ends within a millisecond, the log has whole ones: each of its GPUs may differ by one.
            double rounding = 0.001 * mostGpus.getOrDefault(job.job(), 0) + 1e-6;
            assertThat(job.gpuSeconds()).as("%s", job).isCloseTo(had, within(rounding));
            held += job.gpuSeconds();
        }
        assertThat(replayed.outcome().results().rescalingGpuSeconds()).isBetween(0.0, held + 1e-6);
    }

    /** How long whom had GPUs, from the changes of owners in a log. */
    private static final class Owners {
        private final RandomCase drawn;
        private final Map<JobId, Instant> ends = new HashMap<>();
        private final Map<GpuId, GpuState> last = new HashMap<>();
        private final Map<GpuId, Instant> since = new TreeMap<>();
        private final Map<String, Double> seconds = new TreeMap<>();
        private final Map<JobId, Double> ofJobs = new HashMap<>();
        private final Set<DecisionId> refused = new HashSet<>();
        private final Map<GpuId, TreeSet<Instant>> given = new HashMap<>();

        Owners(RandomCase drawn, Replayed replayed) {
            this.drawn = drawn;
            WorldResults results = replayed.outcome().results();
            for (DomainEvent event : replayed.log()) {
                if (event.event() instanceof ActuationReport report) {
                    take(report, replayed.outcome().decisions());
                }
            }
            results.jobs().forEach(job -> ends.put(job.job(), job.completed().orElse(results.now())));
        }

        private void take(ActuationReport report, List<Decision> decisions) {
            if (report.outcome() == Outcome.REJECTED) {
                refused.add(report.decision());
            } else if (report.outcome() == Outcome.ACCEPTED) {
                Decision decision = decisions.get((int) report.decision().sequence() - 1);
                assertThat(decision.id()).isEqualTo(report.decision());
                List<GpuId> gained = new ArrayList<>(report.gpus());
                gained.retainAll(used(decision.action()));
                gained.forEach(gpu ->
                        given.computeIfAbsent(gpu, any -> new TreeSet<>()).add(report.at()));
            }
        }

        /** A GPU whose binding was refused is a job's from when a later decision was accepted that names it. */
        private Instant begin(GpuState gpu, Instant from, Instant to) {
            boolean wasRefused = gpu.owner() instanceof Owner.Binding binding && refused.contains(binding.decision());
            if (!wasRefused) {
                return from;
            }
            Instant first = given.getOrDefault(gpu.gpuId(), new TreeSet<>()).ceiling(from);
            return first == null ? to : earlier(first, to);
        }

        void change(GpuId gpu, Optional<GpuState> next, Instant at) {
            end(gpu, at);
            since.put(gpu, at);
            next.ifPresentOrElse(state -> last.put(gpu, state), () -> last.remove(gpu));
        }

        void close(Instant at) {
            List.copyOf(since.keySet()).forEach(gpu -> end(gpu, at));
        }

        private void end(GpuId gpu, Instant at) {
            Instant from = since.get(gpu);
            if (from == null) {
                return;
            }
            Optional<GpuState> state = Optional.ofNullable(last.get(gpu));
            String label = state.map(one -> one.owner().label()).orElse("gone");
            seconds.merge(label, seconds(from, at), Double::sum);
            Optional<Tenant> holder = state.flatMap(one -> one.owner().holder());
            if (holder.isPresent() && holder.get() instanceof Tenant.Job job) {
                Instant to = earlier(at, ends.get(job.job()));
                for (Outage outage : drawn.outages()) {
                    boolean inside = outage.node().equals(state.get().nodeId())
                            && outage.to().isAfter(from);
                    to = inside ? earlier(to, outage.from()) : to;
                }
                Instant begin = begin(state.get(), from, at);
                ofJobs.merge(job.job(), Math.max(0, seconds(begin, to)), Double::sum);
            }
        }
    }

    private static void equalInputsGiveEqualHistories(RandomCase drawn) {
        Replayed first = Replay.run(drawn.workload(), drawn.settings());
        RandomCase again = RandomCase.of(drawn.policy(), drawn.seed());
        Replayed second = Replay.run(again.workload(), again.settings());

        assertThat(second.log()).as("%s", drawn).isEqualTo(first.log());
        assertThat(second.outcome().decisions())
                .as("%s", drawn)
                .isEqualTo(new ArrayList<>(first.outcome().decisions()));
        assertThat(second.outcome().results().jobs())
                .as("%s", drawn)
                .isEqualTo(first.outcome().results().jobs());
        assertThat(second.outcome().results().requests())
                .as("%s", drawn)
                .isEqualTo(first.outcome().results().requests());
    }

    private static Instant earlier(Instant one, Instant other) {
        return one.isBefore(other) ? one : other;
    }

    private static double seconds(Instant from, Instant to) {
        return Duration.between(from, to).toMillis() / 1000.0;
    }
}
