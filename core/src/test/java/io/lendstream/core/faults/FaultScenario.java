package io.lendstream.core.faults;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.history.Violation;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.ChangeLimits;
import io.lendstream.core.scheduler.MeasurementRules;
import io.lendstream.core.scheduler.QuietWindows;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Some minutes of one or two domains in which schedulers are killed, replaced and come back, actuators fall silent and
 * restart, and messages between them are delayed, repeated, reordered and lost; and then enough quiet time for
 * everything to settle. It keeps the recorded history, for the checker, and watches what really runs where.
 */
final class FaultScenario {
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final Duration NOTICE = Duration.ofSeconds(30);
    private static final int TURNS = 150;
    private static final int QUIET_TURNS = 180;
    private static final int ENOUGH = 5;

    private final Random random;
    private final boolean learns;
    private final Bug bug;
    private final FaultProfile weather;
    private final Network network;
    private final List<Ward> wards = new ArrayList<>();
    private final List<SimActuator> hands = new ArrayList<>();
    private final List<String> broken = new ArrayList<>();
    private final boolean crashes;
    private final boolean takeOvers;
    private final boolean zombiesGoOn;
    private int takenUp;
    private int takeovers;
    private int refused;
    private int drifts;
    private Instant now = START;

    FaultScenario(long seed, Bug bug) {
        this.random = new Random(seed);
        this.learns = seed % 2 == 1;
        this.bug = bug;
        this.weather = FaultProfile.of(random);
        this.network = new Network(random, weather);
        this.crashes = random.nextBoolean();
        this.takeOvers = random.nextInt(4) > 0;
        this.zombiesGoOn = random.nextBoolean();
        int domains = random.nextInt(4) == 0 ? 2 : 1;
        hands.add(hand(0));
        if (domains > 1 && random.nextBoolean()) {
            hands.add(hand(1));
        }
        for (int i = 0; i < domains; i++) {
            wards.add(new Ward(new DomainId("domain-" + i), hands.get(i % hands.size())));
        }
    }

    private SimActuator hand(int number) {
        return new SimActuator("actuator-" + number, NOTICE, random, bug);
    }

    /** Goes through all of it. */
    FaultScenario endured() {
        wards.forEach(Ward::settle);
        for (int turn = 0; turn < TURNS; turn++) {
            now = now.plusMillis(random.nextInt(5_000));
            wards.forEach(Ward::happen);
            misfortune();
            turn();
        }
        network.clear();
        for (int turn = 0; turn < QUIET_TURNS; turn++) {
            now = now.plusSeconds(5);
            if (turn % 3 == 0) {
                wards.forEach(Ward::rest);
            }
            turn();
        }
        wards.forEach(Ward::conclude);
        return this;
    }

    private void turn() {
        network.deliver(now);
        for (SimActuator hand : hands) {
            for (ActuationReport report : hand.work(now)) {
                ward(report.domain()).reported(hand, report);
            }
            hand.accidents().forEach(accident -> broken("two at once", accident));
        }
        network.deliver(now);
        wards.forEach(Ward::work);
        wards.forEach(Ward::compareWithTruth);
    }

    private void misfortune() {
        for (SimActuator hand : hands) {
            if (crashes && random.nextInt(25) == 0 && !hand.isDown(now)) {
                hand.loseSomeTenant(random);
            }
            if (crashes && random.nextInt(80) == 0 && !hand.isDown(now)) {
                hand.crash(now.plusSeconds(random.nextInt(random.nextInt(4) == 0 ? 400 : 30)));
            }
        }
        for (Ward ward : wards) {
            if (takeOvers && random.nextInt(40) == 0) {
                ward.loseScheduler();
            }
        }
    }

    private Ward ward(DomainId domain) {
        return wards.stream()
                .filter(ward -> ward.domain.equals(domain))
                .findFirst()
                .orElseThrow();
    }

    private void broken(String promise, String how) {
        if (broken.size() < ENOUGH) {
            broken.add(promise + ": " + how + " at " + now);
        }
    }

    /** The faults seen in the run, independent of the recorded history. */
    List<String> broken() {
        return broken;
    }

    /** The violations in the recorded history. The checker cannot find answers that the network lost for good. */
    List<Violation> violations() {
        return wards.stream().flatMap(ward -> ward.violations().stream()).toList();
    }

    /** Whether reports may be missing for good from the recorded history. */
    boolean losesMessages() {
        return weather.loss() > 0;
    }

    int takenUp() {
        return takenUp;
    }

