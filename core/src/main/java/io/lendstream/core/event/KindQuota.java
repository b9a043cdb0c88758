package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import io.lendstream.core.id.KindId;
import java.util.Optional;

/**
 * The quota of a queue for a kind of GPU, in GPUs.
 *
 * @param kind the kind; empty for all kinds that the queue does not name
 * @param nominalQuota GPUs that belong to the queue
 * @param borrowingLimit most GPUs beyond the nominal quota, from other queues of its cohort; empty for no such limit
 * @param lendingLimit most GPUs of the nominal quota that other queues may borrow; empty for no such limit
 */
public record KindQuota(
        Optional<KindId> kind, double nominalQuota, Optional<Double> borrowingLimit, Optional<Double> lendingLimit) {
    public KindQuota {
        Checks.notNegative("nominalQuota", nominalQuota);
        Checks.notNegative("borrowingLimit", borrowingLimit);
        Checks.notNegative("lendingLimit", lendingLimit);
    }

    /** A quota without limits of borrowing and lending. */
    public static KindQuota of(Optional<KindId> kind, double nominalQuota) {
        return new KindQuota(kind, nominalQuota, Optional.empty(), Optional.empty());
    }
}
