package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.demand.Outlook;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.ServiceName;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.PolicyInfo;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SourceRate;
import io.lendstream.launcher.cli.GpuNames;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.text.Times;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The state of a deployment, read from its topics: owners of GPUs, services, jobs and the last decisions. */
final class Overview {
    private static final int DECISIONS_SHOWN = 10;
    /** Failed starts of this time are alarms, unless a later one has succeeded. */
    private static final Duration FAILED_LATELY = Duration.ofMinutes(15);

    private final SortedMap<GpuId, Lease> leases = new TreeMap<>();
    private final GpuNames names = new GpuNames();
    private final SeenWorkload workload = new SeenWorkload(this::sumsShortWindows);
    private final SeenQueues queues = new SeenQueues();
    private final SeenSettings settings = new SeenSettings();
    private final SeenActuators described = new SeenActuators();
    private final StandingCommands commands = new StandingCommands();
    private final SeenTrust trust = new SeenTrust();
    private final Setbacks setbacks = new Setbacks();
    private final MovedGpus moved = new MovedGpus();
    private final SortedMap<DomainId, InOffice> schedulers = new TreeMap<>();
    private final Deque<Decision> decisions = new ArrayDeque<>();
    /** The newest answers to jobs, by the name of the job. */
    private final Map<String, Decision> admissions = new HashMap<>();

    private Optional<Instant> virtualNow = Optional.empty();
    private Optional<ActuatorWatch> actuators = Optional.empty();

    /** The scheduler of a domain, as its log and the declared settings of the domain describe it. */
    record InOffice(SchedulerStarted started, Scheduler scheduler) {
        /** The settings that the domain has declared, by name, in the form of records. */
        Map<String, String> declared() {
            return scheduler
                    .overlay()
                    .map(overlay -> overlay.declared().settings())
                    .orElse(Map.of());
        }
    }

    /**
     * Adds alarms about actuators, from the records that follow. They need the wall clock: virtual time may pass faster
     * than records are read.
     */
    void watchActuators() {
        actuators = Optional.of(new ActuatorWatch());
    }

    /** Takes a record of a watched topic, or the start of a scheduler; not a decision or a command. */
    void tell(Object record) {
        if (record instanceof Lease lease) {
            leases.put(lease.gpuId(), lease);
        } else if (record instanceof Event event) {
            workload.tell(event);
            queues.tell(event);
            event.asDomainSettings().ifPresent(settings::tell);
            described.tell(event);
            event.asNode().ifPresent(names::take);
            event.asNode().ifPresent(moved::take);
            event.asReport().ifPresent(this::tell);
            event.asStarted().ifPresent(this::tell);
        } else if (record instanceof Progress got && got.isOf(ServiceName.ENVIRONMENT)) {
            virtualNow = Optional.of(got.eventTime());
        }
    }

    /** Takes a decision with the time at which it was written. */
    void decided(Decision decision, Instant written) {
        actuators.ifPresent(watch -> watch.takeDecision(decision, written));
        trust.take(decision);
        if (decision.reason().is(ReasonCode.ADMISSION) && !decision.advisory()) {
            admissions.merge(
                    decision.action().target(),
                    decision,
                    (known, next) -> next.at().isBefore(known.at()) ? known : next);
        }
        decisions.addLast(decision);
        if (decisions.size() > DECISIONS_SHOWN) {
            decisions.removeFirst();
        }
    }

    /** Takes the event of a command that a scheduler accepted. */
    void accepted(DomainEvent command, TopicCatalogue topics) {
        commands.take(command, topics);
    }

    /** A record was removed from a watched topic: a GPU instance was destroyed, or an object was deleted. */
    void removed(Topic<?> topic, String key) {
        if (topic.equals(TopicCatalogue.LEASES)) {
            leases.remove(new GpuId(key));
        } else if (topic.equals(TopicCatalogue.TRAINING_JOBS)) {
            workload.forget(new JobId(key));
        } else if (topic.equals(TopicCatalogue.SERVICES)) {
            workload.forget(new ServiceId(key));
        } else if (topic.equals(TopicCatalogue.QUEUES)) {
            queues.forget(new QueueId(key));
        } else if (topic.equals(TopicCatalogue.DOMAIN_SETTINGS)) {
            settings.forget(new DomainId(key));
        }
    }

    private void tell(ActuationReport report) {
        actuators.ifPresent(watch -> watch.takeReport(report));
        setbacks.take(report);
    }

    private void tell(SchedulerStarted started) {
        trust.take(started);
        InOffice known = schedulers.get(started.domain());
        if (known != null && known.started.epoch() >= started.epoch()) {
            return;
        }
        try {
            schedulers.put(started.domain(), new InOffice(started, Scheduler.of(started)));
        } catch (IllegalArgumentException e) {
            schedulers.remove(started.domain()); // of a newer version, whose policy is unknown here
        }
    }

    /** The domains that have services or settings of their own. */
    Set<DomainId> domains() {
        Set<DomainId> domains = workload.services().stream()
                .map(service -> service.spec().domain())
                .collect(Collectors.toCollection(TreeSet::new));
        domains.addAll(settings.domains());
        return domains;
    }

    /** The active schedulers with the settings in force, as far as they are known. */
    Collection<InOffice> schedulers() {
        return schedulers.values().stream().map(this::inForce).toList();
    }

    private Optional<Scheduler> scheduler(DomainId domain) {
        return Optional.ofNullable(schedulers.get(domain)).map(this::inForce).map(InOffice::scheduler);
    }

