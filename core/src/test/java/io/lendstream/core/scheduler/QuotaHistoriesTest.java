package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.fixtures.ClusterStates;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.FaultyHistories;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.history.Violation;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.Promise;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QueueState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Queues in random histories: jobs and services of three queues, whose quotas change again and again. */
@Tag("long")
class QuotaHistoriesTest {
    private static final List<QueueId> QUEUES =
            List.of(new QueueId("team-a"), new QueueId("team-b"), new QueueId("team-c"));
    private static final int MOST_ROUNDS = 3;
    private static final List<String> PRODUCTS = List.of("NVIDIA A100-SXM4-80GB", "Tesla T4");

    private static RandomHistory history(long seed) {
        return seed % 2 == 0
                ? RandomHistory.of(seed, ClusterModel.KINDS, PRODUCTS, QUEUES)
                : RandomHistory.of(seed, ClusterModel.ALIKE, List.of(), QUEUES);
    }

    @Seeds(40)
    void noDecisionRaisesAQueueAboveItsLimit(long seed) {
        RandomHistory history = history(seed);
        HistoryChecker checker = new HistoryChecker(Scenario.DOMAIN, started -> history.scheduler());
        history.log().forEach(checker::take);

        assertThat(checker.verdict(history.decisions(), List.of()).violations())
                .extracting(Violation::rule)
                .doesNotContain("quota", "kind", "one owner", "gang", "bind before release", "replay");
    }

    /** Otherwise the rule about lowered quotas would have nothing to judge. */
    @Test
    void loweredQuotasTakeBackGpusAndReplicas() {
        Set<String> kinds = new TreeSet<>();
        for (long seed = 1; seed <= 100; seed++) {
            history(seed).decisions().stream()
                    .filter(decision -> decision.reason().is(ReasonCode.QUOTA)
                            && decision.reason().numbers().containsKey("over"))
                    .forEach(decision -> kinds.add(decision.action().kind()));
        }

        assertThat(kinds).containsExactly("idle", "reclaim", "resize");
    }

    /** A scheduler to which the quotas of a queue seem higher than they are declared when it hears of them. */
    @Test
    void aLoweredQuotaThatTakesNothingBackIsFound() {
        List<String> found = new ArrayList<>();
        for (long seed = 1; seed <= 100 && found.isEmpty(); seed++) {
            Scheduler scheduler = history(seed).scheduler();
            HistoryChecker checker = FaultyHistories.checker(
                    Scenario.DOMAIN, (any, state, event) -> withoutLowering(scheduler, state, event));
            history(seed).log().forEach(checker::take);
            checker.verdict(List.of(), List.of()).violations().stream()
                    .filter(violation -> violation.rule().equals("quota"))
                    .map(Violation::text)
                    .filter(text -> text.contains(" a notice after its quota was lowered"))
                    .forEach(found::add);
        }

        assertThat(found).isNotEmpty();
    }

    private static Step withoutLowering(Scheduler scheduler, ClusterState state, DomainEvent event) {
        Optional<ClusterQueue> queue = event.event().asQueue();
        if (queue.isEmpty()) {
            return scheduler.step(state, event);
        }
        ClusterQueue declared = queue.get();
        ClusterQueue seen = new ClusterQueue(
                declared.queue(),
                declared.domain(),
                declared.at(),
                declared.cohort(),
                declared.weight(),
                List.of(KindQuota.of(Optional.empty(), 100)));
        Step step = scheduler.step(
                state,
                new DomainEvent(event.domain(), event.epoch(), event.sequence(), event.at(), event.origin(), seen));
        QueueState after = step.state().queues().require(declared.queue()).describedBy(declared);
        return new Step(
                ClusterStates.with(step.state(), step.state().entities().with(after)),
                step.decisions(),
                step.changed());
    }

    /** The ledger that a step goes on with counts as one that is built from all GPUs. */
    @Seeds(40)
    void theLedgerThatIsKeptIsRight(long seed) {
        RandomHistory history = history(seed);
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        for (DomainEvent event : history.log()) {
            state = history.scheduler().step(state, event).state();
            Optional<QueueLedger> kept = state.entities().keptLedger();
            if (kept.isPresent()) {
                QueueLedger fresh = QueueLedger.of(state.entities());
                for (QueueId queue : QUEUES) {
                    assertThat(kept.get().uses(queue))
                            .as("queue %s after event %d, seed %d", queue, event.sequence(), seed)
                            .isEqualTo(fresh.uses(queue));
                    for (GpuState unit : state.gpus().values()) {
                        assertThat(kept.get().keeps(unit.gpuId(), queue)).isEqualTo(fresh.keeps(unit.gpuId(), queue));
                        assertThat(kept.get().counts(unit.gpuId(), queue, unit.kind()))
                                .isEqualTo(fresh.counts(unit.gpuId(), queue, unit.kind()));
                    }
                }
            }
        }
    }

