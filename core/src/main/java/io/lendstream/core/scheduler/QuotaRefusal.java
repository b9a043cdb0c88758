package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.state.QuotaUse;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * The cause why a tenant gets no more units: the quota of its queue.
 *
 * @param uses the quotas that these units count in; none if the queue has no quota for them
 * @param floors GPUs of the limit that are kept for the floors of the queue's services
 */
record QuotaRefusal(QueueId queue, List<QuotaUse> uses, int floors) {
    QuotaRefusal {
        uses = List.copyOf(uses);
    }

    /** For example {@code queue team-a uses 4 of at most 4 GPUs (nominal quota 4)}. */
    String inWords() {
        if (uses.isEmpty()) {
            return "queue %s has no quota for GPUs of this kind".formatted(queue);
        }
        String kept = floors == 0
                ? ""
                : ", of which it keeps %s for floors of its services".formatted(Reason.counted(floors, "GPU"));
        return "queue %s uses %s%s"
                .formatted(queue, uses.stream().map(QuotaUse::inWords).collect(Collectors.joining(", ")), kept);
    }

    /** The numbers of the reason, over all quotas. */
    Map<String, Double> numbers() {
        Map<String, Double> numbers = new TreeMap<>();
        numbers.put("nominal", sum(QuotaUse::nominal));
        numbers.put("used", sum(QuotaUse::used));
        numbers.put("leaving", sum(QuotaUse::leaving));
        numbers.put("limit", sum(QuotaUse::limit));
        numbers.put("floors", (double) floors);
        return numbers;
    }

    /** Rounded, because sums of compute slices are. */
    private double sum(ToDoubleFunction<QuotaUse> part) {
        return Math.rint(uses.stream().mapToDouble(part).sum() * 1000) / 1000;
    }
}
