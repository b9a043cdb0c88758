package io.lendstream.core.scheduler;

import io.lendstream.core.batching.BatchLatency;
import io.lendstream.core.batching.BatchingRule;
import io.lendstream.core.batching.BatchingRule.Proposal;
import io.lendstream.core.batching.ServiceBatches;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Bucket;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.latency.LatencyLearner;
import io.lendstream.core.mig.MigProfile;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

/** Tells a service's servers how to batch, when what they report of their batches says that it should be otherwise. */
final class BatchChanges {
    /** A window of latencies is at least so long, and nothing is said more often. */
    private static final Duration WINDOW = Duration.ofSeconds(10);
    /** What holds is said again, as its topic forgets. */
    private static final Duration AGAIN = Duration.ofDays(7);

    private final StepBuilder builder;
    private final SchedulerSettings settings;

    BatchChanges(StepBuilder builder, SchedulerSettings settings) {
        this.builder = builder;
        this.settings = settings;
    }

    /** Looks at every one of these services of which something was heard since it was last looked at. */
    void adjust(Iterable<ServiceState> services) {
        if (builder.mode().frozen()) {
            return;
        }
        for (ServiceState service : services) {
            service.batches()
                    .filter(batches -> isDue(service, batches.guard().judgedAt()))
                    .ifPresent(batches -> adjust(service, batches));
        }
    }

    /** Whether a window has passed, and something was heard in it. */
    private boolean isDue(ServiceState service, Instant judgedAt) {
        Duration window = service.window().compareTo(WINDOW) > 0 ? service.window() : WINDOW;
        return !builder.now().isBefore(judgedAt.plus(window))
                && service.lastRateAt().filter(judgedAt::isBefore).isPresent();
    }

    private void adjust(ServiceState service, ServiceBatches batches) {
        Instances.of(builder, service.spec().service())
                .filter(it -> !it.serving().isEmpty() && it.gpu().model().equals(batches.gpu()))
                .ifPresent(instances -> batches.on(instances.slice())
                        .ifPresent(latency -> adjust(service, batches, instances, latency)));
    }

    private void adjust(
            ServiceState service, ServiceBatches batches, Instances instances, IntFunction<BatchLatency> latency) {
        Optional<String> profile = instances.smallest().map(MigProfile::name);
        Optional<Action.Batching> inForce =
                batches.decided().filter(it -> it.profile().equals(profile));
        Proposal proposal = new BatchingRule(
                        service.spec().slo(),
                        service.arrivalsPerSecond() / instances.serving().size(),
                        batches.sizes(),
                        batches.largest(),
                        latency)
                .next(inForce.map(Action.Batching::buckets).orElse(List.of()), batches.guard(), builder.now());
        boolean again =
                inForce.isPresent() && !builder.now().isBefore(batches.at().plus(AGAIN));
        if (!proposal.isMaterial() && newcomers(inForce, instances) == 0 && !again) {
            builder.put(service.with(batches.judged(proposal.guard())));
            return;
        }
        List<Bucket> buckets = proposal.isMaterial() || inForce.isEmpty()
                ? proposal.buckets()
                : inForce.get().buckets();
        Action.Batching next = new Action.Batching(service.spec().service(), instances.serving(), profile, buckets);
        builder.decide(builder.now().plus(settings.notice()), reason(service, batches, instances, inForce, next), next);
        builder.put(service.with(batches.told(next, builder.now(), proposal.guard())));
    }

    /** How many serve that have not been told. */
    private static int newcomers(Optional<Action.Batching> inForce, Instances instances) {
        return inForce.isEmpty()
                ? 0
                : (int) instances.serving().stream()
                        .filter(gpu -> !inForce.get().gpus().contains(gpu))
                        .count();
    }

    private Reason reason(
            ServiceState service,
            ServiceBatches batches,
            Instances instances,
            Optional<Action.Batching> before,
            Action.Batching next) {
        LatencyLearner learner = batches.learner();
        Bucket last = next.buckets().get(next.buckets().size() - 1);
        double margin = learner.margin(instances.slice(), last.maxBatch(), 1);
        Map<String, Double> numbers = new TreeMap<>();
        numbers.put("sloMillis", (double) service.spec().slo().toMillis());
        numbers.put("maxBatch", (double) last.maxBatch());
        numbers.put("maxQueueDelayMillis", (double) last.maxQueueDelay().toMillis());
        numbers.put("margin", margin);
        numbers.put("replicas", (double) instances.serving().size());
        numbers.put("requestsPerSecond", service.arrivalsPerSecond());
        batches.guard().p99Seconds().ifPresent(seconds -> numbers.put("p99Millis", 1000 * seconds));
        boolean changed = before.isPresent() && !before.get().buckets().equals(next.buckets());
        String text = "service %s: %s: batches of at most %s%s; they are taken to be %.0f %% longer than learned%s"
                .formatted(
                        next.service(),
                        cause(service, batches, instances, before, changed),
                        described(next.buckets()),
                        changed ? " instead of " + described(before.get().buckets()) : "",
                        100 * margin,
                        learner.state().drifted() ? ", for they have drifted" : "");
        boolean late = batches.guard().isLate(service.spec().slo());
        return builder.because(late ? ReasonCode.LATE : ReasonCode.BATCHES, text, numbers, service.rateEvents());
    }

    private static String cause(
            ServiceState service,
            ServiceBatches batches,
            Instances instances,
            Optional<Action.Batching> before,
            boolean changed) {
        long objective = service.spec().slo().toMillis();
        if (batches.guard().isLate(service.spec().slo())) {
            return "p99 was %.0f ms of %d ms"
                    .formatted(1000 * batches.guard().p99Seconds().orElseThrow(), objective);
        }
        if (before.isEmpty()) {
            return "its batches are known well enough for %d ms".formatted(objective);
        }
        int newcomers = newcomers(before, instances);
        if (newcomers > 0) {
            return Reason.counted(newcomers, "replica") + " more";
        }
        return changed
                ? "%.1f requests/s on %s, %d ms allowed"
                        .formatted(
                                service.arrivalsPerSecond(),
                                Reason.counted(instances.serving().size(), "replica"),
                                objective)
                : "said again";
    }

    /** {@code 14}, or {@code 32 up to size 64, 8 up to size 512}, and how long requests wait. */
    private static String described(List<Bucket> buckets) {
        String sizes = buckets.size() == 1
                ? Integer.toString(buckets.get(0).maxBatch())
                : buckets.stream()
                        .map(bucket -> "%d up to size %.0f".formatted(bucket.maxBatch(), bucket.upToSize()))
                        .collect(Collectors.joining(", "));
        long delay = buckets.stream()
                .mapToLong(bucket -> bucket.maxQueueDelay().toMillis())
                .max()
                .orElse(0);
        return delay > 0 ? "%s, begun after at most %d ms".formatted(sizes, delay) : sizes;
    }
}
