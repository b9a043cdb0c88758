package io.lendstream.scheduler;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.ServiceState;
import java.util.Optional;

/**
 * How much of everything a domain may have. What would exceed a limit is refused before it is logged, so that a log replays whatever
 * the limits were. A state that is above a limit already is kept: only what is new to it is refused.
 *
 * @param domains that one partition of the inputs may bring up
 * @param nodes of a domain
 * @param gpusPerNode GPUs of a node; ten times as many with MIG instances
 * @param services of a domain
 * @param jobs of a domain that are not over; ten times as many with those that are and are still remembered
 * @param sources that report the rates of one service, without those that have been silent for ten minutes
 */
record DomainLimits(int domains, int nodes, int gpusPerNode, int services, int jobs, int sources) {
    private static final int UNITS_PER_GPU = 10;
    private static final int JOBS_REMEMBERED = 10;

    /**
     * Checks that one more domain may come.
     *
     * @param present domains of this partition
     */
    void checkDomains(int present, DomainId id) throws Poison {
        if (present >= domains) {
            throw overDomains(id, present, domains);
        }
    }

    static Poison overDomains(DomainId id, int present, int most) {
        return over(
                "domain %s would be one more than the %d of its partition".formatted(id, present),
                SchedulerKeys.MAX_DOMAINS.name(),
                most,
                "Correct the record's domain");
    }

    /** Checks that a domain may have what an event brings. */
    void check(ClusterState state, Event event) throws Poison {
        event.match(new Checks(state)).run();
    }

    private void check(ClusterState state, InferenceService service) throws Poison {
        if (state.services().size() >= services && !state.services().contains(service.service())) {
            throw over(
                    "service %s would be one more than the %d of domain %s"
                            .formatted(service.service(), state.services().size(), state.domain()),
                    SchedulerKeys.MAX_SERVICES.name(),
                    services,
                    "If its name is wrong, correct it");
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
                    "node %s has %d GPUs".formatted(node.nodeId(), node.gpus().size()),
                    SchedulerKeys.MAX_GPUS_PER_NODE.name(),
                    gpusPerNode,
                    "Correct its inventory");
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
                    "Correct its inventory");
        }
    }

    /** Checks that a domain with so many nodes may have one more. */
    void checkNodes(int present, NodeId node, DomainId domain) throws Poison {
        if (present >= nodes) {
            throw over(
                    "node %s would be one more than the %d of domain %s".formatted(node, present, domain),
                    SchedulerKeys.MAX_NODES.name(),
                    nodes,
                    "Write tombstones for nodes that are gone");
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
        int open = state.clusterIndex().jobs().open().size();
        if (open >= jobs) {
            throw over(
                    "job %s would be one more than the %d of domain %s that are not over"
                            .formatted(job.job(), open, state.domain()),
                    SchedulerKeys.MAX_JOBS.name(),
                    jobs,
                    "Submit it again when others are over");
        }
        long remembered = (long) JOBS_REMEMBERED * jobs;
        if (state.jobs().size() >= remembered) {
            throw over(
                    "job %s would be one more than the %d that domain %s remembers"
                            .formatted(job.job(), state.jobs().size(), state.domain()),
                    "ten times " + SchedulerKeys.MAX_JOBS.name(),
                    remembered,
                    "Submit it again later: a job is forgotten 24 h after it was over");
        }
    }

    private void check(ClusterState state, RequestRate rate) throws Poison {
        Optional<ServiceState> service = state.services().get(rate.service());
        if (service.isEmpty()
                || service.get().sources().size() < sources
                || service.get().sources().containsKey(rate.source())) {
            return;
        }
        long present = service.get().sources().values().stream()
                .filter(source -> !source.isGone(rate.windowEnd()))
                .count();
        if (present >= sources) {
            throw over(
                    "source %s of the rates of service %s would be one more than the %d there are"
                            .formatted(rate.source(), rate.service(), present),
                    SchedulerKeys.MAX_RATE_SOURCES.name(),
                    sources,
                    "Have fewer sources report; one that is silent for ten minutes frees its place");
        }
    }

    private static Poison over(String what, String setting, long limit, String wayOut) {
        return new Poison(
                Poison.Kind.OVER_LIMIT,
                "%s: %s is %d. %s, or raise the setting.".formatted(what, setting, limit, wayOut));
    }

    /** A check that may find that a limit would be exceeded. */
    private interface Check {
        void run() throws Poison;
    }

    /** What is checked of each kind of event. */
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
        public Check started(SchedulerStarted started) {
            return () -> {};
        }

        @Override
        public Check tick(Tick tick) {
            return () -> {};
        }
    }
}
