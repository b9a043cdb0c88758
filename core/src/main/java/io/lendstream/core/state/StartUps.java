package io.lendstream.core.state;

import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.StartTimes;
import io.lendstream.core.id.KindId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** The start-up times of a service that are measured, and its declaration with these times in it. */
final class StartUps {
    private static final Comparator<StartUp> ORDER = Comparator.<StartUp, String>comparing(
                    each -> each.shape().orElse(""))
            .thenComparing(each -> each.kind().map(KindId::value).orElse(""))
            .thenComparing(StartUp::cached);

    private StartUps() {}

    /** With one more start of a replica. */
    static List<StartUp> with(
            List<StartUp> known, Optional<String> shape, Optional<KindId> kind, boolean cached, Duration took) {
        StartUp before = find(known, shape, kind, cached);
        List<StartUp> next = new ArrayList<>(known);
        next.removeIf(before::isLike);
        next.add(before.with(took));
        next.sort(ORDER);
        return List.copyOf(next);
    }

    /** What is measured; without a start if nothing is. */
    static StartUp find(List<StartUp> known, Optional<String> shape, Optional<KindId> kind, boolean cached) {
        StartUp none = StartUp.none(shape, kind, cached);
        return known.stream().filter(none::isLike).findFirst().orElse(none);
    }

    /** The kind under which a start counts: empty if the service, or its shape, does not declare the kind. */
    static Optional<KindId> counted(InferenceService spec, Optional<String> shape, Optional<KindId> kind) {
        List<KindCapacity> declared = shape.flatMap(spec.hardware()::named)
                .map(ReplicaShape::capacities)
                .orElse(spec.capacities());
        return kind.filter(any -> declared.stream().anyMatch(each -> each.kind().equals(any)));
    }

    /** The same service with the times to reckon with. */
    static InferenceService timed(InferenceService spec, List<StartUp> known) {
        if (known.isEmpty()) {
            return spec;
        }
        if (spec.hasGroups()) {
            return spec.inShapes(spec.hardware().shapes().stream()
                    .map(shape -> timed(shape, Optional.of(shape.name()), known))
                    .toList());
        }
        InferenceService onKinds = spec.onKinds(spec.capacities().stream()
                .map(each -> timed(each, spec.warmUp(), Optional.empty(), known))
                .toList());
        return onKinds.inShapes(onKinds.hardware().shapes().stream()
                        .map(shape -> timed(shape, Optional.empty(), known))
                        .toList())
                .warmingUpIn(
                        find(known, Optional.empty(), Optional.empty(), false).estimate(spec.warmUp()));
    }

    /** The longest start from nothing, on any kind and in any shape. */
    static Duration longest(InferenceService spec) {
        Duration longest = spec.hasGroups() ? Duration.ZERO : spec.warmUp();
        for (KindCapacity kind : spec.capacities()) {
            longest = longer(longest, spec.warmUpOn(Optional.of(kind.kind())));
        }
        for (ReplicaShape shape : spec.hasGroups() ? spec.hardware().shapes() : List.<ReplicaShape>of()) {
            longest = longer(longest, shape.longestStart(false));
        }
        return longest;
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) >= 0 ? one : other;
    }

    private static ReplicaShape timed(ReplicaShape shape, Optional<String> name, List<StartUp> known) {
        StartTimes starts = shape.starts();
        Duration cold = find(known, name, Optional.empty(), false).estimate(starts.cold());
        Optional<Duration> cached = starts.cached()
                .map(declared -> find(known, name, Optional.empty(), true).estimate(declared));
        return shape.onKinds(shape.capacities().stream()
                        .map(each -> timed(each, starts.cold(), name, known))
                        .toList())
                .starting(new StartTimes(cold, cached, starts.asleep()));
    }

    /** A kind without a time of its own gets one only if a start is measured on it. */
    private static KindCapacity timed(
            KindCapacity kind, Duration ofService, Optional<String> name, List<StartUp> known) {
        StartUp measured = find(known, name, Optional.of(kind.kind()), false);
        return measured.millis().isEmpty()
                ? kind
                : kind.warmingUpIn(measured.estimate(kind.warmUp().orElse(ofService)));
    }
}
