package io.lendstream.core.event;

import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.id.Checks;
import io.lendstream.core.id.KindId;
import java.time.Duration;
import java.util.Optional;

/**
 * What a replica of a service does on one kind of GPU, as its owner declares it. Without {@code perSecond} and {@code
 * ratio} it answers as many requests as the service declares for a replica.
 *
 * @param perSecond requests per second that a replica answers there within the SLO
 * @param ratio how many more it answers than the service declares for a replica; counts only without {@code perSecond}
 * @param warmUp from the decision to a replica that answers there; if empty, as the service declares
 */
public record KindCapacity(
        KindId kind, Optional<Double> perSecond, Optional<KindRatio> ratio, Optional<Duration> warmUp) {
    public KindCapacity {
        perSecond.filter(rate -> !(rate > 0) || Double.isInfinite(rate)).ifPresent(rate -> {
            throw new IllegalArgumentException(
                    "perSecond on kind %s must be a finite number above 0, but was %s".formatted(kind, rate));
        });
        warmUp.ifPresent(time -> Checks.notNegative("warmUp", time));
    }

    /** A kind on which a replica answers so many requests per second. */
    public static KindCapacity of(KindId kind, double perSecond) {
        return new KindCapacity(kind, Optional.of(perSecond), Optional.empty(), Optional.empty());
    }

    /** A kind on which a replica answers more or fewer requests than the service declares. */
    public static KindCapacity of(KindId kind, KindRatio ratio) {
        return new KindCapacity(kind, Optional.empty(), Optional.of(ratio), Optional.empty());
    }

    /** The same with a warm-up of its own. */
    public KindCapacity warmingUpIn(Duration time) {
        return new KindCapacity(kind, perSecond, ratio, Optional.of(time));
    }

    /** The same on another kind. */
    KindCapacity on(KindId other) {
        return new KindCapacity(other, perSecond, ratio, warmUp);
    }

    /** The fewest requests per second that may be true, which is what plans count with. */
    double least(double declared) {
        return perSecond.orElse(declared * ratio.map(KindRatio::least).orElse(1.0));
    }

    /** Requests per second if its owner is right. */
    double likely(double declared) {
        return perSecond.orElse(declared * ratio.map(KindRatio::factor).orElse(1.0));
    }
}
