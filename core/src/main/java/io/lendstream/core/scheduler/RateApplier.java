package io.lendstream.core.scheduler;

import io.lendstream.core.batching.ServiceBatches;
import io.lendstream.core.event.BatchTimes;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.id.KindId;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Applies a request rate to the state of its service. */
final class RateApplier {
    private final StepBuilder builder;
    private final ClusterModel model;
    private final MeasurementRules rules;

    RateApplier(StepBuilder builder, SchedulerSettings settings) {
        this.builder = builder;
        this.model = settings.model();
        this.rules = settings.measurements();
    }

    void take(RequestRate rate) {
        builder.services()
                .get(rate.service())
                .filter(service -> !service.spec().removed() && !service.hasSeen(rate))
                .ifPresent(service ->
                        take(rate, service.observed(rate, rules.sumShortWindows(), builder.eventSequence())));
    }

    /** Batches count only where it is known what they ran on. */
    private void take(RequestRate rate, ServiceState service) {
        List<BatchTimes> batches = onReplicas(rate);
        Optional<Instances> instances = batches.isEmpty() ? Optional.empty() : Instances.of(builder, rate.service());
        builder.put(instances
                .map(known -> service.with(service.batchesOn(known.gpu().model())
                        .or(service::batches)
                        .orElseGet(() ->
                                ServiceBatches.of(known.gpu(), rate.windowEnd()).heard(rate))
                        .served(batches, known.gpu())))
                .orElseGet(() -> servedOnKinds(rate, service)));
    }

    /** The batches of a rate without those of a kind of the domain on which the service has no replica any more. */
    private List<BatchTimes> onReplicas(RequestRate rate) {
        if (rate.batches().isEmpty()) {
            return rate.batches();
        }
        PersistentMap<KindId, Integer> ofDomain =
                builder.clusterIndex().trainingCapacity().kinds();
        List<BatchTimes> batches = new ArrayList<>(rate.batches().size());
        for (BatchTimes times : rate.batches()) {
            boolean isGone = times.kind()
                    .map(model.gpuKinds()::counted)
                    .filter(ofDomain::contains)
                    .filter(kind -> Instances.gpu(builder, rate.service(), kind).isEmpty())
                    .isPresent();
            if (!isGone) {
                batches.add(times);
            }
        }
        return batches;
    }

    /** Of a service on several kinds of GPU, batches count that name their kind. */
    private ServiceState servedOnKinds(RequestRate rate, ServiceState service) {
        if (rate.batches().isEmpty()) {
            return service;
        }
        Map<KindId, List<BatchTimes>> byKind = new TreeMap<>();
        for (BatchTimes times : rate.batches()) {
            times.kind()
                    .map(model.gpuKinds()::counted)
                    .ifPresent(kind -> byKind.computeIfAbsent(kind, any -> new ArrayList<>())
                            .add(times));
        }
        ServiceState learned = service;
        for (Map.Entry<KindId, List<BatchTimes>> kind : byKind.entrySet()) {
            Optional<MigGpu> gpu = Instances.gpu(builder, rate.service(), kind.getKey());
            if (gpu.isPresent()) {
                ServiceBatches next = learned.batchesOn(gpu.get().model())
                        .orElseGet(() ->
                                ServiceBatches.of(gpu.get(), rate.windowEnd()).heard(rate))
                        .served(kind.getValue(), gpu.get());
                boolean isFirst = learned.batches().isEmpty()
                        || learned.batches().get().gpu().equals(next.gpu());
                learned = isFirst ? learned.with(next) : learned.withOther(next);
            }
        }
        return learned;
    }
}
