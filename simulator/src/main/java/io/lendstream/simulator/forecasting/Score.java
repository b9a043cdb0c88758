package io.lendstream.simulator.forecasting;

import java.time.Duration;
import java.util.Optional;

/**
 * How good the forecasts of one model at one horizon were. Shares are of the forecasts scored; a figure that no forecast was there for
 * is NaN.
 *
 * @param scored forecasts that were scored: both the step they were made at and the step they are about have a value
 * @param mae mean absolute error of the median
 * @param nmae the same over the mean of what came
 * @param mase the same over the mean absolute error that the same time a day before would have had in the training part
 * @param pinball90 mean pinball loss of the 0.9 quantile over the mean of what came; pinball99 likewise
 * @param coverage10 share of steps in which demand stayed at or under p10; coverage90 and coverage99 likewise
 * @param riseCoverage99 the same under p99 in the tenth of steps in which demand rose most since the forecast was made
 * @param p99OverMean the mean p99 over the mean of what came: what it costs to be ready for it
 * @param gpus empty where it is not known what a replica answers
 */
public record Score(
        String series,
        Duration step,
        Duration horizon,
        String model,
        int scored,
        double mae,
        double nmae,
        double mase,
        double pinball90,
        double pinball99,
        double coverage10,
        double coverage90,
        double coverage99,
        double riseCoverage99,
        double p99OverMean,
        Optional<InGpus> gpus) {

    /**
     * The same in GPUs, each replica holding one.
     *
     * @param p99 mean GPUs for p99
     * @param needed mean GPUs for what came
     * @param enough share of steps in which those for p99 were enough
     */
    public record InGpus(double p99, double needed, double enough) {}
}
