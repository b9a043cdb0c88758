package io.lendstream.simulator;

import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.id.GpuId;
import io.lendstream.simulator.workload.Demand;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * A service of which only the rate of requests is known. Requests are a fluid: what the replicas can answer flows off
 * at once, the rest waits in the order of arrival.
 *
 * <p>Counts are drawn for slots of five seconds. Besides its windows it reports a slot in which more arrived than can
 * be answered, once a window, so that a rise is known before the end of the window.
 */
final class RateRun extends ServiceRun {
    /** Time for which a count of requests is drawn. */
    static final Duration SLOT = Duration.ofSeconds(5);

    private static final double SLOT_SECONDS = SLOT.toSeconds();
    /** While requests wait, the fluid moves in steps of this length. */
    private static final double FINE_SECONDS = 1;

    /** Number of drawn counts that are cached. */
    private static final int DRAWN = 64;

    private static final double ROUNDING = 1e-9;

    private final Demand.Rates demand;
    private final long seed;
    private final GpuMeter meter;
    private final Instant origin;
    /** The first slot that is not the workload's own, but a repetition of its last day. */
    private final double ownEnd;

    private final Deque<Waiting> queue = new ArrayDeque<>();
    private final Distribution delays = new Distribution();
    private Distribution latencySeconds = new Distribution();
    private double waiting;
    private double served;
    private double withinSlo;
    private long coldStarts;
    private long reportedCompletions;
    private boolean reportedEarly;
    /** Up to when the fluid has flowed, in seconds since the start. */
    private double clock;
    /** The requests up to the workload's own end; empty until then. */
    private Optional<OwnRequests> own = Optional.empty();

    private final long[] drawnSlots = new long[DRAWN];
    private final long[] drawnCounts = new long[DRAWN];

    /** Requests that arrived around a moment. */
    private record Waiting(double at, double requests) {}

    /** @param end the workload's own end, after which the demand repeats until all jobs are done */
    RateRun(
            InferenceService service,
            Demand.Rates demand,
            WorldSettings settings,
            GpuPlaces places,
            GpuMeter meter,
            Instant start,
            Instant end) {
        super(service, settings, places, start);
        this.demand = demand;
        this.seed = settings.seed() * 31 + service.service().value().hashCode();
        this.meter = meter;
        this.origin = start;
        this.ownEnd = Math.ceil(offset(end) / SLOT_SECONDS) * SLOT_SECONDS;
    }

    @Override
    void renamed(UnaryOperator<GpuId> names) {
        // The fluid flows to the sum of all replicas.
    }

    @Override
    void beforeChange(Instant at) {
        flowUntil(offset(at));
    }

    @Override
    void begins(Instant at) {
        // The fluid waits for capacity, whatever is on its way.
    }

    @Override
    void cameUp(Instant begun, Instant at) {
        coldStarts++;
    }

    @Override
    void woke(Instant begun, Instant at) {
        // The fluid flows to it from now on. It has not started again.
    }

    @Override
    void wentAway(Instant at) {
        // What its replica had begun is done within a moment; the fluid knows no single requests.
    }

    @Override
    Instant nextAt() {
        Instant end = windowEnd();
        if (reportedEarly) {
            return end;
        }
        long first = slotAt(offset(reportedTo()));
        for (long at = first; instant(at + 1).isBefore(end); at++) {
            if (countOf(at) > capacityPerSecond() * SLOT_SECONDS) {
                return instant(at + 1);
            }
        }
        return end;
    }

    @Override
    void advanceTo(Instant to, Consumer<RequestRate> said) {
        for (Instant next = nextAt(); !next.isAfter(to); next = nextAt()) {
            flowUntil(offset(next));
            long completions = (long) Math.floor(served + ROUNDING) - reportedCompletions;
            reportedCompletions += completions;
            boolean regular = next.equals(windowEnd());
            long arrivals = arrivals(slotAt(offset(reportedTo())), slotAt(offset(next)));
            double busy = Math.min(demand.at(next), capacityPerSecond()) * demand.secondsPerRequest();
            said.accept(report(
                    next, arrivals, completions, (int) Math.round(busy), (int) Math.round(waiting), latencySeconds));
            reportedEarly = !regular;
            latencySeconds = new Distribution();
        }
    }

