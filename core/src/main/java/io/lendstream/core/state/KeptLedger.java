package io.lendstream.core.state;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The ledger of queues as the last step left it, so that not each step builds it from all GPUs. It follows from the
 * state: states are equal whether or not they have it.
 */
final class KeptLedger {
    static final KeptLedger NONE = new KeptLedger(null);

    private final @Nullable QueueLedger ledger;

    KeptLedger(@Nullable QueueLedger ledger) {
        this.ledger = ledger;
    }

    /** A copy to go on with. */
    Optional<QueueLedger> copy() {
        return Optional.ofNullable(ledger).map(QueueLedger::copy);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof KeptLedger;
    }

    @Override
    public int hashCode() {
        return 0;
    }

    @Override
    public String toString() {
        return "KeptLedger";
    }
}
