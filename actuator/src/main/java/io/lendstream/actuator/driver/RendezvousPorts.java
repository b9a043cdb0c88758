package io.lendstream.actuator.driver;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The ports at which workers of a job over several machines meet. Each GPU has ports of its own, and a job meets at one
 * of those of its first GPU, which no other job has. Its decisions take turns among them, so that workers of an earlier
 * decision do not meet those of a later one.
 *
 * @param first the lowest port
 * @param last the highest port
 */
public record RendezvousPorts(int first, int last) {
    /** The most GPUs of a machine whose ports differ. */
    private static final int GPUS = 16;

    private static final int LOWEST = 1024;
    private static final int HIGHEST = 65535;
    private static final Pattern TEXT = Pattern.compile("(\\d{1,5})-(\\d{1,5})");

    public RendezvousPorts {
        if (first < LOWEST || last > HIGHEST || last - first + 1 < GPUS) {
            throw new IllegalArgumentException("rendezvous ports must be at least %d within %d-%d, but are %d-%d"
                    .formatted(GPUS, LOWEST, HIGHEST, first, last));
        }
    }

    /** Reads {@code FIRST-LAST}; empty if the text has another form or the range is not possible. */
    public static Optional<RendezvousPorts> of(String text) {
        Matcher parts = TEXT.matcher(text.strip());
        if (!parts.matches()) {
            return Optional.empty();
        }
        try {
            return Optional.of(new RendezvousPorts(Integer.parseInt(parts.group(1)), Integer.parseInt(parts.group(2))));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /**
     * The port of a decision.
     *
     * @param gpu index of the job's first GPU on its machine
     * @param sequence number of the decision in its domain
     */
    int port(int gpu, long sequence) {
        int each = (last - first + 1) / GPUS;
        return first + Math.floorMod(gpu, GPUS) * each + (int) Math.floorMod(sequence, (long) each);
    }
}
