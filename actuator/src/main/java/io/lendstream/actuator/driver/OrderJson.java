package io.lendstream.actuator.driver;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.HostShare;
import io.lendstream.core.decision.ReplicaUnits;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** An order as a line of JSON for commands and webhooks; {@code docs/drivers.md} has every field. */
final class OrderJson {
    private static final ObjectMapper JSON = new ObjectMapper().disable(SerializationFeature.FAIL_ON_EMPTY_BEANS);

    private OrderJson() {}

    static String of(Order order) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("decision", order.decision().toString());
        if (order instanceof Order.Place place) {
            fields.put("kind", "place");
            tenant(fields, place.tenant());
            fields.put("units", names(place.units()));
            fields.put("leaving", names(place.leaving()));
            fields.put("by", place.by().toString());
            place.allocation().ifPresent(allocation -> fields.put("allocation", allocation(allocation, place.units())));
            if (!place.replicas().isEmpty()) {
                fields.put(
                        "replicas",
                        place.replicas().stream().map(OrderJson::replica).toList());
            }
        } else if (order instanceof Order.Force force) {
            fields.put("kind", "force");
            tenant(fields, force.tenant());
            fields.put("units", names(force.units()));
            if (!force.users().isEmpty()) {
                fields.put("users", force.users());
            }
        } else if (order instanceof Order.Cut cut) {
            fields.put("kind", "cut");
            fields.put("gpu", cut.gpu().value());
            fields.put("instances", cut.places());
        } else if (order instanceof Order.Batch batch) {
            fields.put("kind", "batch");
            fields.put("service", batch.batching().service().value());
            fields.put("units", names(batch.batching().gpus()));
            fields.put(
                    "buckets",
                    batch.batching().buckets().stream().map(OrderJson::bucket).toList());
        }
        try {
            return JSON.writeValueAsString(fields);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("texts and numbers can always be written", e);
        }
    }

    private static void tenant(Map<String, Object> fields, Tenant tenant) {
        Map.Entry<String, String> named = tenant.match(Tenant.Cases.of(
                job -> Map.entry("job", job.job().value()),
                service -> Map.entry("service", service.service().value())));
        fields.put(named.getKey(), named.getValue());
    }

    /** @param own the units of this order, beside which the job may have others */
    private static Map<String, Object> allocation(Allocation allocation, List<GpuId> own) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("localBatch", allocation.localBatch());
        fields.put("accumulation", allocation.accumulation());
        fields.put("learningRateScale", allocation.learningRateScale());
        fields.put("mechanism", allocation.mechanism().name().toLowerCase(Locale.ROOT));
        if (!own.isEmpty() && !own.containsAll(allocation.gpus())) {
            fields.put("units", names(allocation.gpus()));
        }
        allocation.host().ifPresent(share -> fields.put("host", host(share)));
        return fields;
    }

    private static Map<String, Object> host(HostShare share) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("cpuMillis", share.cpuMillis());
        fields.put("memoryBytes", share.memoryBytes());
        return fields;
    }

    private static Map<String, Object> replica(ReplicaUnits replica) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("replica", replica.replica().value());
        fields.put("shape", replica.shape());
        fields.put("units", names(replica.units()));
        return fields;
    }

    private static Map<String, Object> bucket(io.lendstream.core.decision.Bucket bucket) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("upToSize", bucket.upToSize());
        fields.put("maxBatch", bucket.maxBatch());
        fields.put("maxQueueDelayMillis", bucket.maxQueueDelay().toNanos() / 1e6);
        return fields;
    }

    private static List<String> names(Collection<GpuId> units) {
        return units.stream().map(GpuId::value).toList();
    }
}
