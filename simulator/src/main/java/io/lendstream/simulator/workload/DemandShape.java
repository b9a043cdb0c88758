package io.lendstream.simulator.workload;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * The shape of a service's demand over days: {@code rate(t) = L_day exp(sum_j a_j cos(2 pi j (h - phi_j) / 24) +
 * weekend + u_slow(t) + u_fast(t))}, in the parameters that fit public traces of inference and web services.
 *
 * @param amplitudes of the daily harmonics, in logarithms
 * @param peakHours when each harmonic peaks; what is missing peaks with the first
 * @param weekend what Saturdays and Sundays add, in logarithms
 * @param daySd spread of the day levels, in logarithms
 * @param slowSd spread of the slow disturbance
 * @param slowCorrelation correlation of the slow disturbance over an hour
 * @param fastSd spread of the disturbance that differs from step to step
 * @param switches whether the level jumps now and then, instead of drifting
 * @param eventsPerDay bursts to more than twice the usual demand, half an hour each
 */
record DemandShape(
        List<Double> amplitudes,
        List<Double> peakHours,
        double weekend,
        double daySd,
        double slowSd,
        double slowCorrelation,
        double fastSd,
        boolean switches,
        double eventsPerDay) {
    static final int STEP_SECONDS = 60;
    private static final int STEPS_PER_DAY = 86_400 / STEP_SECONDS;
    private static final int STEPS_PER_HOUR = 3600 / STEP_SECONDS;
    private static final int EVENT_STEPS = 1800 / STEP_SECONDS;

    /** A strongly daily service of people at work (ServeGen m-small, client 5). */
    static DemandShape smooth(double peakHour) {
        return new DemandShape(
                List.of(.63, .45, .13, .04), List.of(peakHour, peakHour - 8.2), 0, .05, .055, .56, 0, false, 0);
    }

    /** A web service: daily, quieter at the weekend, noisy (NASA, WorldCup). */
    static DemandShape web(double peakHour) {
        return new DemandShape(
                List.of(.48, .22, .1, .05), List.of(peakHour, peakHour - 3.7), -.4, .1, .15, .24, .1, false, .25);
    }

    /** A service of few large clients that switch between levels (ServeGen m-mid and m-large). */
    static DemandShape switching(double peakHour) {
        return new DemandShape(List.of(.1, .05, .04, .04), List.of(peakHour), 0, .15, .38, .4, .08, true, .5);
    }

    /** The demand of each step, relative to its greatest: between 0 and 1. */
    List<Double> generate(int days, RandomGenerator chance) {
        double[] rates = new double[days * STEPS_PER_DAY];
        double stepCorrelation = Math.pow(slowCorrelation, 1.0 / STEPS_PER_HOUR);
        double slow = slowSd * chance.nextGaussian();
        double level = 0;
        for (int step = 0; step < rates.length; step++) {
            if (step % STEPS_PER_DAY == 0) {
                level = daySd * chance.nextGaussian();
            }
            slow = nextSlow(slow, stepCorrelation, chance);
            double fast = fastSd * chance.nextGaussian();
            rates[step] = Math.exp(daily(step) + level + slow + fast);
        }
        addEvents(rates, chance);
        double peak = 0;
        for (double rate : rates) {
            peak = Math.max(peak, rate);
        }
        List<Double> relative = new ArrayList<>(rates.length);
        for (double rate : rates) {
            relative.add(rate / peak);
        }
        return relative;
    }

    private double daily(int step) {
        double hour = (double) (step % STEPS_PER_DAY) / STEPS_PER_HOUR;
        double sum = 0;
        for (int j = 1; j <= amplitudes.size(); j++) {
            double peak = peakHours.get(Math.min(j, peakHours.size()) - 1);
            sum += amplitudes.get(j - 1) * Math.cos(2 * Math.PI * j * (hour - peak) / 24);
        }
        // Workloads start on a Thursday, as 2026 does.
        int weekday = (step / STEPS_PER_DAY + 3) % 7;
        return sum + (weekday >= 5 ? weekend : 0);
    }

    private double nextSlow(double slow, double stepCorrelation, RandomGenerator chance) {
        double fresh = slowSd * chance.nextGaussian();
        double draw = chance.nextDouble();
        if (switches) {
            return draw < 1 - stepCorrelation ? fresh : slow;
        }
        return stepCorrelation * slow + Math.sqrt(1 - stepCorrelation * stepCorrelation) * fresh;
    }

    private void addEvents(double[] rates, RandomGenerator chance) {
        double expected = eventsPerDay * rates.length / STEPS_PER_DAY;
        int events = (int) expected + (chance.nextDouble() < expected - (int) expected ? 1 : 0);
        for (int event = 0; event < events; event++) {
            int start = chance.nextInt(Math.max(1, rates.length - EVENT_STEPS));
            double factor = 2 + chance.nextDouble();
            for (int step = start; step < Math.min(rates.length, start + EVENT_STEPS); step++) {
                double ramp = Math.min(1, Math.min(step - start + 1, start + EVENT_STEPS - step) / 5.0);
                rates[step] *= 1 + (factor - 1) * ramp;
            }
        }
    }
}
