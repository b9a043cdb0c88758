package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.ClusterIndex;
import io.lendstream.core.state.DueKey;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The safety rules: with stale telemetry, GPUs stay with inference. */
record Safety(SchedulerSettings settings) {
    private static final double TOO_MANY_STALE_NODES = 0.4;
    /** Age of the last progress report from which a running job gets no more loans. */
    static final Duration PROGRESS_STALE_AFTER = Duration.ofMinutes(5);

    /** The cause why no inference GPU is ever lent; empty if lending is on. */
    Optional<String> againstLending() {
        return settings.lending() ? Optional.empty() : Optional.of("lending is switched off (scheduler.lending=false)");
    }

    /** The cause why no new loan is allowed; empty if loans are allowed. */
    Optional<String> againstLoans(StepBuilder builder) {
        if (builder.mode().lendingStopped()) {
            return Optional.of("an operator ordered all loans back; 'lendstream thaw' allows loans again");
        }
        return againstTrust(builder);
    }

    /** The cause why the known demand is not reliable; empty if it is. */
    Optional<String> againstTrust(StepBuilder builder) {
        for (ServiceState service : builder.services().values()) {
            Duration silence = silence(service, builder.now());
            Duration bound = service.patience();
            if (silence.compareTo(bound) > 0 && !service.spec().removed()) {
                boolean isCapped = bound.compareTo(windows(service.window())) < 0;
                if (service.lastRateAt().isEmpty()) {
                    return Optional.of(
                            "no request rate of %s has arrived yet; let an agent or a gateway report its rates"
                                    .formatted(service.spec().service()));
                }
                return Optional.of("the request rates of %s are %d s old (limit: %d s%s)"
                        .formatted(
                                service.spec().service(),
                                silence.toSeconds(),
                                bound.toSeconds(),
                                isCapped
                                        ? ""
                                        : ", 3 windows of %d s"
                                                .formatted(service.window().toSeconds())));
            }
        }
        return Optional.empty();
    }

    /** The cause why all loans must come back; empty if they may stay. */
    Optional<String> againstKeepingLoans(StepBuilder builder) {
        if (builder.mode().lendingStopped()) {
            return Optional.of("an operator ordered all loans back");
        }
        Optional<DueKey<ServiceId>> first = builder.clusterIndex().silent().firstKey();
        if (first.isEmpty() || !first.get().at().isBefore(builder.now())) {
            return Optional.empty();
        }
        for (ServiceState service : builder.services().values()) {
            if (service.unknownAt().isBefore(builder.now()) && !service.spec().removed()) {
                return Optional.of("the demand of %s is unknown (%s)"
                        .formatted(
                                service.spec().service(),
                                service.lastRateAt().isEmpty()
                                        ? "no request rate has arrived yet"
                                        : "no request rates for %d s"
                                                .formatted(silence(service, builder.now())
                                                        .toSeconds())));
            }
        }
        return Optional.empty();
    }

    /** The cause why jobs may not be changed, except to give GPUs back to inference; usually empty. */
    Optional<String> againstChanges(StepBuilder builder) {
        if (builder.mode().frozen()) {
            return Optional.of("the domain is frozen");
        }
        return againstEverything(builder);
    }

    /** The cause why no plan is made, while running transfers go on; usually empty. */
    Optional<String> againstPlans(Instant now) {
        return settings.changeLimits()
                .quietWindows()
                .at(now)
                .map(window -> "the quiet window %s UTC is open".formatted(window.text()));
    }

    /** The cause why no change at all is allowed, so that loans end with their leases; usually empty. */
    Optional<String> againstEverything(StepBuilder builder) {
        if (!tooManyNodesStale(builder)) {
            return Optional.empty();
        }
        int stale = stale(builder.clusterIndex(), builder.now(), Integer.MAX_VALUE);
        return Optional.of("%d of %s %s not report, more than 40 %%, so the fault is likely in the reporting path"
                .formatted(stale, Reason.counted(sampled(builder.clusterIndex()), "node"), stale == 1 ? "does" : "do"));
    }

