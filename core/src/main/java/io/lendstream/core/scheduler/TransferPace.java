package io.lendstream.core.scheduler;

import io.lendstream.core.event.Event;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Pacing;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * The number of inference GPUs that may be in transfer to or from training at a time. A node that is lent as a whole
 * counts whole. A service that misses its SLO halves the number, at most once a minute. Each plan without a miss in the
 * last minute raises it by a sixteenth of the setting (additive increase, multiplicative decrease). It limits plans,
 * never reclaims for inference.
 */
final class TransferPace {
    private static final Duration BETWEEN_CUTS = Duration.ofMinutes(1);
    private static final int STEPS = 16;

    private final StepBuilder builder;
    private final int usual;

    TransferPace(StepBuilder builder, SchedulerSettings settings) {
        this.builder = builder;
        this.usual = settings.changeLimits().maxTransfers();
    }

    /** Slows down if an event reports a missed SLO. */
    void observe(Event event) {
        if (event.asRate().filter(this::missesSlo).isPresent() && !isJustCut()) {
            builder.pacing(Optional.of(new Pacing(Math.max(1, limit() / 2), builder.now())));
        }
    }

    private boolean missesSlo(RequestRate rate) {
        return builder.services()
                .get(rate.service())
                .filter(service -> !service.spec().removed())
                .flatMap(service -> rate.latency()
                        .p99LatencySeconds()
                        .filter(seconds -> seconds > service.spec().slo().toMillis() / 1000.0))
                .isPresent();
    }

    private boolean isJustCut() {
        return builder.pacing()
                .map(Pacing::cutAt)
                .map(cut -> cut.plus(BETWEEN_CUTS))
                .filter(builder.now()::isBefore)
                .isPresent();
    }

    /** Before a plan: speeds up by one step if no SLO was missed for a while. */
    void recover() {
        if (builder.pacing().isEmpty() || isJustCut()) {
            return;
        }
        int next = limit() + Math.max(1, usual / STEPS);
        Instant cutAt = builder.pacing().get().cutAt();
        builder.pacing(next >= usual ? Optional.empty() : Optional.of(new Pacing(next, cutAt)));
    }

    private int limit() {
        return builder.pacing()
                .map(Pacing::transfers)
                .map(most -> Math.min(most, usual))
                .orElse(usual);
    }

    /** The number of transfers that may still begin. */
    long room() {
        return Math.max(0, limit() - inTransfer());
    }

    private long inTransfer() {
        long inTransfer = 0;
        Bundles bundles = new Bundles(builder);
        Set<String> counted = new HashSet<>();
        for (GpuId gpu : builder.clusterIndex().gpus().owed().values()) {
            GpuState state = builder.gpus().require(gpu);
            if (state.pool() == Pool.INFERENCE && isInTransfer(state)) {
                inTransfer += bundles.weight(state, counted);
            }
        }
        return inTransfer;
    }

    /** The setting with its value, the transfers that count, and the way out. */
    String explained() {
        String lowered = builder.pacing()
                .map(pacing ->
                        " (lowered to %d, because a service missed its SLO at %s)".formatted(limit(), pacing.cutAt()))
                .orElse("");
        return "scheduler.max-transfers is %d%s, and %s in transfer; wait until transfers end, or raise it"
                .formatted(usual, lowered, counted(inTransfer()));
    }

    private static String counted(long gpus) {
        return gpus == 1 ? "1 GPU is" : gpus + " GPUs are";
    }

    private static boolean isInTransfer(GpuState gpu) {
        return gpu.owner().isInTransfer() && gpu.owner().isHeldByJob();
    }
}
