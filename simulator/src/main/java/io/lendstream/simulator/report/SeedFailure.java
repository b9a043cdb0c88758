package io.lendstream.simulator.report;

/**
 * A seed whose runs could not be replayed.
 *
 * @param cause a sentence without its full stop
 */
public record SeedFailure(long seed, String cause) {
    /** The failure in a line: {@code seed 4 failed: ...}. */
    public String line() {
        return "seed %d failed: %s".formatted(seed, cause);
    }
}
