package io.lendstream.core.demand;

import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.KindId;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Replicas of a service on several kinds of GPU, which answer more or less. A need is counted in these replicas first,
 * in their order, and then in replicas of one more kind.
 */
public final class ReplicaMix implements ReplicaCounting {
    private static final double ROUNDING = 1e-9;

    private final double[] perSecond;
    private final double next;

    /**
     * @param perSecond requests per second that each replica answers within the SLO, in the order in which they are
     *     kept; above 0
     * @param next the same of one more replica; above 0
     */
    public ReplicaMix(double[] perSecond, double next) {
        if (!(next > 0)) {
            throw new IllegalArgumentException("one more replica must answer more than 0 requests/s, but was " + next);
        }
        this.perSecond = perSecond.clone();
        this.next = next;
    }

    /**
     * The mix of a service, in the order in which it prefers kinds. Replicas on kinds that it must not use are left
     * out.
     *
     * @param kinds those of its replicas
     * @param next requests per second that one more replica answers; above 0
     */
    public static ReplicaMix of(InferenceService service, List<Optional<KindId>> kinds, double next) {
        double[] ordered = new double[kinds.size()];
        int count = 0;
        int places = Math.max(1, service.capacities().size());
        for (int place = 0; place < places; place++) {
            for (Optional<KindId> kind : kinds) {
                OptionalInt preference = service.preference(kind);
                if (preference.isPresent() && preference.getAsInt() == place) {
                    ordered[count++] = service.capacityOn(kind);
                }
            }
        }
        return new ReplicaMix(Arrays.copyOf(ordered, count), next);
    }

    @Override
    public int replicasFor(double requestsPerSecond) {
        double missing = requestsPerSecond / ReplicaCapacity.USABLE;
        int count = 0;
        while (count < perSecond.length && missing > ROUNDING * perSecond[count]) {
            missing -= perSecond[count++];
        }
        double more = missing > 0 ? Math.ceil(missing / next - ROUNDING) : 0;
        return (int) Math.min(Integer.MAX_VALUE, count + Math.max(0, more));
    }
}
