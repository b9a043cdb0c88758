package io.lendstream.core.state;

import io.lendstream.core.event.KindTraits;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputModel;
import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.goodput.KindSpeed;
import io.lendstream.core.goodput.KnownGoodput;
import io.lendstream.core.goodput.LearnedSpeed;
import io.lendstream.core.goodput.SpeedOnKind;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.KindId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A job's goodput on each kind of GPU, worked out when it is asked for. Best first, a speed is measured on the kind,
 * declared for it, or that of the profile times a ratio: the declared one, or 1 with an uncertainty of a half. A ratio
 * counts with the least factor that may be true, until a step is measured on the kind.
 */
public final class KindGoodput {
    private final KnownGoodput profile;
    private final TrainingJob spec;
    private final LearnedTraits traits;
    private final SpeedOnKind byProfile;
    /** The kind that was asked for first: in most domains there is no other. */
    private @Nullable KindId firstKind;

    private @Nullable SpeedOnKind onFirst;
    private @Nullable Map<KindId, SpeedOnKind> kinds;

    private KindGoodput(KnownGoodput profile, TrainingJob spec, LearnedTraits traits) {
        this.profile = profile;
        this.byProfile = new SpeedOnKind(profile, 1);
        this.spec = spec;
        this.traits = traits;
    }

    static KindGoodput of(TrainingJob spec, LearnedTraits traits) {
        return new KindGoodput(new KnownGoodput(traits.model(spec)), spec, traits);
    }

    /** The goodput with other traits of the job; the same if no speed changes. */
    KindGoodput with(TrainingJob next, LearnedTraits known) {
        GoodputModel model = known.model(next);
        boolean same = model.equals(profile.model());
        if (same
                && next.kindNeeds().equals(spec.kindNeeds())
                && known.speedKind().equals(traits.speedKind())
                && (known.byKind().equals(traits.byKind()) || measured(known).equals(measured(traits)))) {
            return this;
        }
        return new KindGoodput(same ? profile : new KnownGoodput(model), next, known);
    }

    /** The measured kinds and their parameters, without the measurements that these follow from. */
    private static List<KindSpeed> measured(LearnedTraits traits) {
        return traits.byKind().stream()
                .map(each -> new KindSpeed(
                        each.kind(), LearnedSpeed.declared(each.speed().parameters())))
                .toList();
    }

    /** By the profile, on the kind of GPU that the profile is of. */
    public KnownGoodput ofProfile() {
        return profile;
    }

    /** On a kind; by the profile if it is not known. */
    public SpeedOnKind on(Optional<KindId> kind) {
        return kind.isPresent() ? on(kind.get()) : byProfile;
    }

    /** On a kind that the job may use. */
    public SpeedOnKind on(KindId kind) {
        SpeedOnKind first = onFirst;
        if (first == null) {
            first = worked(kind);
            firstKind = kind;
            onFirst = first;
        }
        return kind.equals(firstKind) ? first : onOther(kind);
    }

    private SpeedOnKind onOther(KindId kind) {
        Map<KindId, SpeedOnKind> known = kinds;
        if (known == null) {
            known = new HashMap<>();
            kinds = known;
        }
        return known.computeIfAbsent(kind, this::worked);
    }

    /** The ratio by which its speed on a kind follows from its profile; empty if it is known otherwise. */
    public Optional<KindRatio> ratioOn(KindId kind) {
        boolean isKnown =
                traits.isOfProfile(kind, spec.kindNeeds()) || own(kind).isPresent();
        return isKnown ? Optional.empty() : Optional.of(LearnedTraits.ratio(kind, spec.kindNeeds()));
    }

    private SpeedOnKind worked(KindId kind) {
        double factor = ratioOn(kind).map(KindRatio::least).orElse(1.0);
        GoodputModel ofProfile = profile.model();
        ThroughputParameters parameters = own(kind).orElse(ofProfile.throughput());
        BatchRange range = spec.batchOn(kind).orElse(ofProfile.range());
        GoodputModel model = new GoodputModel(parameters, ofProfile.noise(), range);
        if (model.equals(ofProfile)) {
            return factor == 1 ? byProfile : new SpeedOnKind(profile, factor);
        }
        return new SpeedOnKind(new KnownGoodput(model), factor);
    }

    /** The parameters that are measured on a kind, or declared for it. */
    private Optional<ThroughputParameters> own(KindId kind) {
        if (traits.isOfProfile(kind, spec.kindNeeds())) {
            return Optional.empty();
        }
        return traits.measured(kind)
                .map(LearnedSpeed::parameters)
                .or(() -> spec.kindNeeds().traits(kind).flatMap(KindTraits::throughput));
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof KindGoodput goodput && goodput.profile.equals(profile);
    }

    @Override
    public int hashCode() {
        return profile.hashCode();
    }

    @Override
    public String toString() {
        return profile.toString();
    }
}
