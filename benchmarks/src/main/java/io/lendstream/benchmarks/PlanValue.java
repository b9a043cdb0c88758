package io.lendstream.benchmarks;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Goodput;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import java.util.ArrayList;
import java.util.List;
import org.ojalgo.optimisation.Expression;
import org.ojalgo.optimisation.ExpressionsBasedModel;
import org.ojalgo.optimisation.Optimisation;
import org.ojalgo.optimisation.Variable;
import org.ojalgo.optimisation.integer.IntegerStrategy;
import org.ojalgo.type.context.NumberContext;

/**
 * The value of a plan of ATS, and the exact optimum, found without the planner's code.
 *
 * <p>The value is the objective of the knapsack by which ATS sizes jobs: the sum of speedups over a fair share, each
 * on as few nodes as its size needs. The speedup of a job whose size changes is multiplied by {@code (age - 10 s x
 * changes) / (age + 10 s)}. The placement of jobs on GPUs does not count.
 *
 * @see <a href="https://doi.org/10.1109/TPDS.2023.3293835">DeepBoot, TPDS 2023, section 4</a>
 */
final class PlanValue {
    private static final double RESTART_SECONDS = 10;

    private final List<JobView> jobs;
    private final int capacity;
    /** By job: worth on any number of GPUs; nothing is worth 0. */
    private final List<double[]> values = new ArrayList<>();

    PlanValue(ClusterView cluster, int gpusPerNode) {
        this.jobs = cluster.jobs();
        this.capacity = cluster.gpus().size();
        int fairShare = ceilDiv(capacity, jobs.size());
        for (JobView job : jobs) {
            Goodput goodput = job.goodput().orElseThrow();
            double fair = goodput.on(1, fairShare);
            double age = job.age(cluster.now()).toMillis() / 1e3;
            double change = Math.max(0, age - RESTART_SECONDS * job.changes()) / (age + RESTART_SECONDS);
            double[] value = new double[1 + Math.min(Math.min(2 * job.largestRun(), job.maxGpus()), capacity)];
            for (int size = 1; size < value.length; size++) {
                double speedup = goodput.on(ceilDiv(size, gpusPerNode), size) / fair;
                value[size] = size == job.gpus().size() ? speedup : change * speedup;
            }
            values.add(value);
        }
    }

    /** What a plan is worth. */
    double of(Plan plan) {
        double worth = 0;
        int used = 0;
        for (int i = 0; i < values.size(); i++) {
            JobView job = jobs.get(i);
            List<GpuId> target = plan.targets().getOrDefault(job.job(), job.gpus());
            worth += values.get(i)[target.size()];
            used += target.size();
        }
        if (used > capacity) {
            throw new IllegalStateException("a plan for %d GPUs uses %d".formatted(capacity, used));
        }
        return worth;
    }

    /** The most that a plan can be worth, by a mixed-integer solver that others wrote. */
    double optimum() {
        ExpressionsBasedModel model = new ExpressionsBasedModel();
        model.options.integer(IntegerStrategy.newConfigurable().withGapTolerance(NumberContext.of(12)));
        Expression room = model.newExpression("room").upper(capacity);
        for (int i = 0; i < values.size(); i++) {
            Expression once = model.newExpression("once " + i).upper(1);
            for (int size = 1; size < values.get(i).length; size++) {
                Variable take = model.newVariable("job %d on %d".formatted(i, size))
                        .binary()
                        .weight(values.get(i)[size]);
                once.set(take, 1);
                room.set(take, size);
            }
        }
        Optimisation.Result result = model.maximise();
        if (!result.getState().isOptimal()) {
            throw new IllegalStateException("the solver found no optimum: " + result.getState());
        }
        return result.getValue();
    }

    private static int ceilDiv(int total, int each) {
        return (total + each - 1) / each;
    }
}