    /** Otherwise the test above would have nothing to judge. */
    @Test
    void mostLedgersAreKept() {
        int kept = 0;
        int all = 0;
        for (long seed = 1; seed <= 10; seed++) {
            RandomHistory history = history(seed);
            ClusterState state = ClusterState.empty(Scenario.DOMAIN);
            for (DomainEvent event : history.log()) {
                state = history.scheduler().step(state, event).state();
                kept += state.entities().keepsLedger() ? 1 : 0;
                all++;
            }
        }
        assertThat(kept).isGreaterThan(all / 5);
    }

    /** Counted in another way than by the ledger: whole GPUs of queues without a cohort, one by one. */
    @Seeds(40)
    void aQueueWithoutACohortNeverGrowsBeyondItsNominalQuota(long seed) {
        RandomHistory history = RandomHistory.of(seed, ClusterModel.ALIKE, List.of(), QUEUES);
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        for (DomainEvent event : history.log()) {
            ClusterState before = state;
            Step step = history.scheduler().step(state, event);
            state = step.state();
            for (QueueState queue : state.queues().values()) {
                double nominal = queue.spec()
                        .quota(Optional.empty())
                        .map(KindQuota::nominalQuota)
                        .orElse(0.0);
                long uses = wholeGpus(state, queue.spec());
                boolean hasGained = step.changed().owners().stream()
                        .anyMatch(gpu -> isGained(before, step.state(), gpu, queue.spec()));
                if (queue.spec().cohort().isEmpty() && hasGained) {
                    assertThat((double) uses)
                            .as("queue %s after event %d, seed %d", queue.spec(), event.sequence(), seed)
                            .isLessThanOrEqualTo(nominal);
                }
            }
        }
    }

    private static boolean isGained(ClusterState before, ClusterState after, GpuId gpu, ClusterQueue queue) {
        boolean wasFree = before.gpus().get(gpu).filter(GpuState::isFree).isPresent();
        return wasFree
                && after.gpus()
                        .get(gpu)
                        .filter(unit -> unit.isWhole() && unit.owner().isBinding() && isOf(after, unit, queue))
                        .isPresent();
    }

    private static long wholeGpus(ClusterState state, ClusterQueue queue) {
        return state.gpus().stream()
                .filter(unit -> unit.isWhole() && isOf(state, unit, queue))
                .count();
    }

    private static boolean isOf(ClusterState state, GpuState unit, ClusterQueue queue) {
        Optional<QueueId> ofJob = unit.owner()
                .holdingJob()
                .flatMap(state.jobs()::get)
                .flatMap(job -> job.spec().queue());
        Optional<QueueId> ofService = unit.owner()
                .holdingService()
                .flatMap(state.services()::get)
                .flatMap(service -> service.spec().queue());
        return ofJob.or(() -> ofService).filter(queue.queue()::equals).isPresent();
    }

    @Seeds(40)
    void aRefusedJobHasNoGpusAndWaitsForNone(long seed) {
        RandomHistory history = history(seed);
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        for (DomainEvent event : history.log()) {
            state = history.scheduler().step(state, event).state();
            for (JobState job : state.clusterIndex().jobs().refused().values()) {
                assertThat(job.allocation().gpus()).as("seed %d", seed).isEmpty();
                assertThat(job.target()).as("seed %d", seed).isEmpty();
            }
        }
    }

    @Seeds(40)
    void shortcutsHoldForQueues(long seed) {
        RandomHistory history = history(seed);
        ShortcutOracle oracle = new ShortcutOracle(history.scheduler(), WorkDue.BY_EVENT);

        assertThat(oracle.firstError(history.log())).as("seed %d", seed).isEmpty();
    }

    /** A shortcut that skips quotas when jobs arrive leaves these waiting for the next event. */
    @Test
    void aShortcutThatSkipsQuotasIsFound() {
        WorkDue wrong = new WorkDue() {
            @Override
            boolean concernsQuotas(Situation it) {
                return it.step().event().asJob().isEmpty() && super.concernsQuotas(it);
            }
        };
        Optional<String> error = Optional.empty();
        for (long seed = 1; seed <= 100 && error.isEmpty(); seed++) {
            RandomHistory history = history(seed);
            error = new ShortcutOracle(history.scheduler(), wrong).firstError(history.log());
        }
        assertThat(error).isPresent();
    }

