package io.lendstream.core.scheduler;

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
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What stale telemetry forbids: the less is known, the more stays with inference. */
record Safety(SchedulerSettings settings) {
    private static final double TOO_MANY_STALE_NODES = 0.4;
    /** Silence of a running job after which it is lent nothing more. */
    static final Duration PROGRESS_STALE_AFTER = Duration.ofMinutes(5);

    /** Why no GPU of inference is ever lent; empty where lending is on. */
    Optional<String> againstLending() {
        return settings.lending() ? Optional.empty() : Optional.of("scheduler.lending is false");
    }

    /** Why nothing may be newly lent; empty when loans are allowed. */
    Optional<String> againstLoans(StepBuilder builder) {
        if (builder.mode().lendingStopped()) {
            return Optional.of("all loans were ordered back; thaw to lend again");
        }
        return againstTrust(builder);
    }

    /** Why what is known of demand is not to be relied on; empty when it is. */
    Optional<String> againstTrust(StepBuilder builder) {
        for (ServiceState service : builder.services().values()) {
            Duration silence = silence(service, builder.now());
            Duration bound = service.patience();
            if (silence.compareTo(bound) > 0) {
                String windows = "3 windows of %d s".formatted(service.window().toSeconds());
                boolean isCapped = bound.compareTo(windows(service.window())) < 0;
                return Optional.of("request rates of service %s are stale: %d s old, more than %s"
                        .formatted(
                                service.spec().service(),
                                silence.toSeconds(),
                                isCapped ? bound.toSeconds() + " s" : windows));
            }
        }
        return Optional.empty();
    }

    /** Why everything lent has to come back; empty when loans may stay. */
    Optional<String> againstKeepingLoans(StepBuilder builder) {
        if (builder.mode().lendingStopped()) {
            return Optional.of("all loans were ordered back");
        }
        Optional<DueKey<ServiceId>> first = builder.clusterIndex().silent().firstKey();
        if (first.isEmpty() || !first.get().at().isBefore(builder.now())) {
            return Optional.empty();
        }
        for (ServiceState service : builder.services().values()) {
            if (service.unknownAt().isBefore(builder.now())) {
                return Optional.of("demand of service %s is unknown: nothing heard of it for %d s"
                        .formatted(
                                service.spec().service(),
                                silence(service, builder.now()).toSeconds()));
            }
        }
        return Optional.empty();
    }

    /** Why jobs may not be changed, other than to give inference its GPUs back; empty usually. */
    Optional<String> againstChanges(StepBuilder builder) {
        if (builder.mode().frozen()) {
            return Optional.of("the domain is frozen");
        }
        return againstEverything(builder);
    }

    /** Why no plan is made, though what is under way goes on; empty usually. */
    Optional<String> againstPlans(Instant now) {
        return settings.changeLimits()
                .quietWindows()
                .at(now)
                .map(window -> "%s UTC is a quiet window".formatted(window.text()));
    }

    /** Why nothing at all may be changed, so that loans end with their leases; empty usually. */
    Optional<String> againstEverything(StepBuilder builder) {
        return tooManyNodesStale(builder)
                ? Optional.of("%d of %d nodes are silent at once, more than 40 %%: the fault is likely ours"
                        .formatted(
                                stale(builder.clusterIndex(), builder.now(), Integer.MAX_VALUE),
                                sampled(builder.clusterIndex())))
                : Optional.empty();
    }

    /** Whether so few nodes are heard of that nothing is changed. */
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

    /** How many nodes are silent for too long; counted up to a number. */
    private int stale(ClusterIndex clusterIndex, Instant now, int enough) {
        int stale = 0;
        for (Map.Entry<DueKey<NodeId>, NodeState> node : clusterIndex.heard()) {
            if (stale >= enough || !isBefore(node, settings.nodeStaleAfter(), now)) {
                break;
            }
            boolean isPaused = node.getValue().node().status() == NodeStatus.PAUSED; // it said that it would be silent
            stale += !isPaused && isBefore(node, nodeStaleAfter(node.getValue()), now) ? 1 : 0;
        }
        return stale;
    }

    /** Why a job may not be lent more; empty when it may. */
    Optional<String> againstLoansTo(JobState job, Instant now) {
        Optional<Instant> last = job.lastProgressAt();
        if (job.gpus() > 0
                && last.isPresent()
                && last.get().plus(PROGRESS_STALE_AFTER).isBefore(now)
                && job.changing().isEmpty()) {
            return Optional.of("progress of job %s is stale: %d s old"
                    .formatted(
                            job.spec().job(), Duration.between(last.get(), now).toSeconds()));
        }
        return Optional.empty();
    }

    /** All of this as it stands, for people. */
    List<SafetyRule> rules(StepBuilder builder) {
        return List.of(
                new SafetyRule("lending is on", "new loans", againstLending()),
                new SafetyRule(
                        "demand of every service is known and nobody stopped lending",
                        "new loans",
                        againstLoans(builder)),
                new SafetyRule(
                        "demand of no service is unknown for long", "keeping loans", againstKeepingLoans(builder)),
                new SafetyRule("nobody froze the domain", "changes of jobs but for inference", againstChanges(builder)),
                new SafetyRule("most nodes are heard of", "every change", againstEverything(builder)));
    }

    /** When silence next forces something, if everybody stays silent from now on. */
    static Optional<Instant> nextChange(ClusterIndex clusterIndex, Instant now) {
        return clusterIndex
                .silent()
                .firstKey(due -> !due.at().isBefore(now))
                .map(due -> due.at().plusMillis(1));
    }

    /** The events that a judgement on stale demand rests on. */
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
