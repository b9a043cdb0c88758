package io.lendstream.core.goodput;

/**
 * Looks along a line that leads downhill for a step after which the function is lower and flatter: Moré and Thuente's
 * search, with the constants that L-BFGS-B uses.
 *
 * <p>The caller evaluates the function at {@link #step()} and passes the result to the search, until it ends. The
 * search keeps an interval between the best step so far and another one; each trial is the minimum of a cubic or a
 * parabola through the known values at its ends.
 *
 * @see <a href="https://doi.org/10.1145/192115.192132">Moré, Thuente: Line search algorithms with guaranteed sufficient
 *     decrease, 1994</a>
 */
final class LineSearch {
    private static final double SUFFICIENT_DECREASE = 1e-3;
    private static final double FLATNESS = 0.9;
    private static final double NARROW = 0.1;
    private static final double SHRINK = 0.66;

    private double startValue;
    private double startSlope;
    private double longest;
    private double step;
    private double leastTrial;
    private double mostTrial;
    private boolean bracketed;
    private boolean modified;
    private double width;
    private double widthBefore;

    private double best;
    private double bestValue;
    private double bestSlope;
    private double other;
    private double otherValue;
    private double otherSlope;

    /**
     * Starts a search.
     *
     * @param value of the function where the line begins
     * @param slope along the line there, below 0
     * @param step first trial, in (0, longest]
     * @param longest longest step that may be tried
     */
    void start(double value, double slope, double step, double longest) {
        this.startValue = value;
        this.startSlope = slope;
        this.step = step;
        this.longest = longest;
        leastTrial = 0;
        mostTrial = 5 * step;
        bracketed = false;
        modified = true;
        width = longest;
        widthBefore = 2 * width;
        best = 0;
        bestValue = value;
        bestSlope = slope;
        other = 0;
        otherValue = value;
        otherSlope = slope;
    }

    /** The step to try next, or, when the search is over, the one to take. */
    double step() {
        return step;
    }

    /**
     * Takes the value and slope at {@link #step()}: true if that is the step to take, false if another is to be tried.
     */
    boolean isOver(double value, double slope) {
        double decrease = SUFFICIENT_DECREASE * startSlope;
        double enough = startValue + step * decrease;
        if (modified && value <= enough && slope >= 0) {
            modified = false;
        }
        boolean exhausted = bracketed && isExhausted();
        boolean atLongest = step == longest && value <= enough && slope <= decrease;
        boolean converged = value <= enough && Math.abs(slope) <= -FLATNESS * startSlope;
        if (exhausted || atLongest || converged) {
            return true;
        }
        if (modified && value <= bestValue && value > enough) {
            tilt(-decrease);
            narrow(value - step * decrease, slope - decrease);
            tilt(decrease);
        } else {
            narrow(value, slope);
        }
        if (bracketed) {
            if (Math.abs(other - best) >= SHRINK * widthBefore) {
                step = best + 0.5 * (other - best);
            }
            widthBefore = width;
            width = Math.abs(other - best);
            leastTrial = Math.min(best, other);
            mostTrial = Math.max(best, other);
        } else {
            leastTrial = step + 1.1 * (step - best);
            mostTrial = step + 4 * (step - best);
        }
        step = Math.min(longest, Math.max(0, step));
        if (bracketed && isExhausted()) {
            step = best;
        }
        return false;
    }

    private boolean isExhausted() {
        return step <= leastTrial || step >= mostTrial || mostTrial - leastTrial <= NARROW * mostTrial;
    }

    /** Adds a line of this slope through the start to the function. */
    private void tilt(double slope) {
        bestValue += best * slope;
        bestSlope += slope;
        otherValue += other * slope;
        otherSlope += slope;
    }

    /** Takes a trial into the interval and chooses the next one. */
    private void narrow(double value, double slope) {
        boolean turned = slope * Math.signum(bestSlope) < 0;
        double next;
        if (value > bestValue) {
            double cubic = best + cubicShare(best, bestValue, bestSlope, step, value, slope) * (step - best);
            double parabola = best + bestSlope / ((bestValue - value) / (step - best) + bestSlope) / 2 * (step - best);
            next = Math.abs(cubic - best) < Math.abs(parabola - best) ? cubic : cubic + (parabola - cubic) / 2;
            bracketed = true;
        } else if (turned) {
            double cubic = step + cubicShare(step, value, slope, best, bestValue, bestSlope) * (best - step);
            double secant = step + slope / (slope - bestSlope) * (best - step);
            next = Math.abs(cubic - step) > Math.abs(secant - step) ? cubic : secant;
            bracketed = true;
        } else if (Math.abs(slope) < Math.abs(bestSlope)) {
            next = flattening(value, slope);
        } else if (bracketed) {
            next = step + cubicShare(step, value, slope, other, otherValue, otherSlope) * (other - step);
        } else {
            next = step > best ? mostTrial : leastTrial;
        }
        if (value > bestValue) {
            other = step;
            otherValue = value;
            otherSlope = slope;
        } else {
            if (turned) {
                other = best;
                otherValue = bestValue;
                otherSlope = bestSlope;
            }
            best = step;
            bestValue = value;
            bestSlope = slope;
        }
        step = next;
    }

    /** The next trial after one that is lower and flatter than the best one, on the same side of the minimum. */
    private double flattening(double value, double slope) {
        double theta = 3 * (bestValue - value) / (step - best) + bestSlope + slope;
        double size = Math.max(Math.abs(theta), Math.max(Math.abs(bestSlope), Math.abs(slope)));
        double gamma = size * Math.sqrt(Math.max(0, square(theta / size) - bestSlope / size * (slope / size)));
        if (step > best) {
            gamma = -gamma;
        }
        double share = (gamma - slope + theta) / (gamma + (bestSlope - slope) + gamma);
        double cubic = step > best ? mostTrial : leastTrial;
        if (share < 0 && gamma != 0) {
            cubic = step + share * (best - step);
        }
        double secant = step + slope / (slope - bestSlope) * (best - step);
        boolean cubicIsCloser = Math.abs(cubic - step) < Math.abs(secant - step);
        if (!bracketed) {
            boolean cubicIsFarther = Math.abs(cubic - step) > Math.abs(secant - step);
            return Math.max(leastTrial, Math.min(mostTrial, cubicIsFarther ? cubic : secant));
        }
        double next = cubicIsCloser ? cubic : secant;
        double limit = step + SHRINK * (other - step);
        return step > best ? Math.min(limit, next) : Math.max(limit, next);
    }

    /** How far from {@code a} to {@code b} the cubic has its minimum that has these values and slopes there. */
    private static double cubicShare(double a, double valueA, double slopeA, double b, double valueB, double slopeB) {
        double theta = 3 * (valueA - valueB) / (b - a) + slopeA + slopeB;
        double size = Math.max(Math.abs(theta), Math.max(Math.abs(slopeA), Math.abs(slopeB)));
        double gamma = size * Math.sqrt(Math.max(0, square(theta / size) - slopeA / size * (slopeB / size)));
        if (b < a) {
            gamma = -gamma;
        }
        return (gamma - slopeA + theta) / (gamma - slopeA + gamma + slopeB);
    }

    private static double square(double value) {
        return value * value;
    }
}
