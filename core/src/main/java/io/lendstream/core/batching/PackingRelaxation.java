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

/** The best packing if instances and GPUs could be had in parts, by linear programming. */
final class PackingRelaxation {
    private final int profiles;
    private final int services;
    private final double[] point;
    private final double gpus;

    /** Variables: instances of each service on each profile, then GPUs of each cut. */
    PackingRelaxation(MigGpu gpu, List<Packing.Demand> demands) {
        List<List<MigProfile>> cuts = MigLayouts.of(gpu).cuts();
        this.profiles = gpu.profiles().size();
        this.services = demands.size();
        int instances = services * profiles;
        int variables = instances + cuts.size();
        List<LinearConstraint> constraints = new ArrayList<>();
        for (int service = 0; service < services; service++) {
            Packing.Demand demand = demands.get(service);
            double[] row = new double[variables];
            for (int profile = 0; profile < profiles; profile++) {
                row[service * profiles + profile] =
                        demand.capacity(gpu.profiles().get(profile)) / demand.ratePerSecond();
            }
            constraints.add(new LinearConstraint(row, Relationship.GEQ, 1));
        }
        for (int profile = 0; profile < profiles; profile++) {
            double[] row = new double[variables];
            for (int service = 0; service < services; service++) {
                row[service * profiles + profile] = 1;
            }
            for (int cut = 0; cut < cuts.size(); cut++) {
                row[instances + cut] =
                        -Collections.frequency(cuts.get(cut), gpu.profiles().get(profile));
            }
            constraints.add(new LinearConstraint(row, Relationship.LEQ, 0));
        }
        double[] cost = new double[variables];
        Arrays.fill(cost, instances, variables, 1);
        PointValuePair best = new SimplexSolver()
                .optimize(
                        new LinearObjectiveFunction(cost, 0),
                        new LinearConstraintSet(constraints),
                        GoalType.MINIMIZE,
                        new NonNegativeConstraint(true));
        this.point = best.getPoint();
        this.gpus = best.getValue();
    }

    double gpus() {
        return gpus;
    }

    double instances(int service, int profile) {
        return point[service * profiles + profile];
    }

    /** GPUs of a cut, in the order of {@link MigLayouts#cuts}. */
    double cut(int cut) {
        return point[services * profiles + cut];
    }
}
