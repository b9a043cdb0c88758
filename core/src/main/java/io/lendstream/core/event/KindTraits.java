package io.lendstream.core.event;

import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.Checks;
import io.lendstream.core.id.KindId;
import java.util.Optional;

/**
 * What the owner of a job knows of it on one kind of GPU. Steps that are measured there correct it.
 *
 * @param throughput its speed there
 * @param ratio how much faster it is than its profile; counts only without {@code throughput}
 * @param localMax largest batch of one replica that fits such a GPU, in samples
 */
public record KindTraits(
        KindId kind, Optional<ThroughputParameters> throughput, Optional<KindRatio> ratio, Optional<Integer> localMax) {
    public KindTraits {
        localMax.ifPresent(samples -> Checks.atLeast("localMax", 1, samples));
    }

    /** The same of another kind. */
    KindTraits on(KindId other) {
        return new KindTraits(other, throughput, ratio, localMax);
    }

    /** A kind on which a job is this much faster than its profile says. */
    public static KindTraits of(KindId kind, KindRatio ratio) {
        return new KindTraits(kind, Optional.empty(), Optional.of(ratio), Optional.empty());
    }
}
