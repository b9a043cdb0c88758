package io.lendstream.simulator.published;

import io.lendstream.core.goodput.Batch;
import io.lendstream.core.goodput.BatchGrid;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputTable;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.StepObservation;
import io.lendstream.core.goodput.ThroughputFit;
import io.lendstream.core.policy.Goodput;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A batch tuned to the known goodput of a job: the fit is repeated with each new placement or local batch, the noise is
 * always the latest.
 */
final class TunedBatch implements Batches {
    private final ApplicationTrace trace;
    private final BatchGrid grid;
    private final double fitStart;
    private final Map<Long, StepObservation> seen = new LinkedHashMap<>();
    private Optional<GoodputTable> table = Optional.empty();
    private GradientNoise noise = new GradientNoise(0, 0);

    TunedBatch(ApplicationTrace trace, BatchGrid grid, double fitStart) {
        this.trace = trace;
        this.grid = grid;
        this.fitStart = fitStart;
    }

    @Override
    public Batch choose(int nodes, int replicas) {
        Optional<Integer> fixed = trace.application().batch().fixed();
        if (fixed.isPresent()) {
            return trace.split(fixed.get(), replicas);
        }
        BatchRange range = grid.range();
        return table.map(known -> known.best(noise, nodes, replicas).batch())
                .orElseGet(() -> trace.split(Math.max(range.initial(), range.localMin() * replicas), replicas));
    }

    @Override
    public void observed(int nodes, int replicas, StepTable.Point step, GradientNoise measured) {
        noise = measured;
        long key = ((long) nodes << 48) | ((long) replicas << 32) | step.localBatch();
        if (!seen.containsKey(key)) {
            seen.put(key, new StepObservation(nodes, replicas, step.localBatch(), step.seconds(), step.syncSeconds()));
            table = Optional.of(new GoodputTable(ThroughputFit.fit(seen.values(), fitStart), grid));
        }
    }

    @Override
    public Optional<Goodput> goodput() {
        return table.map(
                known -> (nodes, gpus) -> known.best(noise, nodes, gpus).goodput());
    }
}
