package io.lendstream.core.scheduler;

import io.lendstream.core.event.Event;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Pacing;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * How many GPUs of inference may be on their way to training or back at a time. A service that misses its SLO halves it, once a
 * minute at most; each plan without such a minute raises it by a sixteenth of what is usual (additive increase, multiplicative
 * decrease). It bounds what plans begin, never what inference needs.
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

    /** Slows down where an event tells of a missed SLO. */
    void observe(Event event) {
        if (event.asRate().filter(this::missesSlo).isPresent() && !isJustCut()) {
            builder.pacing(Optional.of(new Pacing(Math.max(1, limit() / 2), builder.now())));
        }
    }

    private boolean missesSlo(RequestRate rate) {
        return builder.services()
                .get(rate.service())
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

    /** A plan begins: goes a step faster again if nothing was missed for a while. */
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

    /** How many more GPUs may be set on their way. */
    long room() {
        return Math.max(0, limit() - underWay());
    }

    private long underWay() {
        long underWay = 0;
        for (GpuId gpu : builder.clusterIndex().gpus().owed().values()) {
            GpuState state = builder.gpus().require(gpu);
            underWay += state.pool() == Pool.INFERENCE && isUnderWay(state) ? 1 : 0;
        }
        return underWay;
    }

    /** The setting with its value, what counts towards it, and what gives room again, for people. */
    String explained() {
        String lowered = builder.pacing()
                .map(pacing ->
                        ", lowered to %d since a service missed its SLO at %s".formatted(limit(), pacing.cutAt()))
                .orElse("");
        return "scheduler.max-transfers is %d%s, and %s on the way already; wait until they have arrived, or raise it"
                .formatted(usual, lowered, counted(underWay()));
    }

    private static String counted(long gpus) {
        return gpus == 1 ? "1 GPU is" : gpus + " GPUs are";
    }

    private static boolean isUnderWay(GpuState gpu) {
        return gpu.owner().isInTransfer() && gpu.owner().isHeldByJob();
    }
}
