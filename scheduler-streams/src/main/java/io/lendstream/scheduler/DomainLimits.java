package io.lendstream.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.DomainSettings;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SampleSummary;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.scheduler.DeclarableSettings;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.JobIndex;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.ServiceState;
import java.util.Optional;

/**
 * The largest sizes of a domain. An event that would exceed a limit is refused before it is logged, so a log replays
 * under any limits. So are settings that a domain cannot declare. State that already exceeds a limit is kept; only
 * additions are refused.
 *
 * @param domains most domains that one partition of the inputs may create
 * @param nodes most nodes of a domain, and most actuators
 * @param gpusPerNode most GPUs of a node; ten times as many GPUs and MIG instances together
 * @param services most services of a domain
 * @param jobs most unfinished jobs of a domain; ten times as many including finished ones still remembered
 * @param sources most sources that report one service's rates; sources silent for ten minutes do not count
 * @param queues most queues of a domain
 */
record DomainLimits(int domains, int nodes, int gpusPerNode, int services, int jobs, int sources, int queues) {
    private static final int UNITS_PER_GPU = 10;
    private static final int JOBS_REMEMBERED = 10;

    /**
     * Checks that one more domain may be created.
     *
     * @param present number of domains in this partition
     */
    void checkDomains(int present, DomainId id) throws Poison {
        if (present >= domains) {
            throw overDomains(id, present, domains);
        }
    }

    static Poison overDomains(DomainId id, int present, int most) {
        return over(
                "domain %s is new, but its partition already has %s".formatted(id, Reason.counted(present, "domain")),
                SchedulerKeys.MAX_DOMAINS.name(),
                most,
                "Correct the record's domain if its name is wrong");
    }

    /** Checks that an event keeps the domain within its limits. */
    void check(ClusterState state, Event event) throws Poison {
        event.match(new Checks(state)).run();
    }

    private void check(ClusterState state, InferenceService service) throws Poison {
        boolean isNew = !service.removed() && !state.services().contains(service.service());
        if (isNew && state.services().size() >= services) {
            throw over(
                    "service %s is new, but domain %s already has %s"
                            .formatted(
                                    service.service(),
                                    state.domain(),
                                    Reason.counted(state.services().size(), "service")),
                    SchedulerKeys.MAX_SERVICES.name(),
                    services,
                    "Correct its name if that is wrong");
        }
    }

    private void check(ClusterState state, ClusterQueue queue) throws Poison {
        boolean isNew = !queue.removed() && !state.queues().contains(queue.queue());
        if (isNew && state.queues().size() >= queues) {
            throw over(
                    "queue %s is new, but domain %s already has %s"
                            .formatted(
                                    queue.queue(),
                                    state.domain(),
                                    Reason.counted(state.queues().size(), "queue")),
                    SchedulerKeys.MAX_QUEUES.name(),
                    queues,
                    "Correct its name if that is wrong");
        }
    }

    private static void check(DomainSettings settings) throws Poison {
        Optional<String> problem = DeclarableSettings.problem(settings);
        if (problem.isPresent()) {
            throw new Poison(Poison.Kind.REFUSED, problem.get());
        }
    }

    private void check(ClusterState state, ActuatorDescription actuator) throws Poison {
        if (state.actuators().size() >= nodes && !state.actuators().contains(actuator.actuator())) {
            throw over(
                    "actuator %s is new, but domain %s already has %s"
                            .formatted(
                                    actuator.actuator(),
                                    state.domain(),
                                    Reason.counted(state.actuators().size(), "actuator")),
                    SchedulerKeys.MAX_NODES.name(),
                    nodes,
                    "Correct its name if that is wrong");
        }
    }

    private void check(ClusterState state, Node node) throws Poison {
        Optional<NodeState> known = state.nodes().get(node.nodeId());
        if (known.isEmpty()) {
            checkNodes(state.nodes().size(), node.nodeId(), state.domain());
        }
        int before = known.map(there -> there.node().gpus().size()).orElse(0);
        if (node.gpus().size() > Math.max(gpusPerNode, before)) {
            throw over(
                    "node %s has %s"
                            .formatted(node.nodeId(), Reason.counted(node.gpus().size(), "GPU")),
                    SchedulerKeys.MAX_GPUS_PER_NODE.name(),
                    gpusPerNode,
                    "Correct the node's inventory");
        }
        long mostUnits = (long) UNITS_PER_GPU * gpusPerNode;
        if (units(node)
                > Math.max(
                        mostUnits,
                        known.map(NodeState::node).map(DomainLimits::units).orElse(0L))) {
            throw over(
                    "node %s has %d GPUs and MIG instances".formatted(node.nodeId(), units(node)),
                    "ten times " + SchedulerKeys.MAX_GPUS_PER_NODE.name(),
                    mostUnits,
                    "Correct the node's inventory");
        }
    }

