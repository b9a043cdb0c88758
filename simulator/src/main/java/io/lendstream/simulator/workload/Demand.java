package io.lendstream.simulator.workload;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;

/** The demand for a service. */
public sealed interface Demand {
    /** When the last of it arrives. */
    Instant end();

    /**
     * Single requests, each of which a replica computes for its own time.
     *
     * @param requests in order of arrival
     * @param none the end where there is no request
     */
    record Requests(List<Request> requests, Instant none) implements Demand {
        public Requests {
            requests =
                    requests.stream().sorted(Comparator.comparing(Request::at)).toList();
        }

        @Override
        public Instant end() {
            return requests.isEmpty() ? none : requests.get(requests.size() - 1).at();
        }
    }

    /**
     * Many short requests, of which only the rate counts. After its end a series goes on as it did a day before.
     *
     * @param start of the first step
     * @param step length of the steps of the series
     * @param perSecond requests expected per second, step by step
     * @param dispersion how much counts vary beyond chance: the variance over the mean of a count with mean {@code m}
     *     is {@code 1 + dispersion * m} (Gamma-Poisson); 0 is plain Poisson
     * @param secondsPerRequest time that a replica needs for one of them when nothing else is to do
     */
    record Rates(Instant start, Duration step, List<Double> perSecond, double dispersion, double secondsPerRequest)
            implements Demand {
        private static final Duration DAY = Duration.ofDays(1);

        public Rates {
            perSecond = List.copyOf(perSecond);
            if (perSecond.isEmpty() || step.toMillis() < 1) {
                throw new IllegalArgumentException("a series of rates must have at least one step of at least 1 ms");
            }
            for (double rate : perSecond) {
                if (!(rate >= 0) || Double.isInfinite(rate)) {
                    throw new IllegalArgumentException(
                            "rates must be finite numbers of at least 0, but one was " + rate);
                }
            }
        }

        @Override
        public Instant end() {
            return start.plus(step.multipliedBy(perSecond.size()));
        }

        /** Requests expected per second at a time. */
        public double at(Instant time) {
            long offset = Duration.between(start, time).toMillis();
            long length = step.toMillis() * perSecond.size();
            long cycle = Math.min(DAY.toMillis(), length);
            if (offset >= length) {
                offset = length - cycle + (offset - length) % cycle;
            }
            return perSecond.get((int) Math.max(0, offset / step.toMillis()));
        }

        public double peak() {
            return perSecond.stream().mapToDouble(Double::doubleValue).max().orElseThrow();
        }

        public double mean() {
            return perSecond.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
        }
    }
}