    int takeovers() {
        return takeovers;
    }

    int refused() {
        return refused;
    }

    /** GPUs of which a scheduler believed otherwise than their actuator, and was put right by its stock. */
    int drifts() {
        return drifts;
    }

    /** One domain: its schedulers, its recorded history, and its outside events. */
    private final class Ward {
        private final DomainId domain;
        private final SimActuator hand;
        private final Scheduler scheduler;
        private final List<SimScheduler> zombies = new ArrayList<>();
        private final List<DomainEvent> log = new ArrayList<>();
        private final List<Decision> published = new ArrayList<>();
        private final List<ActuationReport> topic = new ArrayList<>();
        private final Map<GpuId, Lease> leases = new LinkedHashMap<>();
        private final Map<DecisionId, Decision> everDecided = new HashMap<>();
        private final Set<DecisionId> unheard = new HashSet<>();
        private final Map<DecisionId, Instant> accepted = new HashMap<>();
        private final Set<GpuId> meddledWith = new HashSet<>();
        private final List<ServiceId> services = new ArrayList<>();
        private final List<JobId> jobs = new ArrayList<>();
        private final Set<JobId> over = new HashSet<>();
        private SimScheduler brain;
        private Instant downUntil = START;
        private Optional<DecisionId> highest = Optional.empty();
        private boolean disturbed;
        private boolean late;
        private int rates;

        Ward(DomainId domain, SimActuator hand) {
            this.domain = domain;
            this.hand = hand;
            SchedulerSettings usual = SchedulerSettings.DEFAULTS;
            this.scheduler = new Scheduler(
                    Policies.parse(List.of("deepboot", "lendstream:plan-every=10s", "afs")
                            .get(random.nextInt(3))),
                    new SchedulerSettings(
                            true,
                            random.nextBoolean(),
                            NOTICE,
                            Duration.ofSeconds(40),
                            Duration.ofSeconds(130 + random.nextInt(270)),
                            usual.nodeStaleAfter(),
                            new ChangeLimits(
                                    random.nextBoolean() ? 1 : 0.5,
                                    usual.changeLimits().maxLoansPerMinute(),
                                    random.nextBoolean() ? 1000 : 2,
                                    Duration.ofSeconds(random.nextBoolean() ? 0 : 90),
                                    QuietWindows.NONE),
                            false,
                            usual.repartitionEvery(),
                            usual.planPhase(),
                            usual.model(),
                            new MeasurementRules(learns, Duration.ofMinutes(learns ? 10 : 0), learns)));
            this.brain = new SimScheduler(scheduler, bug, ClusterState.empty(domain), new ArrayDeque<>());
        }

        void settle() {
            for (int i = 0; i < 1 + random.nextInt(2); i++) {
                tell(node("train-" + i, Pool.TRAINING));
                tell(node("infer-" + i, Pool.INFERENCE));
            }
            for (String name : List.of(domain + "-chat", domain + "-search")) {
                services.add(new ServiceId(name));
                tell(service(name));
            }
        }

        /** Something is written that the scheduler and the actuator read. */
        private void tell(Event event) {
            hand.know(event);
            brain.hear(event);
            zombies.forEach(zombie -> zombie.hear(event));
        }

        void happen() {
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> rate(services.get(random.nextInt(services.size())), random.nextInt(35));
                case 3 -> {
                    if (jobs.size() < 6) {
                        tell(job(domain + "-job-" + jobs.size()));
                    }
                }
                case 4 -> progress(random.nextInt(4) == 0 ? JobPhase.FINISHED : JobPhase.RUNNING);
                case 5 -> repair();
                default -> services.forEach(service -> rate(service, random.nextInt(15)));
            }
        }

        void rest() {
            services.forEach(service -> rate(service, 5));
        }

        private void rate(ServiceId service, int perSecond) {
            rates++;
            tell(new RequestRate(
                    service,
                    domain,
                    "gateway",
                    "boot",
                    rates,
                    now.minusSeconds(15),
                    now,
                    RequestRate.Requests.answered(15L * perSecond),
                    RequestRate.Latency.NOT_MEASURED,
                    List.of(),
                    List.of()));
        }

        private void progress(JobPhase phase) {
            jobs.stream().filter(job -> !over.contains(job)).findFirst().ifPresent(job -> {
                if (phase == JobPhase.FINISHED) {
                    over.add(job);
                }
                tell(new TrainingProgress(
                        job,
                        domain,
                        now,
                        phase,
                        rates,
                        Optional.empty(),
                        TrainingProgress.Parallelism.NONE,
                        TrainingProgress.StepTiming.NOT_MEASURED,
                        TrainingProgress.GradientStatistics.NOT_MEASURED));
            });
        }