    /** Checks that a domain with this many nodes may have one more. */
    void checkNodes(int present, NodeId node, DomainId domain) throws Poison {
        if (present >= nodes) {
            throw over(
                    "node %s is new, but domain %s already has %s"
                            .formatted(node, domain, Reason.counted(present, "node")),
                    SchedulerKeys.MAX_NODES.name(),
                    nodes,
                    "Delete nodes that no longer exist by tombstones");
        }
    }

    private static long units(Node node) {
        long units = 0;
        for (var gpu : node.gpus()) {
            units += Math.max(1, gpu.instances().size());
        }
        return units;
    }

    private void check(ClusterState state, TrainingJob job) throws Poison {
        if (state.jobs().contains(job.job())) {
            return;
        }
        JobIndex index = state.clusterIndex().jobs();
        int open = index.open().size() + index.refused().size();
        if (open >= jobs) {
            throw over(
                    "job %s is new, but domain %s already has %s"
                            .formatted(job.job(), state.domain(), Reason.counted(open, "unfinished job")),
                    SchedulerKeys.MAX_JOBS.name(),
                    jobs,
                    "Submit it again when other jobs have ended");
        }
        long remembered = (long) JOBS_REMEMBERED * jobs;
        if (state.jobs().size() >= remembered) {
            throw over(
                    "job %s is new, but domain %s already remembers %s"
                            .formatted(
                                    job.job(),
                                    state.domain(),
                                    Reason.counted(state.jobs().size(), "job")),
                    "ten times " + SchedulerKeys.MAX_JOBS.name(),
                    remembered,
                    "Submit it again later: a job is forgotten 24 h after its end");
        }
    }

    private void check(ClusterState state, RequestRate rate) throws Poison {
        Optional<ServiceState> service = state.services().get(rate.service());
        if (service.isEmpty()
                || service.get().sources().size() < sources
                || service.get().sources().containsKey(rate.source())) {
            return;
        }
        int present = (int) service.get().sources().values().stream()
                .filter(source -> !source.isGone(rate.windowEnd()))
                .count();
        if (present >= sources) {
            throw over(
                    "source %s is new, but service %s already has %s of request rates"
                            .formatted(rate.source(), rate.service(), Reason.counted(present, "source")),
                    SchedulerKeys.MAX_RATE_SOURCES.name(),
                    sources,
                    "Report from fewer sources; a source that is silent for ten minutes frees its place");
        }
    }

    private static Poison over(String what, String setting, long limit, String wayOut) {
        return new Poison(
                Poison.Kind.OVER_LIMIT,
                "%s: %s is %d. %s, or raise the setting.".formatted(what, setting, limit, wayOut));
    }

    /** A check that throws if an event would exceed a limit. */
    private interface Check {
        void run() throws Poison;
    }

    /** The check for each kind of event. */
    private final class Checks implements Event.Cases<Check> {
        private final ClusterState state;

        Checks(ClusterState state) {
            this.state = state;
        }

        @Override
        public Check node(Node node) {
            return () -> check(state, node);
        }

        @Override
        public Check nodeLeft(NodeLeft left) {
            return () -> {};
        }

        @Override
        public Check telemetry(GpuTelemetry telemetry) {
            return () -> {};
        }

        @Override
        public Check sampleSummary(SampleSummary summary) {
            return () -> {};
        }

        @Override
        public Check service(InferenceService service) {
            return () -> check(state, service);
        }

        @Override
        public Check rate(RequestRate rate) {
            return () -> check(state, rate);
        }

        @Override
        public Check job(TrainingJob job) {
            return () -> check(state, job);
        }

        @Override
        public Check progress(TrainingProgress progress) {
            return () -> {};
        }

        @Override
        public Check forecast(DemandForecast forecast) {
            return () -> {};
        }

        @Override
        public Check report(ActuationReport report) {
            return () -> {};
        }

        @Override
        public Check command(ControlCommand command) {
            return () -> {};
        }

        @Override
        public Check clusterQueue(ClusterQueue queue) {
            return () -> check(state, queue);
        }

        @Override
        public Check actuatorDescription(ActuatorDescription description) {
            return () -> check(state, description);
        }

        @Override
        public Check domainSettings(DomainSettings settings) {
            return () -> check(settings);
        }

        @Override
        public Check started(SchedulerStarted started) {
            return () -> {};
        }

        @Override
        public Check tick(Tick tick) {
            return () -> {};
        }
    }
}
