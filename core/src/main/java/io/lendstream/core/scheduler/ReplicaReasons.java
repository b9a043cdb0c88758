package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.decision.Wording;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.event.Limits;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** The reasons of all changes of replicas. */
final class ReplicaReasons {
    private final StepBuilder builder;
    private final Policy policy;
    /** The replicas of each service before this step. */
    private final Map<ServiceId, List<GpuState>> replicas;
    /** The needs of services that count by kinds. */
    private final Map<ServiceId, KindNeed> byKind;
    /** Replicas that this step has started, by service. */
    private final Map<ServiceId, Integer> started = new LinkedHashMap<>();

    ReplicaReasons(
            StepBuilder builder,
            Policy policy,
            Map<ServiceId, List<GpuState>> replicas,
            Map<ServiceId, KindNeed> byKind) {
        this.builder = builder;
        this.policy = policy;
        this.replicas = replicas;
        this.byKind = byKind;
    }

    /** The replicas of a service that this step has started. */
    int startedOf(ServiceId service) {
        return started.getOrDefault(service, 0);
    }

    /** Counts replicas that this step has started. */
    void started(ServiceState service, int count) {
        started.merge(service.spec().service(), count, Integer::sum);
    }

    /** The kinds of these GPUs, if the service counts by kinds, such as {@code  on 2 L4-24GB}. */
    String kindsOf(ServiceState service, List<GpuId> gpus) {
        return byKind.containsKey(service.spec().service())
                ? kinds(service, gpus.stream().map(builder::gpu).toList())
                : "";
    }

    /** The same of units that are known. */
    String kinds(ServiceState service, List<GpuState> gpus) {
        if (!byKind.containsKey(service.spec().service())) {
            return "";
        }
        SortedMap<KindId, Integer> counts = new TreeMap<>();
        for (GpuState gpu : gpus) {
            gpu.kind().ifPresent(kind -> counts.merge(kind, 1, Integer::sum));
        }
        List<String> parts = new ArrayList<>();
        counts.forEach((kind, count) -> parts.add(count + " " + kind));
        return parts.isEmpty() ? "" : " on " + Wording.list(parts);
    }

    /** The reason for a change of the service's own replicas, such as {@code starts 1 replica}. */
    Reason of(ServiceState service, ReplicaNeed need, String what) {
        return of(service, need, what, Map.of());
    }

    /** The same with more numbers. */
    Reason of(ServiceState service, ReplicaNeed need, String what, Map<String, Double> more) {
        Shortage shortage = shortage(service, need);
        String text = service.spec().service() + " " + shortage.inWords(": ", "") + "; it " + what;
        return of(service, need, shortage, text, more);
    }

    /** The start-up time that counts, and how many starts it rests on, if any was measured. */
    static void startUps(ServiceState service, Map<String, Double> numbers) {
        int measured = service.startUps().stream()
                .mapToInt(each -> each.millis().size())
                .sum();
        if (measured > 0) {
            numbers.put("startUpsMeasured", (double) measured);
            numbers.put("startUpSeconds", Limits.millis(service.longestStart()) / 1000.0);
        }
    }

    Shortage shortage(ServiceState service, ReplicaNeed need) {
        int serving = 0;
        int starting = startedOf(service.spec().service());
        int leftOut = 0;
        KindNeed kinds = byKind.get(service.spec().service());
        for (GpuState gpu : replicas.getOrDefault(service.spec().service(), List.of())) {
            Owner owner = builder.gpu(gpu.gpuId()).owner();
            if (kinds == null || kinds.uses(gpu)) {
                serving += owner.isServing() ? 1 : 0;
                starting += owner.isBinding() ? 1 : 0;
            } else {
                leftOut += owner.isActiveReplica() ? 1 : 0;
            }
        }
        return new Shortage(need, serving, starting, leftOut, kinds == null ? "" : kinds.inWords());
    }

    /**
     * The replicas that a service lacks.
     *
     * @param serving replicas that answer
     * @param starting replicas that come up
     * @param leftOut replicas on kinds of GPU that the service does not use any more, which do not count
     * @param on the kind of GPU that they are counted on, if replicas are not alike, such as {@code  on L4-24GB}
     */
    record Shortage(ReplicaNeed need, int serving, int starting, int leftOut, String on) {
        int replicas() {
            return Math.max(0, need.replicas() - serving - starting);
        }

        /** Concatenated by hand, because a formatter takes a tenth of the step. */
        String inWords(String open, String close) {
            return Wording.lacking(replicas(), starting, "replica") + on + open + need.explained() + ", "
                    + serving + " running" + (starting == 0 ? "" : ", " + starting + " starting")
                    + (leftOut == 0 ? "" : ", " + leftOut + " on kinds that it does not declare") + close;
        }
    }

    /** The reason why others give up replicas for requests of a service that wait. */
    Reason waiting(ServiceState service, ReplicaNeed need, Shortage shortage, String text, Map<String, Double> more) {
        return of(ReasonCode.WAITING, service, need, shortage, text, more);
    }

    Reason of(ServiceState service, ReplicaNeed need, Shortage shortage, String text, Map<String, Double> more) {
        return of(need.isAhead() ? ReasonCode.FORECAST : ReasonCode.DEMAND, service, need, shortage, text, more);
    }

    private Reason of(
            ReasonCode code,
            ServiceState service,
            ReplicaNeed need,
            Shortage shortage,
            String text,
            Map<String, Double> more) {
        List<GpuState> mine = replicas.getOrDefault(service.spec().service(), List.of());
        Map<String, Double> numbers = new TreeMap<>(more);
        numbers.put("short", (double) shortage.replicas());
        numbers.put("running", (double) shortage.serving());
        numbers.put("starting", (double) shortage.starting());
        numbers.put("needed", (double) need.replicas());
        numbers.put("neededNow", (double) need.now());
        numbers.put("neededAhead", (double) need.ahead());
        numbers.put("floor", (double) need.floor());
        if (need.more() > 0) {
            numbers.put("neededForSlo", (double) need.more());
        }
        numbers.put("replicas", (double) mine.size());
        numbers.put("requestsPerSecond", service.arrivalsPerSecond());
        startUps(service, numbers);
        List<Long> inputs = new ArrayList<>(service.rateEvents());
        if (policy.info().looksAhead()) {
            inputs.add(service.forecastEvent());
        }
        return builder.because(code, text, numbers, inputs);
    }
}
