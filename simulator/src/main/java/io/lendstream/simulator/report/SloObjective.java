package io.lendstream.simulator.report;

/** The service level objective that reports measure runs against, and the share below which they raise an alarm. */
public final class SloObjective {
    /** Share of requests within their SLO; a run below it has used more than its error budget. */
    public static final double OBJECTIVE = 0.999;
    /** Share of requests within their SLO below which a run is an alarm. */
    public static final double ALARM_BELOW = 0.99;

    private SloObjective() {}

    /** The share of the error budget that misses have used: 1 when all of it is used. */
    public static double budgetUsed(double attainment) {
        return (1 - attainment) / (1 - OBJECTIVE);
    }

    /** The level of a run with this attainment; {@link RunWarning.Level#NOTE} when it meets the objective. */
    static RunWarning.Level level(double attainment) {
        if (attainment < ALARM_BELOW) {
            return RunWarning.Level.ALARM;
        }
        return attainment < OBJECTIVE ? RunWarning.Level.WARNING : RunWarning.Level.NOTE;
    }

    /** The objective as it is written: {@code 99.9 %}. */
    static String written() {
        return Text.plain(100 * OBJECTIVE) + " %";
    }
}