    /** Decisions that are carried out at once lead to a state in which nothing is left to decide. */
    @Seeds(40)
    void aQuietClusterComesToRest(long seed) {
        RandomHistory history = history(seed);
        if (history.scheduler().settings().repartition()) {
            return; // cuts have stages of their own
        }

        assertThat(history.roundsToRest(MOST_ROUNDS)).as("seed %d", seed).isLessThanOrEqualTo(MOST_ROUNDS);
    }

    /** Promises are of units that will be free, to tenants that still want them. */
    @Seeds(40)
    void promisesAreOfUnitsThatCome(long seed) {
        RandomHistory history = history(seed);
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        for (DomainEvent event : history.log()) {
            state = history.scheduler().step(state, event).state();
            for (Promise promise : state.promises()) {
                assertThat(promise.until()).isAfterOrEqualTo(state.now());
                promise.tenant()
                        .jobId()
                        .map(state.jobs()::require)
                        .ifPresent(job -> assertThat(job.target()).contains(promise.unit()));
            }
        }
    }

    /** The ledger that a step keeps up to date counts as one that is built from its result. */
    @Seeds(40)
    void aLedgerFollowsChangesOfOwners(long seed) {
        RandomHistory history = history(seed);
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        for (DomainEvent event : history.log()) {
            StepBuilder step = new StepBuilder(state, event, StepListener.NONE);
            new EventApplier(
                            step,
                            history.scheduler().policy(),
                            history.scheduler().settings())
                    .take(event.event());
            QueueLedger followed = step.ledger();
            changeAllOwners(step);

            QueueLedger built = QueueLedger.of(step.entities());
            assertThat(followed).isSameAs(step.ledger());
            for (QueueId queue : QUEUES) {
                assertThat(followed.uses(queue))
                        .usingRecursiveComparison()
                        .withComparatorForType((one, other) -> Math.abs(one - other) < 1e-9 ? 0 : 1, Double.class)
                        .isEqualTo(built.uses(queue));
            }
            state = history.scheduler().step(state, event).state();
        }
    }

    /** Binds free units to the tenants in turn, releases units of tenants, frees others, and removes a unit. */
    private static void changeAllOwners(StepBuilder step) {
        List<Tenant> tenants = new ArrayList<>();
        step.jobs()
                .values()
                .forEach(job -> tenants.add(new Tenant.Job(job.spec().job())));
        step.services()
                .values()
                .forEach(
                        service -> tenants.add(new Tenant.Service(service.spec().service())));
        int number = 0;
        for (GpuState unit : step.gpus().values()) {
            number++;
            Optional<Tenant> holder =
                    unit.owner().holder().filter(any -> !unit.owner().isReleasing());
            if (unit.isFree() && !tenants.isEmpty()) {
                Tenant next = tenants.get(number % tenants.size());
                step.own(unit.gpuId(), new Owner.Binding(next, step.nextId(), step.now(), Optional.empty(), 1));
            } else if (holder.isPresent()) {
                step.own(unit.gpuId(), new Owner.Releasing(holder.get(), step.nextId(), step.now(), step.now()));
            } else {
                step.own(unit.gpuId(), new Owner.Free());
            }
        }
        step.gpus().firstKey().ifPresent(step::remove);
    }

    /** With all phases at every event, because queues make some shortcuts unsound. */
    @Seeds(40)
    void aQueueThatNoTenantNamesChangesNoDecision(long seed) {
        RandomHistory history = RandomHistory.of(seed);
        ClusterQueue idle =
                new ClusterQueue(new QueueId("idle"), Scenario.DOMAIN, Scenario.START, Optional.empty(), 1, List.of());

        assertThat(actions(history, Optional.of(idle))).isEqualTo(actions(history, Optional.empty()));
    }

    /** What a log leads to, if a queue is declared when it begins. */
    private static List<Action> actions(RandomHistory history, Optional<ClusterQueue> declared) {
        List<Action> actions = new ArrayList<>();
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        for (DomainEvent event : history.log()) {
            Step step = step(history, state, moved(state, event));
            state = step.state();
            step.decisions().forEach(decision -> actions.add(decision.action()));
            if (event.event().asStarted().isPresent() && declared.isPresent()) {
                DomainEvent next = new DomainEvent(
                        Scenario.DOMAIN,
                        state.epoch(),
                        state.eventSequence() + 1,
                        event.at(),
                        Optional.empty(),
                        declared.get());
                state = step(history, state, next).state();
            }
        }
        return actions;
    }

    private static Step step(RandomHistory history, ClusterState state, DomainEvent event) {
        return history.scheduler().step(state, event, StepListener.NONE, WorkDue.ALWAYS);
    }

    /** The event as the next one of a log. */
    private static DomainEvent moved(ClusterState state, DomainEvent event) {
        return new DomainEvent(
                event.domain(), event.epoch(), state.eventSequence() + 1, event.at(), event.origin(), event.event());
    }
}
