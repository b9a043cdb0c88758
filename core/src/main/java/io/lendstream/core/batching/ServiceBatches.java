package io.lendstream.core.batching;

import io.lendstream.core.decision.Action;
import io.lendstream.core.event.BatchTimes;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SizeCount;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.latency.LatencyLearner;
import io.lendstream.core.latency.LatencyModel;
import io.lendstream.core.latency.LatencyPrior;
import io.lendstream.core.latency.MeasuredBin;
import io.lendstream.core.latency.ServedBatches;
import io.lendstream.core.latency.Slice;
import io.lendstream.core.mig.MigGpu;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.IntFunction;

/**
 * The reported batches of a service and the batching decided for it, as immutable values; each report gives the next.
 *
 * <p>Times are learned for inputs as shares of a power of two, the first that no input has exceeded. When one does, or
 * the service moves to another kind of GPU, they are learned from the start; the former happens less than once for each
 * doubling.
 *
 * @param gpu the kind of GPU that it was learned on, by {@link MigGpu#model}
 * @param largest input so far, rounded up to where a bucket may end; 1 where all are alike
 * @param learned of the time that batches take
 * @param sizes of the inputs that requests came with; rounded up alike, so that they are a hundred at most
 * @param decided the last decided setting
 * @param at the time of that decision; before the first decision, the time of the first batches
 * @param guard the results since then
 */
