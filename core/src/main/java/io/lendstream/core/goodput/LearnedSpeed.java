package io.lendstream.core.goodput;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The known step times of a job: the declaration of its owner, corrected by measurements while it ran.
 *
 * <p>A measurement that the model explains well enough is kept and changes nothing. One that surprises by a
 * {@link FitRule} leads to a new fit of all that were kept ({@link ThroughputFit#refined}), in which the declared model
 * stands in for placements without measurements. Of placements that were measured again the mean counts, later
 * measurements a little more.
 *
 * @param declared the parameters that the job came with
 * @param parameters the parameters to reckon with
 * @param measured one observation for each number of nodes and GPUs and local batch, the latest last; at most
 *     {@value #MOST_MEASURED}
 */
public record LearnedSpeed(
        ThroughputParameters declared, ThroughputParameters parameters, List<StepObservation> measured) {
    static final int MOST_MEASURED = 32;
    private static final double WEIGHT_OF_NEW = 0.25;

    public LearnedSpeed {
        measured = List.copyOf(measured);
    }

    public static LearnedSpeed declared(ThroughputParameters parameters) {
        return new LearnedSpeed(parameters, parameters, List.of());
    }

    /**
     * With a step that was measured.
     *
     * @param rule how far it may be from what was expected until speeds are fitted again
     */
    public LearnedSpeed with(StepObservation step, FitRule rule) {
        Optional<StepObservation> known = measured.stream().filter(step::isLike).findFirst();
        if (known.filter(step::equals).isPresent()) {
            return this;
        }
        // of many placements each would be a first one, and a fit for each step takes long
        boolean isFirst = known.isEmpty() && measured.size() < MOST_MEASURED;
        StepObservation mean = known.map(old -> mean(old, step)).orElse(step);
        List<StepObservation> next = new ArrayList<>(measured);
        next.removeIf(step::isLike);
        next.add(mean);
        if (next.size() > MOST_MEASURED) {
            next.remove(0);
        }
        boolean surprises = rule.isSurprising(mean.stepSeconds() / stepSeconds(mean), isFirst);
        return new LearnedSpeed(declared, surprises ? ThroughputFit.refined(next, declared) : parameters, next);
    }

    private double stepSeconds(StepObservation step) {
        return parameters.stepSeconds(step.nodes(), step.replicas(), step.localBatch());
    }

    private static StepObservation mean(StepObservation old, StepObservation step) {
        return new StepObservation(
                old.nodes(),
                old.replicas(),
                old.localBatch(),
                old.stepSeconds() + WEIGHT_OF_NEW * (step.stepSeconds() - old.stepSeconds()),
                old.syncSeconds() + WEIGHT_OF_NEW * (step.syncSeconds() - old.syncSeconds()));
    }
}
