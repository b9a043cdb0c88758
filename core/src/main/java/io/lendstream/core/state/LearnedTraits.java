package io.lendstream.core.state;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.KindNeeds;
import io.lendstream.core.event.KindTraits;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.FitRule;
import io.lendstream.core.goodput.GoodputModel;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.goodput.KindSpeed;
import io.lendstream.core.goodput.LearnedSpeed;
import io.lendstream.core.goodput.StepObservation;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.KindId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The known training traits of a job: the declaration of its owner, and measurements.
 *
 * @param speed step times on the kind of GPU that the profile is of
 * @param noise gradient noise as last measured
 * @param costs of changing its GPUs
 * @param speedKind the kind that {@code speed} was measured on, if the owner does not name the kind of the profile
 * @param byKind step times that were measured on other kinds, by name of the kind
 */
public record LearnedTraits(
        LearnedSpeed speed,
        GradientNoise noise,
        RescaleCosts costs,
        Optional<KindId> speedKind,
        List<KindSpeed> byKind) {
    public LearnedTraits {
        byKind = List.copyOf(byKind);
    }

    static LearnedTraits declared(TrainingJob spec) {
        TrainingJob.Traits traits = spec.traits();
        return new LearnedTraits(
                LearnedSpeed.declared(traits.profile().throughput()),
                traits.profile().noise(),
                traits.costs(),
                Optional.empty(),
                List.of());
    }

    /**
     * With a new declaration by the owner; measurements are kept if the declaration stays the same. Steps that counted
     * for the profile are dropped if the owner now declares the speed on their kind apart from it.
     */
    LearnedTraits redeclared(TrainingJob before, TrainingJob now) {
        TrainingJob.Traits old = before.traits();
        TrainingJob.Traits next = now.traits();
        boolean sameSpeed = next.profile().throughput().equals(old.profile().throughput())
                && now.kindNeeds().profileKind().equals(before.kindNeeds().profileKind())
                && speedKind.flatMap(now.kindNeeds()::traits).isEmpty();
        boolean sameKinds = sameSpeed
                && now.kindNeeds().kindTraits().equals(before.kindNeeds().kindTraits());
        return new LearnedTraits(
                sameSpeed ? speed : LearnedSpeed.declared(next.profile().throughput()),
                noise,
                next.costs().equals(old.costs()) ? costs : next.costs(),
                sameSpeed ? speedKind : Optional.empty(),
                sameKinds ? byKind : List.of());
    }

    /**
     * With a measured step.
     *
     * @param kind the kind of GPU it was measured on; empty if kinds are not told apart
     * @param rule by which it changes what is known
     */
    LearnedTraits with(StepObservation step, Optional<KindId> kind, KindNeeds needs, FitRule rule) {
        if (kind.isEmpty() || isOfProfile(kind.get(), needs)) {
            Optional<KindId> known = needs.profileKind().isPresent() ? speedKind : kind.or(() -> speedKind);
            return new LearnedTraits(speed.with(step, rule), noise, costs, known, byKind);
        }
        KindId other = kind.get();
        LearnedSpeed before = measured(other).orElseGet(() -> LearnedSpeed.declared(expected(other, needs)));
        List<KindSpeed> next = new ArrayList<>(byKind);
        next.removeIf(known -> known.kind().equals(other));
        next.add(new KindSpeed(other, before.with(step, rule)));
        next.sort(Comparator.comparing(KindSpeed::kind));
        return new LearnedTraits(speed, noise, costs, speedKind, next);
    }

    /** Whether the profile is of a kind, or stands for it because nothing else is known. */
    boolean isOfProfile(KindId kind, KindNeeds needs) {
        Optional<KindId> profiled = needs.profileKind().or(() -> speedKind);
        return profiled.map(kind::equals)
                .orElseGet(() -> measured(kind).isEmpty() && needs.traits(kind).isEmpty());
    }

    /** The step times on a kind, if any was measured there. */
    Optional<LearnedSpeed> measured(KindId kind) {
        return byKind.stream()
                .filter(known -> known.kind().equals(kind))
                .map(KindSpeed::speed)
                .findFirst();
    }

    /** The parameters to start from on a kind: as declared, or those of the profile, scaled. */
    private ThroughputParameters expected(KindId kind, KindNeeds needs) {
        return needs.traits(kind)
                .flatMap(KindTraits::throughput)
                .orElseGet(() -> speed.parameters().fasterBy(ratio(kind, needs).factor()));
    }

    /** How a job's speed on a kind follows from its profile. */
    static KindRatio ratio(KindId kind, KindNeeds needs) {
        return needs.traits(kind).flatMap(KindTraits::ratio).orElse(KindRatio.UNKNOWN);
    }

    LearnedTraits with(GradientNoise next) {
        return new LearnedTraits(speed, next, costs, speedKind, byKind);
    }

    LearnedTraits with(RescaleCosts next) {
        return new LearnedTraits(speed, noise, next, speedKind, byKind);
    }

    GoodputModel model(TrainingJob spec) {
        return new GoodputModel(speed.parameters(), noise, spec.traits().batch());
    }
}
