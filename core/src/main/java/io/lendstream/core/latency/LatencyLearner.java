package io.lendstream.core.latency;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The learned latency of one model on one kind of GPU, as an immutable value; each observation gives the next.
 *
 * <p>Measurements of probes and servers are kept by {@link LatencyBin}, with more weight for newer ones. A
 * {@link Hinge} is fitted to the bins, again only when a bin is new or its mean has moved by more than one per cent and
 * by more than chance, and at most once a call; bins of at least 50 batches then give their own latency. In which order
 * reports come matters little: models of the same reports of a steady service differ by no more than those reports'
 * noise, at most two per cent where it is two.
 *
 * <p>A {@link DriftWatch} for each slice compares served batches with bins that know their latency. When it alarms, the
 * bins of that slice are moved by as much as was seen, and weigh no more than five batches, so that they are soon
 * learned again and keep the shape till then. After a slowdown, so are all bins that have too few batches to be
 * watched; after a speedup these stay, as it is safe to think them slow. Then all margins are wide, and probes are
 * called for.
 *
 * <p>At most {@value #MOST_BINS} bins are kept, about 100 bytes each; the bin that was idle for longest goes first.
 */
public final class LatencyLearner {
    static final int MOST_BINS = 512;

    /** So many probes are enough for a model that is new, or has drifted. */
    private static final int ENOUGH_PROBES = 5;

    private static final double LEAST_MARGIN = .05;
    private static final double NEW_MARGIN = .1;
    private static final double UNPROBED_MARGIN = .15;
    private static final double MOST_MARGIN = .3;
    /** After so many batches that were in time, the margin of a slice is as small as it gets. */
    private static final double CONFIRMED = 500;

    private static final double ONE_IN_TWENTY = 1.64;

    /**
     * All that has been learned, to be kept.
     *
     * @param bins in their order
     * @param watches of slices that have served, in their order
     * @param fitted what the bins were last fitted by; empty before the first
     * @param probes since the model was new, or since the last drift
     * @param drifted whether a drift was noticed, and there were too few probes since
     * @param reports how many there were
     */
    public record State(
            List<MeasuredBin> bins,
            List<DriftWatch> watches,
            Optional<FittedHinge> fitted,
            long probes,
            boolean drifted,
            long reports) {
        public State {
            bins = List.copyOf(bins);
            watches = List.copyOf(watches);
        }
    }

    private final LatencyPrior prior;
    private final State state;
    private final Optional<LatencyModel> model;

    private LatencyLearner(LatencyPrior prior, State state) {
        this.prior = prior;
        this.state = state;
        this.model = state.fitted.map(fitted -> new LatencyModel(fitted, prior, state.bins));
    }

    /** Of a model of which nothing was measured. */
    public static LatencyLearner of(LatencyPrior prior) {
        return new LatencyLearner(prior, new State(List.of(), List.of(), Optional.empty(), 0, false, 0));
    }

    /** Continues from a kept state, with the same prior. */
    public static LatencyLearner of(LatencyPrior prior, State state) {
        return new LatencyLearner(prior, state);
    }

    public State state() {
        return state;
    }

    /** What planning uses; empty before anything was measured. */
    public Optional<LatencyModel> model() {
        return model;
    }

    /** With a batch that was measured on purpose, as often as its count. */
    public LatencyLearner probed(ServedBatches probe) {
        Draft draft = new Draft();
        draft.probe(probe);
        return draft.learner();
    }

    /** With one report of a server; each batch must be reported once. */
    public LatencyLearner observed(ServedBatches served) {
        return observed(List.of(served));
    }

    /** With a reading of a server's counters. */
    public LatencyLearner observed(List<ServedBatches> served) {
        Draft draft = new Draft();
        served.forEach(draft::serve);
        return draft.learner();
    }

    /**
     * The margin by which plans assume longer batches than the model: a fraction of 0.05 to 0.3.
     *
     * <p>It is 1.64 standard deviations of the error, so that one batch in twenty takes longer, with the uncertainty of
     * the parameters at this point; but at least 0.1, and 0.15 for a model that is new or has drifted and of which
     * there were too few probes since. The latter shrink with each batch that the slice served no slower than planned
     * for, and are down to 0.05 after 500.
     *
     * <p>Times with their margins can fall as batches grow, if a measured batch follows an unmeasured one. A caller
     * that needs rising times takes the maximum up to a batch.
     */
    public double margin(Slice slice, int batch, double size) {
        double first = needsProbes() ? UNPROBED_MARGIN : NEW_MARGIN;
        long confirmed = state.watches.stream()
                .filter(watch -> watch.slice().equals(slice))
                .mapToLong(DriftWatch::confirmed)
                .sum();
        double least = first - (first - LEAST_MARGIN) * Math.min(1, confirmed / CONFIRMED);
        double unsure = model.map(known -> ONE_IN_TWENTY * known.spread(slice, batch, size))
                .orElse(MOST_MARGIN);
        return Math.min(MOST_MARGIN, Math.max(least, unsure));
    }

    /**
     * Whether batches should be measured on purpose: the model is new or has drifted, and there were fewer than five
     * since.
     */
    public boolean needsProbes() {
        return state.probes < ENOUGH_PROBES;
    }

    /** The next learner in the making. */
    private final class Draft {
        private final NavigableMap<LatencyBin, MeasuredBin> bins = new TreeMap<>();
        private final NavigableMap<Slice, DriftWatch> watches = new TreeMap<>();
        private long probes = state.probes;
        private boolean drifted = state.drifted;
        private long reports = state.reports;

        private Draft() {
            state.bins.forEach(bin -> bins.put(bin.bin(), bin));
            state.watches.forEach(watch -> watches.put(watch.slice(), watch));
        }

        private void probe(ServedBatches probe) {
            count(probe);
            probes++;
            drifted &= probes < ENOUGH_PROBES;
        }

        private void serve(ServedBatches served) {
            DriftWatch watch = watches.getOrDefault(served.slice(), DriftWatch.of(served.slice()));
            if (isAsPlanned(served)) {
                watch = watch.confirmedBy(served.count());
            }
            MeasuredBin bin = bins.get(LatencyBin.of(served.slice(), served.batch(), served.size()));
            if (bin != null && bin.isMeasured()) {
                double off = served.logMillis() - expected(bin, served);
                watch = watch.with(off, bin.noise(), MeasuredBin.weight(served.count()));
            }
            watches.put(served.slice(), watch);
            if (watch.drift() != 0) {
                drift(watch);
            }
            count(served);
        }

        private boolean isAsPlanned(ServedBatches served) {
            return model.filter(known -> served.meanMillis()
                            <= known.millis(served.slice(), served.batch(), served.size())
                                    * (1 + margin(served.slice(), served.batch(), served.size())))
                    .isPresent();
        }

        /** A bin's mean, moved in the shape of the model from its mean batch to this one. */
        private double expected(MeasuredBin bin, ServedBatches served) {
            return bin.logMillis()
                    + model.map(LatencyModel::hinge)
                            .map(hinge -> hinge.logMillis(served.slice(), served.batch(), served.size())
                                    - hinge.logMillis(served.slice(), bin.batch(), bin.size()))
                            .orElse(0.0);
        }

        private void count(ServedBatches served) {
            reports++;
            LatencyBin key = LatencyBin.of(served.slice(), served.batch(), served.size());
            MeasuredBin bin = bins.get(key);
            bins.put(
                    key,
                    bin == null ? MeasuredBin.of(served, reports) : bin.with(served, expected(bin, served), reports));
            if (bins.size() > MOST_BINS) {
                bins.remove(bins.values().stream()
                        .min(Comparator.comparingLong(MeasuredBin::at))
                        .orElseThrow()
                        .bin());
            }
        }

        private void drift(DriftWatch alarmed) {
            boolean slower = alarmed.drift() > 0;
            boolean others = slower && !drifted;
            bins.replaceAll((key, bin) -> {
                boolean there = key.slice().equals(alarmed.slice()) && (slower || bin.isMeasured());
                return there || (others && !bin.isMeasured()) ? bin.movedBy(alarmed.drift()) : bin;
            });
            watches.replaceAll((slice, watch) -> watch.unconfirmed());
            watches.put(alarmed.slice(), DriftWatch.of(alarmed.slice()));
            drifted = true;
            probes = 0;
        }

        private LatencyLearner learner() {
            Optional<FittedHinge> fitted = state.fitted;
            if (bins.values().stream().anyMatch(MeasuredBin::isFittedToOtherTimes)) {
                fitted = Optional.of(LatencyFit.ofPoints(points(), prior).fitted());
                bins.replaceAll((key, bin) -> bin.asFitted());
            }
            return new LatencyLearner(
                    prior,
                    new State(
                            List.copyOf(bins.values()),
                            List.copyOf(watches.values()),
                            fitted,
                            probes,
                            drifted,
                            reports));
        }

        /** Bins close to each other are off the hinge alike: together they count as one sample. */
        private List<LatencyFit.Point> points() {
            Map<LatencyPrior.Place, Long> neighbours =
                    bins.values().stream().collect(Collectors.groupingBy(Draft::place, Collectors.counting()));
            return bins.values().stream()
                    .map(bin -> new LatencyFit.Point(
                            bin.bin().slice(),
                            bin.batch(),
                            bin.size(),
                            Math.exp(bin.logMillis()),
                            bin.certainty() / neighbours.getOrDefault(place(bin), 1L)))
                    .toList();
        }

        private static LatencyPrior.Place place(MeasuredBin bin) {
            return LatencyPrior.Place.of(bin.bin().slice(), bin.batch(), bin.size());
        }
    }
}