        /** An operator resets GPUs that are out of service, after a check that no tenant runs there or is about to. */
        private void repair() {
            if (!network.isQuiet() || hand.isDown(now)) {
                return;
            }
            List<GpuId> repaired = brain.state().gpus().stream()
                    .filter(gpu -> gpu.owner() instanceof Owner.Quarantined)
                    .map(GpuState::gpuId)
                    .filter(gpu -> !hand.running().containsKey(gpu) && hand.isRidOf(gpu))
                    .toList();
            if (!repaired.isEmpty()) {
                tell(new ControlCommand(
                        domain,
                        "reset",
                        now,
                        "operator",
                        ControlCommand.Kind.RESET,
                        Optional.empty(),
                        repaired,
                        "nothing runs there"));
            }
        }

        /** The scheduler is killed, or is thought to be dead and goes on. */
        void loseScheduler() {
            takeovers++;
            SimScheduler next = brain.successor();
            if (zombiesGoOn && brain.isInOffice() && random.nextBoolean()) {
                zombies.add(brain);
                disturbed = true;
            }
            brain = next;
            int seconds = random.nextInt(random.nextInt(5) == 0 ? 300 : 20);
            downUntil = now.plusSeconds(seconds);
            late |= seconds > 5;
        }

        void work() {
            for (SimScheduler zombie : List.copyOf(zombies)) {
                zombie.work(now).forEach(act -> act.step().decisions().forEach(this::send));
                if (random.nextInt(6) == 0) {
                    zombies.remove(zombie);
                }
            }
            if (now.isBefore(downUntil)) {
                return;
            }
            for (SimScheduler.Act act : brain.work(now)) {
                log.add(act.event());
                countDrift(act);
                published.addAll(act.step().decisions());
                act.step().decisions().forEach(this::send);
                ClusterState state = act.state();
                for (GpuId gpu : act.step().changed().owners()) {
                    leases.put(gpu, state.gpus().require(gpu).lease(domain, state.epoch()));
                }
            }
        }

        private void countDrift(SimScheduler.Act act) {
            if (act.event().event() instanceof ActuationReport stock && stock.outcome() == Outcome.HOLDS) {
                drifts += (int) stock.gpus().stream()
                        .filter(act.step().changed().owners()::contains)
                        .count();
            }
        }

        private void send(Decision decision) {
            Decision other = everDecided.putIfAbsent(decision.id(), decision);
            if (other != null && !other.equals(decision)) {
                broken("one name, one decision", "%s is the name of two".formatted(decision.id()));
            }
            if (!network.send("decisions of " + domain, now, () -> hand.hear(decision))) {
                unheard.add(decision.id());
            }
        }

        void reported(SimActuator by, ActuationReport report) {
            if (SimActuator.takesUp(report)) {
                takenUp(by, report);
            } else if (report.outcome() == Outcome.REJECTED) {
                refused++;
            }
            boolean arrives = network.send("reports of " + domain, now, () -> arrived(report));
            if (!arrives) {
                unheard.add(report.decision());
            }
        }

        private void arrived(ActuationReport report) {
            topic.add(report);
            brain.hear(report);
            zombies.forEach(zombie -> zombie.hear(report));
        }

        private void takenUp(SimActuator by, ActuationReport report) {
            takenUp++;
            DecisionId id = report.decision();
            if (accepted.putIfAbsent(id, report.at()) != null) {
                broken("once", "%s took up %s twice".formatted(by.name(), id));
            }
            if (highest.filter(last -> last.compareTo(id) > 0).isPresent()) {
                broken("fence", "%s took up %s after %s".formatted(by.name(), id, highest.get()));
            }
            highest = Optional.of(id);
            boolean official =
                    published.stream().anyMatch(decision -> decision.id().equals(id));
            if (!official) {
                Optional.ofNullable(everDecided.get(id)).ifPresent(decision -> {
                    meddledWith.addAll(decision.action().gpus());
                    allocation(decision.action()).ifPresent(all -> meddledWith.addAll(all.gpus()));
                });
            }
        }

        private static Optional<Allocation> allocation(Action action) {
            if (action instanceof Action.Lend lend) {
                return Optional.of(lend.allocation());
            }
            if (action instanceof Action.Reclaim reclaim) {
                return Optional.of(reclaim.allocation());
            }
            return action instanceof Action.Resize resize ? Optional.of(resize.allocation()) : Optional.empty();
        }

