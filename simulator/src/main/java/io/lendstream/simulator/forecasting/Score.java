package io.lendstream.simulator.forecasting;

import java.time.Duration;
import java.util.Optional;

/**
 * The scores of the forecasts of one model at one horizon. Shares are of the forecasts scored; a figure without any
 * forecast is NaN.
 *
 * @param scored forecasts that were scored: both the step they were made at and the step they are about have a value
 * @param p99OverMean the mean p99 over the mean demand: the cost of being ready for p99
 * @param gpus empty where it is not known what a replica answers
 */
public record Score(
        String series,
        Duration step,
        Duration horizon,
        String model,
        int scored,
        Errors errors,
        Covered covered,
        double p99OverMean,
        Optional<InGpus> gpus) {

    /**
     * The errors of forecasts.
     *
     * @param mae mean absolute error of the median
     * @param nmae the same over the mean demand
     * @param mase the same over the mean absolute error that the same time a day before would have had in the training
     *     part
     * @param pinball90 mean pinball loss of the 0.9 quantile over the mean demand; pinball99 likewise
     */
    public record Errors(double mae, double nmae, double mase, double pinball90, double pinball99) {}

    /**
     * In which share of steps demand stayed at or under a quantile.
     *
     * @param p10 under p10; p90 and p99 likewise
     * @param p99OnRises under p99 in the tenth of steps in which demand rose most since the forecast was made
     */
    public record Covered(double p10, double p90, double p99, double p99OnRises) {}

    /**
     * The same in GPUs, each replica holding one.
     *
     * @param p99 mean GPUs for p99
     * @param needed mean GPUs for what came
     * @param enough share of steps in which those for p99 were enough
     */
    public record InGpus(double p99, double needed, double enough) {}
}