    /** Whether the scheduler of a domain gives rates by short windows; usually so, as long as it is not known. */
    private boolean sumsShortWindows(DomainId domain) {
        return Optional.ofNullable(schedulers.get(domain))
                .map(known -> known.scheduler().settings().measurements().sumShortWindows())
                .orElse(true);
    }

    private InOffice inForce(InOffice known) {
        return new InOffice(known.started(), settings.inForce(known.started(), known.scheduler()));
    }

    /** The settings of a domain in force, one in a line; empty if its scheduler is not known. */
    List<String> settings(DomainId domain) {
        return Optional.ofNullable(schedulers.get(domain))
                .map(known -> settings.lines(known.started()))
                .orElse(List.of());
    }

    /** The need of a service by the policy of its domain's scheduler; empty if the scheduler is unknown. */
    Optional<ReplicaNeed> need(ServiceState service, Instant now) {
        return scheduler(service.spec().domain())
                .map(known -> known.need(
                        service,
                        now,
                        figures().kinds(service.spec().domain()),
                        figures().activeKinds(service)));
    }

    /** The need of a service for its current load and its floor: the same for all schedulers. */
    static ReplicaNeed leastNeed(ServiceState service, Instant now) {
        return ReplicaNeed.of(service, now, Duration.ZERO, Outlook.PRESENT);
    }

    /** The name of the policy of a service's domain if it ignores forecasts; empty if it uses them or is unknown. */
    Optional<String> policyWithoutForecast(ServiceState service) {
        return scheduler(service.spec().domain())
                .map(known -> known.policy().info())
                .filter(info -> !info.looksAhead())
                .map(PolicyInfo::name);
    }

    /** The commands that are in force. */
    StandingCommands commands() {
        return commands;
    }

    /** The levels of trust, as far as the newest decisions and the starts of schedulers show them. */
    SeenTrust trust() {
        return trust;
    }

    /** The current time: the virtual time of an accelerated run, else the wall clock. */
    Instant now(Instant wallClock, boolean virtual) {
        return virtual ? virtualNow.orElse(wallClock) : wallClock;
    }

    /** The short names of GPUs. */
    GpuNames names() {
        return names;
    }

    Collection<Lease> leases() {
        return leases.values();
    }

    /** The replicas of several GPUs, and the GPUs that gangs are about to get. */
    UnitParts parts() {
        return new UnitParts(leases.values());
    }

    Collection<ServiceState> services() {
        return workload.services();
    }

    Collection<JobState> jobs() {
        return workload.jobs();
    }

    /** The newest progress report of a job. */
    Optional<TrainingProgress> progress(JobId job) {
        return workload.progress(job);
    }

    /**
     * Why a job without GPUs is refused; empty if it is not, or if its answer is older than the decisions that were
     * read.
     */
    Optional<String> refusal(JobId job) {
        return Optional.ofNullable(admissions.get(job.value()))
                .map(Decision::reason)
                .filter(reason -> reason.numbers().getOrDefault("admitted", 1.0) == 0)
                .map(Reason::text);
    }

    /** The last decisions, the newest last. */
    Deque<Decision> decisions() {
        return decisions;
    }

    /** Actuators as they describe themselves. */
    SeenActuators described() {
        return described;
    }

    SeenQueues queues() {
        return queues;
    }

    /** The use of all quotas, by domain and by the leases. */
    Map<DomainId, QueueLedger> ledgers() {
        return queues.ledgers(leases.values(), workload);
    }

    WorkloadFigures figures() {
        return new WorkloadFigures(leases, workload);
    }

    /** Conditions that an operator should look at. */
    List<String> alarms(Instant now) {
        List<String> alarms = new ArrayList<>();
        actuators.ifPresent(watch -> watch.problems(now).forEach(finding -> alarms.add(finding.text())));
        alarms.addAll(commands.lines());
        alarms.addAll(described.disputes());
        alarms.addAll(queues.alarms(workload));
        alarms.addAll(setbacks.failedSince(now.minus(FAILED_LATELY)));
        leases.values().stream()
                .filter(lease -> lease.owner().isQuarantined() && !lease.owner().isForeign())
                .forEach(lease -> alarms.add("%s: %s".formatted(lease.gpuId(), EventText.of(lease.owner()))));
        leases.values().forEach(lease -> EventText.suspicion(lease).ifPresent(alarms::add));
        leases.values().stream()
                .filter(lease -> lease.intruders().isPresent())
                .forEach(lease -> alarms.add("%s: %s".formatted(lease.gpuId(), EventText.of(lease))));
        alarms.addAll(moved.lines(leases.values()));
        workload.services().stream()
                .filter(service -> WorkloadFigures.isStale(service, now))
                .forEach(service -> alarms.add("service %s: %s"
                        .formatted(
                                service.spec().service(),
                                service.lastRateAt()
                                        .map(at -> "no request rate since " + Times.at(at))
                                        .orElse("no request rate yet"))));
        for (ServiceState service : workload.services()) {
            for (String source : service.stuckSources()) {
                alarms.add(
                        "service %s: the rate of source %s stays as it is, as its windows are shorter than %d s; send longer windows"
                                .formatted(service.spec().service(), source, SourceRate.SHORTEST_RATE.toSeconds()));
            }
        }
        return alarms;
    }

    /**
     * The overview for people, the most urgent first.
     *
     * @param virtual whether {@code now} is the virtual time of an accelerated run
     */
    List<String> lines(Instant now, boolean virtual) {
        return new OverviewText(this).lines(now, virtual);
    }

    /** The overview for tools. */
    ObjectNode json(Instant now) {
        return new OverviewJson(this).at(now);
    }
}
