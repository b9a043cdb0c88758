package io.lendstream.launcher.faults;

import io.lendstream.core.history.Verdict;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The kills so far, with the times until the next decision. */
final class Takeovers {
    private final List<Kill> kills = new ArrayList<>();

    /**
     * One kill.
     *
     * @param seconds until a decision of the next scheduler could be read as committed
     * @param inFlight whether a GPU was on its way from one owner to another
     * @param beforeCommit whether a decision had been written that was never committed
     */
    record Kill(double seconds, boolean inFlight, boolean beforeCommit) {}

    void add(Kill kill) {
        kills.add(kill);
    }

    Kill last() {
        return kills.get(kills.size() - 1);
    }

    long inFlight() {
        return kills.stream().filter(Kill::inFlight).count();
    }

    long beforeCommit() {
        return kills.stream().filter(Kill::beforeCommit).count();
    }

    /** Whether more kills between a decision and its commit are wanting: a quarter of all, to be sure of a fifth. */
    boolean wantsBeforeCommit() {
        return beforeCommit() * 4 <= kills.size();
    }

    boolean wantsInFlight() {
        return inFlight() * 2 <= kills.size();
    }

    double p99Seconds() {
        return quantile(0.99);
    }

    /** By linear interpolation. */
    private double quantile(double share) {
        List<Double> sorted = kills.stream().map(Kill::seconds).sorted().toList();
        double at = share * (sorted.size() - 1);
        int below = (int) Math.floor(at);
        int above = (int) Math.ceil(at);
        return sorted.get(below) + (at - below) * (sorted.get(above) - sorted.get(below));
    }

    /** Prints what was measured, and leaves it as a line of JSON where {@code ./dev faults} finds it. */
    void publish(FailureTimeouts surroundings, long seed, Verdict verdict) {
        System.out.println(this);
        String json = String.format(
                Locale.ROOT,
                "{\"kills\":%d,\"killsInFlight\":%d,\"killsBeforeCommit\":%d,\"takeoverP50Seconds\":%.2f,"
                        + "\"takeoverP99Seconds\":%.2f,\"takeoverMaxSeconds\":%.2f,\"violations\":%d,\"eventsChecked\":%d,\"decisionsChecked\":%d,\"seed\":%d}",
                kills.size(),
                inFlight(),
                beforeCommit(),
                quantile(0.5),
                quantile(0.99),
                quantile(1),
                verdict.violations().size(),
                verdict.events(),
                verdict.decisions(),
                seed);
        try {
            Files.writeString(Path.of("target", "faults-%s.json".formatted(surroundings.name())), json);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%d kills, %d with a transfer in flight, %d between a decision and its commit; takeover p50 %.2f s, p99 %.2f s, at most %.2f s",
                kills.size(),
                inFlight(),
                beforeCommit(),
                quantile(0.5),
                quantile(0.99),
                quantile(1));
    }
}