    private long arrivals(long fromSlot, long toSlot) {
        long sum = 0;
        for (long at = fromSlot; at < toSlot; at++) {
            sum += countOf(at);
        }
        return sum;
    }

    private void flowUntil(double end) {
        while (clock < end - ROUNDING) {
            long at = slotAt(clock);
            double perSecond = countOf(at) / SLOT_SECONDS;
            double to = Math.min(end, (at + 1) * SLOT_SECONDS);
            boolean fine = waiting > ROUNDING || perSecond > capacityPerSecond();
            flow(perSecond, fine ? Math.min(to, clock + FINE_SECONDS) : to);
        }
    }

    private void flow(double perSecond, double to) {
        double length = to - clock;
        double now = clock + length / 2;
        double arrived = perSecond * length;
        double possible = capacityPerSecond() * length;
        if (queue.isEmpty() && arrived <= possible + ROUNDING) {
            answer(arrived, 0);
            use(arrived, to);
        } else {
            queue.addLast(new Waiting(now, arrived));
            waiting += arrived;
            double left = possible;
            while (left > ROUNDING && !queue.isEmpty()) {
                Waiting first = queue.removeFirst();
                double part = Math.min(first.requests, left);
                answer(part, now - first.at);
                left -= part;
                waiting -= part;
                if (first.requests - part > ROUNDING) {
                    queue.addFirst(new Waiting(first.at, first.requests - part));
                }
            }
            if (queue.isEmpty()) {
                waiting = 0;
            }
            use(possible - left, to);
        }
        clock = to;
        if (own.isEmpty() && clock >= ownEnd - ROUNDING) {
            own = Optional.of(soFar());
        }
    }

    private OwnRequests soFar() {
        return new OwnRequests(served + waiting, withinSlo);
    }

    private void answer(double requests, double delaySeconds) {
        double delay = Math.round(delaySeconds * 10) / 10.0;
        double latency = delay + demand.secondsPerRequest();
        served += requests;
        delays.add(delay, requests);
        latencySeconds.add(latency, requests);
        if (latency <= seconds(service().slo()) + ROUNDING) {
            withinSlo += requests;
        }
    }

    private void use(double requests, double to) {
        double length = to - clock;
        if (length > 0) {
            meter.computing(requests / length / replicaPerSecond(), clock, to);
        }
    }

    private long countOf(long at) {
        int place = (int) (at % DRAWN);
        if (drawnSlots[place] != at + 1) {
            double mean = demand.at(instant(at)) * SLOT_SECONDS;
            drawnSlots[place] = at + 1;
            drawnCounts[place] =
                    Counts.gammaPoisson(mean, demand.dispersion(), new SplittableRandom(seed + at * 0x9E3779B9L));
        }
        return drawnCounts[place];
    }

    private static long slotAt(double offset) {
        return (long) Math.floor(offset / SLOT_SECONDS + ROUNDING);
    }

    private Instant instant(long at) {
        return origin.plus(SLOT.multipliedBy(at));
    }

    private double offset(Instant at) {
        return (at.toEpochMilli() - origin.toEpochMilli()) / 1000.0;
    }

    @Override
    boolean isIdle() {
        return true;
    }

    @Override
    List<RequestResult> requests() {
        return List.of();
    }

    @Override
    ServiceResult result() {
        return new ServiceResult(
                service().service(),
                Math.rint(served),
                coldStarts,
                withinSlo,
                waiting,
                delays,
                delays,
                own.orElseGet(this::soFar));
    }
}
