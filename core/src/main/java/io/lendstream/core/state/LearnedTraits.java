package io.lendstream.core.state;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.GoodputModel;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.LearnedSpeed;

/**
 * The known training traits of a job: the declaration of its owner, and measurements.
 *
 * @param speed step times
 * @param noise gradient noise as last measured
 * @param costs of changing its GPUs
 */
public record LearnedTraits(LearnedSpeed speed, GradientNoise noise, RescaleCosts costs) {
    static LearnedTraits declared(TrainingJob spec) {
        TrainingJob.Traits traits = spec.traits();
        return new LearnedTraits(
                LearnedSpeed.declared(traits.profile().throughput()),
                traits.profile().noise(),
                traits.costs());
    }

    /** With a new declaration by the owner; measurements are kept if the declaration stays the same. */
    LearnedTraits redeclared(TrainingJob before, TrainingJob now) {
        TrainingJob.Traits old = before.traits();
        TrainingJob.Traits next = now.traits();
        boolean sameSpeed = next.profile().throughput().equals(old.profile().throughput());
        return new LearnedTraits(
                sameSpeed ? speed : LearnedSpeed.declared(next.profile().throughput()),
                noise,
                next.costs().equals(old.costs()) ? costs : next.costs());
    }

    LearnedTraits with(LearnedSpeed next) {
        return new LearnedTraits(next, noise, costs);
    }

    LearnedTraits with(GradientNoise next) {
        return new LearnedTraits(speed, next, costs);
    }

    LearnedTraits with(RescaleCosts next) {
        return new LearnedTraits(speed, noise, next);
    }

    GoodputModel model(TrainingJob spec) {
        return new GoodputModel(speed.parameters(), noise, spec.traits().batch());
    }
}
