package io.lendstream.core.state;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.GoodputModel;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.LearnedSpeed;

/**
 * What is known of how a job trains: what its owner declared, and what was measured.
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

    /** With what the owner declares now; what was measured holds on where the declaration stays the same. */
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