    /** Whether too few nodes report, so that no change is made. */
    boolean tooManyNodesStale(StepBuilder builder) {
        return tooManyNodesStale(builder.clusterIndex(), builder.now());
    }

    /** The same, at a time. */
    boolean tooManyNodesStale(ClusterIndex clusterIndex, Instant now) {
        int most = (int) (TOO_MANY_STALE_NODES * sampled(clusterIndex));
        return stale(clusterIndex, now, most + 1) > most;
    }

    private static int sampled(ClusterIndex clusterIndex) {
        return clusterIndex.heard().size();
    }

    /** The number of nodes that are silent for too long, counted up to {@code enough}. */
    private int stale(ClusterIndex clusterIndex, Instant now, int enough) {
        int stale = 0;
        for (Map.Entry<DueKey<NodeId>, NodeState> node : clusterIndex.heard()) {
            if (stale >= enough || !isBefore(node, settings.nodeStaleAfter(), now)) {
                break;
            }
            // A paused agent announces its silence.
            boolean isPaused = node.getValue().node().status() == NodeStatus.PAUSED;
            stale += !isPaused && isBefore(node, nodeStaleAfter(node.getValue()), now) ? 1 : 0;
        }
        return stale;
    }

    /** The cause why a job gets no more loans; empty if it may. */
    Optional<String> againstLoansTo(JobState job, Instant now) {
        Optional<Instant> last = job.lastProgressAt();
        if (job.gpus() > 0
                && last.isPresent()
                && last.get().plus(PROGRESS_STALE_AFTER).isBefore(now)
                && job.changing().isEmpty()) {
            return Optional.of("the last progress report of %s is %d s old (limit: %d s)"
                    .formatted(
                            job.spec().job(),
                            Duration.between(last.get(), now).toSeconds(),
                            PROGRESS_STALE_AFTER.toSeconds()));
        }
        return Optional.empty();
    }

    /** All rules and their present state. */
    List<SafetyRule> rules(StepBuilder builder) {
        List<SafetyRule> rules = new ArrayList<>();
        if (builder.mode().trust().isPresent()) {
            rules.add(new SafetyRule(
                    "the level of trust limits no loans",
                    "new loans beyond it",
                    new TrustGuard(builder, settings).limit()));
        }
        rules.addAll(List.of(
                new SafetyRule("lending is on", "new loans", againstLending()),
                new SafetyRule(
                        "the request rates of all services are fresh and lending is not stopped",
                        "new loans",
                        againstLoans(builder)),
                new SafetyRule(
                        "the demand of all services is known, and loans are not ordered back",
                        "keeping loans",
                        againstKeepingLoans(builder)),
                new SafetyRule(
                        "the domain is not frozen",
                        "changes of jobs, except reclaims for inference",
                        againstChanges(builder)),
                new SafetyRule("at least 60 % of the nodes report", "every change", againstEverything(builder))));
        return List.copyOf(rules);
    }

    /** The next time at which silence forces a change, if all sources stay silent. */
    static Optional<Instant> nextChange(ClusterIndex clusterIndex, Instant now) {
        return clusterIndex
                .silent()
                .firstKey(due -> !due.at().isBefore(now))
                .map(due -> due.at().plusMillis(1));
    }

    /** The events from which the age of request rates is known. */
    static List<Long> inputs(StepBuilder builder) {
        return builder.services().stream()
                .flatMap(service -> service.rateEvents().stream())
                .toList();
    }

    private static boolean isBefore(Map.Entry<DueKey<NodeId>, NodeState> heard, Duration silence, Instant now) {
        return heard.getKey().at().plus(silence).isBefore(now);
    }

    private Duration nodeStaleAfter(NodeState node) {
        Duration windows = windows(node.samplePeriod().orElse(Duration.ZERO));
        return windows.compareTo(settings.nodeStaleAfter()) > 0 ? windows : settings.nodeStaleAfter();
    }

    private static Duration windows(Duration window) {
        return window.plus(window).plus(window);
    }

    private static Duration silence(ServiceState service, Instant now) {
        return Duration.between(service.heardAt(), now);
    }
}
