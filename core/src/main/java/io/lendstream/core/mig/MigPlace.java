package io.lendstream.core.mig;

import java.util.Optional;

/**
 * An instance, or room for one: a profile from one memory slice on.
 *
 * @param start its first memory slice
 */
public record MigPlace(MigProfile profile, int start) {
    public MigPlace {
        if (!profile.starts().contains(start)) {
            throw new IllegalArgumentException("a %s instance must start at one of %s, but was to start at %d"
                    .formatted(profile.name(), profile.starts(), start));
        }
    }

    /** Reads what {@link #toString} wrote; empty where a GPU of this kind has no such place. */
    public static Optional<MigPlace> parse(MigGpu gpu, String text) {
        int at = text.indexOf('@');
        Optional<MigProfile> profile = at < 0 ? Optional.empty() : gpu.profile(text.substring(0, at));
        return profile.flatMap(found -> found.starts().stream()
                .filter(start -> text.substring(at + 1).equals(start.toString()))
                .map(start -> new MigPlace(found, start))
                .findFirst());
    }

    /** The memory slices that it covers; places of one GPU must not share any. */
    public int bits() {
        return profile.bits(start);
    }

    /** As {@code nvidia-smi mig -cgi} takes it, by id: {@code 9:4}. */
    public String argument() {
        return profile.id() + ":" + start;
    }

    @Override
    public String toString() {
        return profile.name() + "@" + start;
    }
}
