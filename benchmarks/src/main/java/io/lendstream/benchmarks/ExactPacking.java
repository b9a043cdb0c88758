package io.lendstream.benchmarks;

import io.lendstream.core.batching.Packing;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigLayouts;
import io.lendstream.core.mig.MigProfile;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;
import org.ojalgo.optimisation.Expression;
import org.ojalgo.optimisation.ExpressionsBasedModel;
import org.ojalgo.optimisation.Optimisation;
import org.ojalgo.optimisation.Variable;

/** The fewest GPUs that hold instances for all demands, as a mixed-integer program for a solver of others. */
final class ExactPacking {
    private static final long SOLVER_MILLIS = 20_000;

    private final MigGpu gpu;
    private final ExpressionsBasedModel model = new ExpressionsBasedModel();
    /** Instances less those that the cuts of the GPUs give, by profile: at most 0. */
    private final List<Expression> room = new ArrayList<>();

    private ExactPacking(MigGpu gpu) {
        this.gpu = gpu;
        model.options.time_abort = SOLVER_MILLIS;
        model.options.time_suffice = SOLVER_MILLIS;
        for (MigProfile profile : gpu.profiles()) {
            room.add(model.newExpression(profile.name()).upper(0));
        }
    }

    /**
     * The fewest GPUs; empty if the solver proves nothing in its time.
     *
     * @param planned GPUs of a plan for the same demands, which cannot be fewer
     */
    static OptionalInt gpus(MigGpu gpu, List<Packing.Demand> demands, int planned) {
        var packing = new ExactPacking(gpu);
        packing.cutGpus();
        demands.forEach(packing::serve);
        Optimisation.Result result = packing.model.minimise();
        if (!result.getState().isOptimal()) {
            return OptionalInt.empty();
        }
        int proved = (int) Math.round(result.getValue());
        if (planned < proved) {
            throw new IllegalStateException(
                    "the solver says that %d GPUs are the fewest, but a plan has %d: its model is wrong"
                            .formatted(proved, planned));
        }
        return OptionalInt.of(proved);
    }

    private void cutGpus() {
        List<List<MigProfile>> cuts = MigLayouts.of(gpu).cuts();
        for (int c = 0; c < cuts.size(); c++) {
            Variable gpus = model.newVariable("cut" + c).lower(0).integer(true).weight(1);
            for (int p = 0; p < room.size(); p++) {
                room.get(p)
                        .set(
                                gpus,
                                -Collections.frequency(
                                        cuts.get(c), gpu.profiles().get(p)));
            }
        }
    }

    private void serve(Packing.Demand demand) {
        Expression served = model.newExpression(demand.service()).lower(1);
        for (int p = 0; p < room.size(); p++) {
            double capacity = demand.capacities().getOrDefault(gpu.profiles().get(p), 0.0);
            if (capacity > 0) {
                Variable instances =
                        model.newVariable(demand.service() + p).lower(0).integer(true);
                served.set(instances, capacity / demand.ratePerSecond());
                room.get(p).set(instances, 1);
            }
        }
    }
}