        /**
         * If the scheduler knows the owner of a GPU, no other tenant runs there. A replaced scheduler may have had a
         * GPU moved before the actuator could know of the replacement; then the new scheduler gets the report of its
         * tenant later.
         */
        void compareWithTruth() {
            Map<GpuId, Tenant> running = hand.running();
            for (GpuState gpu : brain.state().gpus().values()) {
                Optional<Tenant> runs = Optional.ofNullable(running.get(gpu.gpuId()))
                        .filter(any -> gpu.nodeId().value().startsWith(domain.value()));
                boolean known = runs.isEmpty()
                        || runs.equals(gpu.owner().holder())
                        || gpu.owner() instanceof Owner.Quarantined
                        || meddledWith.contains(gpu.gpuId());
                if (!known) {
                    broken(
                            "one owner",
                            "%s runs on %s, which the scheduler takes for %s"
                                    .formatted(runs.get(), gpu.gpuId(), gpu.owner()));
                }
            }
        }

        /**
         * After a long quiet time the scheduler knows exactly the tenants that run, even after losses in the network
         * and outside changes, because actuators report all ownership. No GPU is out of service without a fault. A
         * scheduler that takes over late decides for past times.
         */
        void conclude() {
            boolean untroubled =
                    weather.equals(FaultProfile.CALM) && !crashes && !late && !disturbed && !hand.isTroubled();
            Map<GpuId, Tenant> running = hand.running();
            for (GpuState gpu : brain.state().gpus().values()) {
                if (untroubled && gpu.owner() instanceof Owner.Quarantined out) {
                    broken("nothing wasted", "%s is out of service: %s".formatted(gpu.gpuId(), out.reason()));
                }
                boolean settled = !(gpu.owner() instanceof Owner.Quarantined)
                        && !(gpu.owner() instanceof Owner.Binding)
                        && !(gpu.owner() instanceof Owner.Releasing);
                Optional<Tenant> runs = Optional.ofNullable(running.get(gpu.gpuId()));
                if (settled && !runs.equals(gpu.owner().holder())) {
                    broken(
                            "drift",
                            "%s runs on %s, which the scheduler takes for %s"
                                    .formatted(runs, gpu.gpuId(), gpu.owner()));
                }
            }
        }

        List<Violation> violations() {
            HistoryChecker checker = new HistoryChecker(domain);
            log.forEach(checker::take);
            topic.forEach(checker::heard);
            return checker.verdict(published, List.copyOf(leases.values())).violations().stream()
                    .filter(violation -> !isOfSilence(violation))
                    .toList();
        }

        private boolean isOfSilence(Violation violation) {
            return violation.rule().equals("answer")
                    && unheard.stream().anyMatch(id -> violation.text().startsWith("decision " + id + " "));
        }

        private Node node(String name, Pool pool) {
            NodeId id = new NodeId(domain + "-" + name);
            List<Gpu> gpus = IntStream.range(0, 1 + random.nextInt(3))
                    .mapToObj(i -> Gpu.whole(new GpuId(id + "-g" + i), i, "test GPU", 80L << 30))
                    .toList();
            return new Node(id, domain, pool, "boot", now, NodeStatus.READY, gpus);
        }

        private InferenceService service(String name) {
            return new InferenceService(
                    new ServiceId(name),
                    domain,
                    now,
                    List.of(),
                    Duration.ofMillis(500),
                    10,
                    Optional.empty(),
                    random.nextInt(2),
                    Duration.ofSeconds(24));
        }

        private TrainingJob job(String name) {
            jobs.add(new JobId(name));
            return new TrainingJob(
                    new JobId(name),
                    domain,
                    now,
                    "vision",
                    new TrainingJob.Scaling(1 + random.nextInt(3), 1, 4, random.nextInt(4) > 0),
                    TrainingJob.Precedence.USUAL,
                    new TrainingJob.Traits(
                            new BatchRange(128, 4096, 32, 1024, Optional.empty()),
                            new GoodputProfile(
                                    new ThroughputParameters(0.05, 0.002, 0.05, 0.001, 0.02, 0.0005, 1.5),
                                    new GradientNoise(1, 1000)),
                            new RescaleCosts(Duration.ofSeconds(6), Duration.ofSeconds(3))),
                    "simulated",
                    Optional.empty());
        }
    }
}
