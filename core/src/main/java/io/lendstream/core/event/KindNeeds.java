package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import io.lendstream.core.id.KindId;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The kinds of GPU that a job may use, and its speed on them. A job uses one kind at a time.
 *
 * @param allowedKinds the kinds it may use; if empty, each that fits
 * @param profileKind the kind of GPU that its profile and its batch sizes are of
 * @param memoryBytes memory that one replica needs; kinds with less are left out
 * @param kindTraits what its owner knows of it on other kinds
 */
public record KindNeeds(
        List<KindId> allowedKinds,
        Optional<KindId> profileKind,
        Optional<Long> memoryBytes,
        List<KindTraits> kindTraits) {
    /** Each kind will do, and nothing is known of its speed there. */
    public static final KindNeeds ANY = new KindNeeds(List.of(), Optional.empty(), Optional.empty(), List.of());

    public KindNeeds {
        allowedKinds = List.copyOf(allowedKinds);
        kindTraits = List.copyOf(kindTraits);
        memoryBytes.ifPresent(bytes -> Checks.atLeast("memoryBytes", 1, bytes));
    }

    /** What is known of a kind; the first of several. */
    public Optional<KindTraits> traits(KindId kind) {
        for (KindTraits traits : kindTraits) {
            if (traits.kind().equals(kind)) {
                return Optional.of(traits);
            }
        }
        return Optional.empty();
    }

    /** The same needs by the kinds that count instead of others. What is known of a kind itself comes first. */
    KindNeeds countedBy(GpuKinds kinds) {
        return new KindNeeds(
                allowedKinds.stream().map(kinds::counted).distinct().toList(),
                profileKind.map(kinds::counted),
                memoryBytes,
                kindTraits.stream()
                        .sorted(Comparator.comparing(
                                traits -> !kinds.counted(traits.kind()).equals(traits.kind())))
                        .map(traits -> traits.on(kinds.counted(traits.kind())))
                        .toList());
    }

    boolean allows(KindId kind) {
        return (allowedKinds.isEmpty() || allowedKinds.contains(kind))
                && memoryBytes.filter(bytes -> !kind.hasMemory(bytes)).isEmpty();
    }

    /**
     * The largest batch of one replica on a kind: as declared for it; else, if it has less memory than the kind of the
     * profile, that of the profile scaled by memory.
     */
    int localMax(KindId kind, int ofProfile) {
        Optional<Integer> declared = traits(kind).flatMap(KindTraits::localMax);
        if (declared.isPresent()) {
            return declared.get();
        }
        Optional<Long> known = profileKind.flatMap(KindId::memoryBytes);
        if (known.isEmpty()) {
            return ofProfile;
        }
        Optional<Long> there = kind.memoryBytes();
        if (there.isEmpty() || there.get() >= known.get()) {
            return ofProfile;
        }
        return (int) Math.floor((double) ofProfile * there.get() / known.get());
    }
}
