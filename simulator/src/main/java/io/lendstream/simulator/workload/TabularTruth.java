package io.lendstream.simulator.workload;

import io.lendstream.core.goodput.GradientNoise;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A job that behaves as was measured: step times by placement and batch, gradient statistics by epoch and batch.
 *
 * @see <a href="https://www.usenix.org/conference/osdi21/presentation/qiao">Pollux, OSDI 2021, section 5.3</a>
 */
final class TabularTruth implements GroundTruth {
    private final StepTimes times;
    private final TreeMap<Integer, List<GradientNoise>> noiseByBatch;
    private final List<Double> progress;

    /**
     * @param noiseByBatch for each measured total batch size, the statistics of each epoch
     * @param progress work done after each epoch
     */
    TabularTruth(StepTimes times, Map<Integer, List<GradientNoise>> noiseByBatch, List<Double> progress) {
        this.times = times;
        this.noiseByBatch = new TreeMap<>(noiseByBatch);
        this.progress = List.copyOf(progress);
    }

    @Override
    public StepTime stepTime(GpusByNode placement, int localBatch) {
        return times.at(placement, localBatch);
    }

    @Override
    public int epochs() {
        return progress.size();
    }

    @Override
    public double progressAfter(int epoch) {
        return progress.get(epoch);
    }

    /** Linear between the measured batch sizes around it; that of the nearest one outside their range. */
    @Override
    public GradientNoise noise(int epoch, int totalBatch) {
        int inside = Math.min(Math.max(totalBatch, noiseByBatch.firstKey()), noiseByBatch.lastKey());
        int low = noiseByBatch.floorKey(inside);
        int high = noiseByBatch.ceilingKey(inside);
        GradientNoise below = at(low, epoch);
        if (low == high) {
            return below;
        }
        GradientNoise above = at(high, epoch);
        double share = (double) (inside - low) / (high - low);
        return new GradientNoise(
                below.squared() + share * (above.squared() - below.squared()),
                below.variance() + share * (above.variance() - below.variance()));
    }

    private GradientNoise at(int batch, int epoch) {
        List<GradientNoise> epochs = noiseByBatch.getOrDefault(batch, List.of());
        return epochs.get(Math.min(epoch, epochs.size() - 1));
    }
}
