package io.lendstream.core.scheduler;

import io.lendstream.core.batching.BatchLatency;
import io.lendstream.core.batching.BatchingRule;
import io.lendstream.core.batching.BatchingRule.Proposal;
import io.lendstream.core.batching.ServiceBatches;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Bucket;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.decision.Wording;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
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

/** Changes how the servers of a service batch, if their reported batch times call for it. */
final class BatchChanges {
    /** The shortest window of latencies, and the shortest time between two changes. */
    private static final Duration WINDOW = Duration.ofSeconds(10);
    /** The setting in force is published again after this time, because its topic has a retention time. */
    private static final Duration AGAIN = Duration.ofDays(7);

    private final StepBuilder builder;
    private final SchedulerSettings settings;

    BatchChanges(StepBuilder builder, SchedulerSettings settings) {
        this.builder = builder;
        this.settings = settings;
    }

    /** Adjusts the services that have sent rates since they were last judged. */
    void adjust(Iterable<ServiceState> services) {
        if (builder.mode().frozen()) {
            return;
        }
        for (ServiceState service : services) {
            if (service.spec().hasGroups()) {
                continue; // batch times are learned by GPU, and a replica of it has several
            }
            service.batches()
                    .filter(batches -> isDue(service, batches.guard().judgedAt()))
                    .ifPresent(batches -> adjust(service, batches));
            for (ServiceBatches other : service.otherBatches()) {
                if (isDue(service, other.guard().judgedAt())) {
                    adjust(builder.services().require(service.spec().service()), other);
                }
            }
        }
    }

    /** Whether a window with at least one rate has passed. */
    private boolean isDue(ServiceState service, Instant judgedAt) {
        Duration window = service.window().compareTo(WINDOW) > 0 ? service.window() : WINDOW;
        return !builder.now().isBefore(judgedAt.plus(window))
                && service.lastRateAt().filter(judgedAt::isBefore).isPresent();
    }

    private void adjust(ServiceState service, ServiceBatches batches) {
        instances(service, batches.gpu())
                .filter(it -> !it.serving().isEmpty())
                .ifPresent(instances -> batches.on(instances.slice())
                        .ifPresent(latency -> adjust(service, batches, instances, latency)));
    }

    /** What its replicas on a kind of GPU run on; of several kinds only if batches of several are known. */
    private Optional<Instances> instances(ServiceState service, String gpu) {
        ServiceId name = service.spec().service();
        Optional<Instances> alike = Instances.of(builder, name);
        if (alike.isPresent() || service.otherBatches().isEmpty()) {
            return alike.filter(it -> it.gpu().model().equals(gpu));
        }
        return Instances.all(builder, name).stream()
                .filter(it -> it.gpu().model().equals(gpu))
                .findFirst();
    }

    /** Requests per second of one of these replicas: each gets its part by its capacity. */
    private double ratePerReplica(ServiceState service, Instances instances) {
        int replicas = instances.serving().size();
        if (service.otherBatches().isEmpty()) {
            return service.arrivalsPerSecond() / replicas;
        }
        double all = 0;
        for (Instances each : Instances.all(builder, service.spec().service())) {
            all += capacity(service, each);
        }
        double mine = capacity(service, instances);
        return all > 0 ? service.arrivalsPerSecond() * mine / all / replicas : service.arrivalsPerSecond() / replicas;
    }

    private double capacity(ServiceState service, Instances instances) {
        double sum = 0;
        for (GpuId gpu : instances.serving()) {
            sum += service.spec().capacityOn(builder.gpu(gpu).kind());
        }
        return sum;
    }

    private void adjust(
            ServiceState service, ServiceBatches batches, Instances instances, IntFunction<BatchLatency> latency) {
        Optional<String> profile = instances.smallest().map(MigProfile::name);
        Optional<Action.Batching> inForce =
                batches.decided().filter(it -> it.profile().equals(profile));
        Proposal proposal = new BatchingRule(
                        service.spec().slo(),
                        ratePerReplica(service, instances),
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

    /** The number of serving replicas that do not have the setting yet. */
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
        String text = "%s uses batches of at most %s%s: %s; the plan adds %s to measured batch times%s"
                .formatted(
                        next.service(),
                        described(next.buckets()),
                        changed ? " instead of " + described(before.get().buckets()) : "",
                        cause(service, batches, instances, before, changed),
                        Wording.percent(margin),
                        learner.state().drifted() ? ", which have drifted" : "");
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
            return "its p99 latency was %.0f ms (SLO: %d ms)"
                    .formatted(1000 * batches.guard().p99Seconds().orElseThrow(), objective);
        }
        if (before.isEmpty()) {
            return "its batch times are now known well enough for its SLO of %d ms".formatted(objective);
        }
        int newcomers = newcomers(before, instances);
        if (newcomers > 0) {
            return Reason.counted(newcomers, "new replica") + (newcomers == 1 ? " needs" : " need") + " the setting";
        }
        return changed
                ? "it answers %.1f requests/s on %s within its SLO of %d ms"
                        .formatted(
                                service.arrivalsPerSecond(),
                                Reason.counted(instances.serving().size(), "replica"),
                                objective)
                : "the setting is published again every 7 days";
    }

    /** Batch sizes and the longest wait: {@code 14}, or {@code 32 up to input size 64, 8 up to input size 512}. */
    private static String described(List<Bucket> buckets) {
        String sizes = buckets.size() == 1
                ? Integer.toString(buckets.get(0).maxBatch())
                : buckets.stream()
                        .map(bucket -> "%d up to input size %.0f".formatted(bucket.maxBatch(), bucket.upToSize()))
                        .collect(Collectors.joining(", "));
        long delay = buckets.stream()
                .mapToLong(bucket -> bucket.maxQueueDelay().toMillis())
                .max()
                .orElse(0);
        return delay > 0 ? "%s, started after at most %d ms".formatted(sizes, delay) : sizes;
    }
}