public record ServiceBatches(
        String gpu,
        int largest,
        LatencyLearner.State learned,
        SizeHistogram sizes,
        Optional<Action.Batching> decided,
        Instant at,
        BatchingGuard guard) {
    private static final double LARGEST_SIZE = 1e9;
    /**
     * A batch may have this many times the work of the batches that ran, so that a service that had few requests is not
     * kept at small batches for ever; each step is measured before the next. Servers have limits of their own, which
     * this does not lift.
     */
    private static final double BEYOND = 2;
    /** So that a batch that ran is not lost to rounding when it is divided by a size. */
    private static final double ROUNDING = 1e-9;

    /** The batches of a service before the first report of its servers. */
    public static ServiceBatches of(MigGpu gpu, Instant at) {
        return new ServiceBatches(
                gpu.model(),
                1,
                LatencyLearner.of(LatencyPrior.WIDE).state(),
                SizeHistogram.empty(at),
                Optional.empty(),
                at,
                BatchingGuard.fresh(at));
    }

    /** With the sizes and the latency that a source reports: all but its batches. */
    public ServiceBatches heard(RequestRate rate) {
        Map<Integer, Double> counts = new TreeMap<>();
        for (SizeCount bar : rate.inputSizes()) {
            if (bar.upTo() <= LARGEST_SIZE && bar.requests() > 0) {
                counts.merge(Bucketizer.roundedUp(whole(bar.upTo())), (double) bar.requests(), Double::sum);
            }
        }
        int longest = counts.keySet().stream().max(Integer::compare).orElse(1);
        ServiceBatches roomy = withRoomFor(longest);
        return new ServiceBatches(
                gpu,
                roomy.largest,
                roomy.learned,
                counts.isEmpty() ? sizes : sizes.with(counts, rate.windowEnd()),
                decided,
                at,
                rate.windowStart().isBefore(at)
                        ? guard
                        : guard.heard(rate.latency().p99LatencySeconds()));
    }

    /** With batches that ran; those on instances that the GPU does not have are left out. */
    public ServiceBatches served(List<BatchTimes> batches, MigGpu on) {
        if (!on.model().equals(gpu)) {
            return new ServiceBatches(
                            on.model(),
                            largest,
                            LatencyLearner.of(LatencyPrior.WIDE).state(),
                            sizes,
                            Optional.empty(),
                            at,
                            guard)
                    .served(batches, on);
        }
        int longest =
                batches.stream().mapToInt(times -> whole(times.size())).max().orElse(1);
        ServiceBatches roomy = withRoomFor(longest);
        List<ServedBatches> served = batches.stream()
                .flatMap(times -> slice(times.profile(), on)
                        .map(slice -> ServedBatches.of(
                                slice,
                                times.batch(),
                                roomy.share(whole(times.size())),
                                times.count(),
                                times.meanMillis()))
                        .stream())
                .toList();
        return roomy.with(LatencyLearner.of(LatencyPrior.WIDE, roomy.learned)
                .observed(served)
                .state());
    }

    private static Optional<Slice> slice(Optional<String> profile, MigGpu gpu) {
        return profile.isEmpty()
                ? Optional.of(Slice.whole(gpu))
                : gpu.profile(profile.get()).map(known -> Slice.of(gpu, known));
    }

    private ServiceBatches with(LatencyLearner.State state) {
        return new ServiceBatches(gpu, largest, state, sizes, decided, at, guard);
    }

    private ServiceBatches withRoomFor(int size) {
        if (size <= largest) {
            return this;
        }
        int next = Bucketizer.roundedUp(size);
        boolean shared = scale(next) == scale(largest);
        return new ServiceBatches(
                gpu,
                next,
                shared ? learned : LatencyLearner.of(LatencyPrior.WIDE).state(),
                sizes,
                decided,
                at,
                guard);
    }

    /** After the p99 was compared with the objective and nothing was decided. */
    public ServiceBatches judged(BatchingGuard next) {
        return new ServiceBatches(gpu, largest, learned, sizes, decided, at, next);
    }

    /** After a decision. */
    public ServiceBatches told(Action.Batching next, Instant now, BatchingGuard nextGuard) {
        return new ServiceBatches(gpu, largest, learned, sizes, Optional.of(next), now, nextGuard);
    }

    /** The same in which two units stand for each other. */
    public ServiceBatches exchanging(GpuId one, GpuId other) {
        return new ServiceBatches(
                gpu,
                largest,
                learned,
                sizes,
                decided.map(last -> new Action.Batching(
                        last.service(), GpuId.exchanged(last.gpus(), one, other), last.profile(), last.buckets())),
                at,
                guard);
    }

    /** The learned latencies, for margins and drifts. */
    public LatencyLearner learner() {
        return LatencyLearner.of(LatencyPrior.WIDE, learned);
    }

    /**
     * How long batches take on an instance, with margins, by the size of their inputs. The largest batch has twice the
     * work of any that ran in as much memory; in twice the memory, twice as much.
     *
     * @return empty before anything was measured there or in less memory
     */
    public Optional<IntFunction<BatchLatency>> on(Slice slice) {
        return on(slice, false);
    }

    /**
     * The same.
     *
     * @param fits whether it is declared that all work that has run on any instance fits the memory of this one
     */
    public Optional<IntFunction<BatchLatency>> on(Slice slice, boolean fits) {
        LatencyLearner learner = learner();
        double work = Math.max(BEYOND * workThatRan(slice.memory()), fits ? workThatRan(Double.POSITIVE_INFINITY) : 0);
        return learner.model().filter(known -> work > 0).map(known -> size -> {
            double share = share(size);
            int most = (int) Math.max(1, work / share * (1 + ROUNDING));
            return LearnedLatency.tabulated(most, batch -> millis(learner, known, slice, batch, share));
        });
    }

    private static double millis(LatencyLearner learner, LatencyModel model, Slice slice, int batch, double share) {
        return model.millis(slice, batch, share) * (1 + learner.margin(slice, batch, share));
    }

    /** In inputs of a share of 1. */
    private double workThatRan(double memory) {
        double most = 0;
        for (MeasuredBin bin : learned.bins()) {
            double times = Double.isInfinite(memory)
                    ? 1
                    : Math.floor(memory / bin.bin().slice().memory());
            most = Math.max(most, times * bin.bin().batch() * bin.size());
        }
        return most;
    }

    private double share(int size) {
        return Math.min(1, (double) size / scale(largest));
    }

    private static int scale(int size) {
        return size <= 1 ? 1 : 2 * Integer.highestOneBit(size - 1);
    }

    private static int whole(double size) {
        return (int) Math.max(1, Math.ceil(size));
    }
}
