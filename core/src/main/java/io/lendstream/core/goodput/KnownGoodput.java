package io.lendstream.core.goodput;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A cache of a job's best batch and goodput for each placement. Plans and reclaims ask for the same few placements of
 * every job, and each costs fifty batch sizes. The kept values follow from the model alone.
 */
public final class KnownGoodput {
    private static final int KEPT = 64;

    private final GoodputModel model;
    private @Nullable Entry @Nullable [] entries;
    private @Nullable Packed packed;

    private record Entry(int nodes, int replicas, GoodputModel.Best best, double goodput) {
        Entry(int nodes, int replicas, GoodputModel.Best best) {
            this(nodes, replicas, best, best.goodput());
        }
    }

    /**
     * Goodput on the fewest nodes that hold some GPUs, close together in memory. Threads may write it at the same time:
     * each number follows from its place, and 0 is one that is not known.
     */
    private static final class Packed {
        private static final int USUAL = 17;

        private final int gpusPerNode;
        /** Those of other sizes of nodes. */
        private final @Nullable Packed others;

        private double[] goodput = new double[USUAL];

        Packed(int gpusPerNode, @Nullable Packed others) {
            this.gpusPerNode = gpusPerNode;
            this.others = others;
        }
    }

    public KnownGoodput(GoodputModel model) {
        this.model = model;
    }

    public GoodputModel model() {
        return model;
    }

    /** Goodput on {@code replicas} GPUs over {@code nodes}, in samples of the initial batch per second. */
    public double on(int nodes, int replicas) {
        return entry(nodes, replicas).goodput;
    }

    /** Goodput on {@code replicas} GPUs, at least 1, over the fewest nodes of {@code gpusPerNode} GPUs. */
    public double packed(int gpusPerNode, int replicas) {
        Packed known = packed;
        while (known != null && known.gpusPerNode != gpusPerNode) {
            known = known.others;
        }
        if (known == null) {
            known = new Packed(gpusPerNode, packed);
            packed = known;
        }
        double[] kept = known.goodput;
        if (replicas < kept.length && kept[replicas] != 0) {
            return kept[replicas];
        }
        double goodput = on((replicas + gpusPerNode - 1) / gpusPerNode, replicas);
        if (replicas <= KEPT) {
            if (replicas >= kept.length) {
                kept = Arrays.copyOf(kept, KEPT + 1);
                known.goodput = kept;
            }
            kept[replicas] = goodput;
        }
        return goodput;
    }

    /** The best batch on {@code replicas} GPUs over {@code nodes}. */
    public GoodputModel.Best best(int nodes, int replicas) {
        return entry(nodes, replicas).best;
    }

    private Entry entry(int nodes, int replicas) {
        @Nullable Entry[] known = entries;
        if (known == null) {
            known = new Entry[KEPT];
            entries = known;
        }
        int place = (31 * nodes + replicas) & (KEPT - 1);
        Entry entry = known[place];
        if (entry == null || entry.nodes != nodes || entry.replicas != replicas) {
            entry = new Entry(nodes, replicas, model.best(nodes, replicas));
            known[place] = entry;
        }
        return entry;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other == this || (other instanceof KnownGoodput table && table.model.equals(model));
    }

    @Override
    public int hashCode() {
        return model.hashCode();
    }

    @Override
    public String toString() {
        return model.toString();
    }
}
