package io.lendstream.core.batching;

import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigLayouts;
import io.lendstream.core.mig.MigProfile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.hipparchus.optim.PointValuePair;
import org.hipparchus.optim.linear.LinearConstraint;
import org.hipparchus.optim.linear.LinearConstraintSet;
import org.hipparchus.optim.linear.LinearObjectiveFunction;
import org.hipparchus.optim.linear.NonNegativeConstraint;
import org.hipparchus.optim.linear.Relationship;
import org.hipparchus.optim.linear.SimplexSolver;
import org.hipparchus.optim.nonlinear.scalar.GoalType;

/**
 * What an instance of each profile is worth, in GPUs, if instances and GPUs could be had in parts: the dual of that
 * linear programme. However a GPU is cut, its instances are worth no more than one GPU; so whatever the services must
 * pay at least is a number of GPUs that no plan can do without.
 *
 * <p>By cutting planes (Kelley, 1960): prices are found for the profiles that services chose at earlier prices, until
 * they choose none that is cheaper. A few dozen programmes with a variable a profile, however many services there are.
 *
 * @param prices by profile, in the order of {@link MigGpu#profiles}
 * @param gpus that no plan can do without
 */
record SlotPrices(List<Double> prices, double gpus) {
    private static final int MOST_PLANES = 300;
    private static final double PRECISION = 1e-7;

    static SlotPrices of(MigGpu gpu, List<Packing.Demand> demands) {
        List<LinearConstraint> constraints = new ArrayList<>();
        int profiles = gpu.profiles().size();
        for (List<MigProfile> cut : MigLayouts.of(gpu).cuts()) {
            double[] row = new double[profiles + 1];
            for (int profile = 0; profile < profiles; profile++) {
                row[profile] = Collections.frequency(cut, gpu.profiles().get(profile));
            }
            constraints.add(new LinearConstraint(row, Relationship.LEQ, 1));
        }
        double[] worth = new double[profiles + 1];
        worth[profiles] = 1;
        double[] prices = gpu.profiles().stream()
                .mapToDouble(profile -> (double) profile.computeSlices() / gpu.computeSlices())
                .toArray();
        SlotPrices best = new SlotPrices(List.of(), 0);
        for (int i = 0; i < MOST_PLANES; i++) {
            double[] plane = new double[profiles + 1];
            plane[profiles] = 1;
            double paid = 0;
            for (Packing.Demand demand : demands) {
                int cheapest = cheapest(gpu, demand, prices);
                double instances =
                        demand.ratePerSecond() / demand.capacity(gpu.profiles().get(cheapest));
                plane[cheapest] -= instances;
                paid += prices[cheapest] * instances;
            }
            if (paid > best.gpus) {
                best = new SlotPrices(Arrays.stream(prices).boxed().toList(), paid);
            }
            constraints.add(new LinearConstraint(plane, Relationship.LEQ, 0));
            PointValuePair next = new SimplexSolver()
                    .optimize(
                            new LinearObjectiveFunction(worth, 0),
                            new LinearConstraintSet(constraints),
                            GoalType.MAXIMIZE,
                            new NonNegativeConstraint(true));
            if (next.getValue() - best.gpus <= PRECISION * next.getValue()) {
                break;
            }
            prices = Arrays.copyOf(next.getPoint(), profiles);
        }
        return best;
    }

    double[] toArray() {
        return prices.stream().mapToDouble(Double::doubleValue).toArray();
    }

    /** The profile by which a service pays least. */
    private static int cheapest(MigGpu gpu, Packing.Demand demand, double[] prices) {
        int best = -1;
        double least = Double.POSITIVE_INFINITY;
        for (int profile = 0; profile < prices.length; profile++) {
            double capacity = demand.capacity(gpu.profiles().get(profile));
            if (capacity > 0 && prices[profile] / capacity < least) {
                best = profile;
                least = prices[profile] / capacity;
            }
        }
        return best;
    }
}
