package io.lendstream.simulator.replay;

import io.lendstream.core.event.Event;
import io.lendstream.core.event.TrainingProgress;
import java.util.SplittableRandom;

/**
 * How wrongly jobs measure their step times; what they do stays the same. The fits of speed of all policies rest on
 * these measurements, so several seeds show how much a result depends on small differences of the fits.
 *
 * @param share the standard deviation of the error, as a share of the step time; at least 0, below 1
 * @param seed of the errors
 */
public record StepError(double share, long seed) {
    /** Step times are measured as they are. */
    public static final StepError NONE = new StepError(0, 0);

    public StepError {
        if (!(share >= 0 && share < 1)) {
            throw new IllegalArgumentException(
                    "the error of step times must be at least 0 and below 1, but was " + share);
        }
    }

    /** An event with a step time that is measured wrongly; others stay as they are. */
    Event disturbed(Event event) {
        if (share == 0 || !(event instanceof TrainingProgress progress)) {
            return event;
        }
        SplittableRandom random =
                new SplittableRandom(31 * (31 * seed + progress.job().value().hashCode())
                        + progress.at().toEpochMilli());
        double factor = Math.exp(share * random.nextGaussian());
        TrainingProgress.StepTiming timing = progress.timing();
        return new TrainingProgress(
                progress.job(),
                progress.domain(),
                progress.at(),
                progress.phase(),
                progress.progress(),
                progress.totalProgress(),
                progress.parallelism(),
                new TrainingProgress.StepTiming(
                        timing.stepSeconds().map(seconds -> seconds * factor),
                        timing.syncSeconds().map(seconds -> seconds * factor)),
                progress.gradient(),
                progress.kind());
    }
}
