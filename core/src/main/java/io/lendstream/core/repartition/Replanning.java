package io.lendstream.core.repartition;

import io.lendstream.core.decision.Reason;
import java.time.Duration;
import java.time.Instant;

/**
 * Decides whether to change to a new plan. It changes at once if the plan in force no longer suffices, and to fewer
 * GPUs only after some agreeing periods in a row, if the saving lasts.
 *
 * <p>A period agrees if the new plan saves GPUs for long enough. The first proposal that does so counts for the first
 * period, and the next one a period or more later for the second; a proposal in between that disagrees restarts the
 * count, and so does a pause of more than two periods.
 *
 * @param agreed periods in a row that have agreed so far
 * @param counted the time of the last of them; without meaning if there is none
 */
public record Replanning(Settings settings, int agreed, Instant counted) {
    /**
     * When a change is worth it.
     *
     * @param period between two counts
     * @param periods that have to agree; at least 1
     * @param leastSaved GPUs; at least 1
     * @param horizon for which that many have to be saved
     */
    public record Settings(Duration period, int periods, int leastSaved, Duration horizon) {
        public static final Settings DEFAULT = new Settings(Duration.ofMinutes(5), 2, 1, Duration.ofMinutes(30));

        public Settings {
            if (period.isNegative() || horizon.isNegative() || periods < 1 || leastSaved < 1) {
                throw new IllegalArgumentException(
                        "period and horizon must be at least PT0S, periods and GPUs saved at least 1, but are %s, %s, %d and %d"
                                .formatted(period, horizon, periods, leastSaved));
            }
        }
    }

    /**
     * The facts about a new plan.
     *
     * @param gpusInForce of the plan in force
     * @param covers whether the plan in force still answers the demand within the objectives
     * @param gpusPlanned of the new plan
     * @param lasts for how long the new plan is predicted to suffice
     */
    public record Proposal(int gpusInForce, boolean covers, int gpusPlanned, Duration lasts) {}

    /**
     * The verdict on a proposal.
     *
     * @param next the state for the next proposal
     * @param changes whether the new plan comes into force
     * @param reason a sentence for operators
     */
    public record Verdict(Replanning next, boolean changes, String reason) {}

    /** Before anything has been proposed. */
    public static Replanning start(Settings settings) {
        return new Replanning(settings, 0, Instant.EPOCH);
    }

    /** The verdict on a proposal. */
    public Verdict consider(Instant now, Proposal proposal) {
        int saved = proposal.gpusInForce - proposal.gpusPlanned;
        if (!proposal.covers && proposal.gpusInForce == 0) {
            return change("no GPU is planned for services, and %s would cover the demand"
                    .formatted(gpus(proposal.gpusPlanned)));
        }
        if (!proposal.covers) {
            return change("%s no longer %s the demand, %d would"
                    .formatted(
                            gpus(proposal.gpusInForce),
                            proposal.gpusInForce == 1 ? "covers" : "cover",
                            proposal.gpusPlanned));
        }
        if (saved < settings.leastSaved) {
            return new Verdict(
                    start(settings),
                    false,
                    "%s %s the demand, and the new plan saves only %s (limit: %d)"
                            .formatted(
                                    gpus(proposal.gpusInForce),
                                    proposal.gpusInForce == 1 ? "covers" : "cover",
                                    gpus(Math.max(0, saved)),
                                    settings.leastSaved));
        }
        if (proposal.lasts.compareTo(settings.horizon) < 0) {
            return new Verdict(
                    start(settings),
                    false,
                    "%s fewer would suffice for only %d min (limit: %d min)"
                            .formatted(gpus(saved), proposal.lasts.toMinutes(), settings.horizon.toMinutes()));
        }
        return toFewer(now, saved, proposal.lasts.toMinutes());
    }

    /** The verdict on a proposal that saves GPUs for long enough. */
    private Verdict toFewer(Instant now, int saved, long minutes) {
        Replanning next = agreeing(now);
        if (next.agreed < settings.periods) {
            return new Verdict(
                    next,
                    false,
                    "%s fewer would suffice for %d min, but only %d of %s %s"
                            .formatted(
                                    gpus(saved),
                                    minutes,
                                    next.agreed,
                                    Reason.counted(settings.periods, "period"),
                                    next.agreed == 1 ? "agrees" : "agree"));
        }
        return change("%s fewer %s for %d min, and %s"
                .formatted(
                        gpus(saved),
                        saved == 1 ? "suffices" : "suffice",
                        minutes,
                        next.agreed == 1 ? "1 period agrees" : next.agreed + " periods in a row agree"));
    }

    private static String gpus(int number) {
        return Reason.counted(number, "GPU");
    }

    private Verdict change(String reason) {
        return new Verdict(start(settings), true, reason);
    }

    private Replanning agreeing(Instant now) {
        boolean first = agreed == 0 || now.isAfter(counted.plus(settings.period.multipliedBy(2)));
        if (first) {
            return new Replanning(settings, 1, now);
        }
        return now.isBefore(counted.plus(settings.period)) ? this : new Replanning(settings, agreed + 1, now);
    }
}
