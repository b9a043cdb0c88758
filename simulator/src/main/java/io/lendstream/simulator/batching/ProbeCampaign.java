package io.lendstream.simulator.batching;

import io.lendstream.core.batching.BatchLatency;
import io.lendstream.core.batching.ModelLatency;
import io.lendstream.core.batching.Packing;
import io.lendstream.core.batching.PackingPlanner;
import io.lendstream.core.batching.PlannedService;
import io.lendstream.core.batching.ServiceCapacity;
import io.lendstream.core.latency.LatencyPrior;
import io.lendstream.core.latency.ProbeChoice;
import io.lendstream.core.latency.Slice;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Measures a few batches of each model, and no more: first the corners, then round by round what tells most about the plan as it
 * would be by now.
 */
public final class ProbeCampaign {
    private static final int CORNERS = 4;
    /** What a batch matters with which the plan does not reckon, but another might: in slices. */
    private static final double UNUSED = .1;
    /** A batch must not take longer than this share of the objective, for a request may wait for one and be in the next. */
    private static final double SHARE_OF_OBJECTIVE = 1 / 2.24;

    private ProbeCampaign() {}

    /**
     * Probes all models.
     *
     * @param tables by model; asked for no more rows than are probed
     * @param services that will be planned for, without latencies
     * @param models by service
     * @param probes of each model, at least 1
     */
    public static Map<String, ProbedModel> run(
            Map<String, LatencyTable> tables,
            MigGpu gpu,
            Function<LatencyTable, LatencyPrior> priors,
            List<PlannedService> services,
            Map<String, String> models,
            int probes) {
        Map<String, ProbedModel> known = new TreeMap<>();
        tables.forEach((model, table) ->
                known.put(model, ProbedModel.of(table, priors.apply(table)).withCorners(Math.min(probes, CORNERS))));
        for (int round = CORNERS; round < probes; round++) {
            Map<String, Map<ProbeChoice.Point, Double>> matter = matter(known, gpu, services, models);
            known.replaceAll((model, probed) -> probed.withBest(matter.get(model)));
        }
        return known;
    }

    /** The batches with which a plan would reckon at most, by model, and how many slices hang on each. */
    private static Map<String, Map<ProbeChoice.Point, Double>> matter(
            Map<String, ProbedModel> known, MigGpu gpu, List<PlannedService> services, Map<String, String> models) {
        Map<String, Map<ProbeChoice.Point, Double>> matter = new TreeMap<>();
        known.keySet().forEach(model -> matter.put(model, new LinkedHashMap<>()));
        List<ServiceCapacity> capacities = services.stream()
                .map(service -> ServiceCapacity.estimated(
                        service.withLatency(
                                known.get(models.get(service.name())).latency()),
                        gpu,
                        1))
                .filter(capacity -> !capacity.byProfile().isEmpty())
                .toList();
        if (capacities.isEmpty()) {
            return matter;
        }
        List<Packing.Demand> demands =
                capacities.stream().map(ServiceCapacity::demand).toList();
        Map<String, Integer> slices = new HashMap<>();
        for (Packing.Cut cut : new PackingPlanner(gpu, demands).greedy().gpus()) {
            for (int slot = 0; slot < cut.profiles().size(); slot++) {
                MigProfile profile = cut.profiles().get(slot);
                slices.merge(
                        key(demands.get(cut.services().get(slot)).service(), profile),
                        profile.computeSlices(),
                        Integer::sum);
            }
        }
        for (ServiceCapacity capacity : capacities) {
            PlannedService service = capacity.service();
            ModelLatency latency = service.latency();
            for (MigProfile profile : capacity.byProfile().keySet()) {
                double weight = UNUSED + slices.getOrDefault(key(service.name(), profile), 0);
                for (int edge : capacity.edges()) {
                    BatchLatency batches = latency.on(profile, edge).orElseThrow();
                    int batch = 1;
                    while (2 * batch <= batches.largestBatch()
                            && batches.millis(2 * batch) <= SHARE_OF_OBJECTIVE * service.sloMillis()) {
                        batch *= 2;
                    }
                    matter.get(models.get(service.name()))
                            .merge(
                                    new ProbeChoice.Point(
                                            Slice.of(gpu, profile), batch, (double) edge / latency.largestSize()),
                                    weight / capacity.edges().size(),
                                    Double::sum);
                }
            }
        }
        return matter;
    }

    private static String key(String service, MigProfile profile) {
        return service + " " + profile.name();
    }
}
