package io.lendstream.simulator.batching;

import static io.lendstream.simulator.batching.LatencyTablesTest.fiveProbes;
import static io.lendstream.simulator.batching.LatencyTablesTest.mean;
import static io.lendstream.simulator.batching.LatencyTablesTest.quantile;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.lendstream.core.batching.BatchLatency;
import io.lendstream.core.latency.LatencyLearner;
import io.lendstream.core.latency.LatencyPrior;
import io.lendstream.core.latency.LatencySample;
import io.lendstream.core.latency.ServedBatches;
import io.lendstream.core.latency.Slice;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Public latency tables are in LENDSTREAM_DATA, or in shared/data beside the project. */
class LatencyLearnerTablesTest {
    private static final double NOISE = .02;
    private static final int SERVED = 3000;
    private static final int READ_EVERY = 500;

    private final Path tables = Optional.ofNullable(System.getenv("LENDSTREAM_DATA"))
            .map(Path::of)
            .orElse(Path.of("../../shared/data"))
            .resolve("mig/parvagpu/prof_data");

    /** Errors before and after serving, of models that are alike in what was seen of them. */
    private record Errors(
            String name, List<Double> before, List<Double> after, List<Double> lateBefore, List<Double> lateAfter) {
        private Errors(String name) {
            this(name, new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        }

        private void add(LatencySample truth, LatencyLearner probed, LatencyLearner served) {
            before.add(Math.abs(ratio(probed, truth) - 1));
            after.add(Math.abs(ratio(served, truth) - 1));
            lateBefore.add(isLate(probed, truth) ? 1.0 : 0);
            lateAfter.add(isLate(served, truth) ? 1.0 : 0);
        }

        private void add(Errors others) {
            before.addAll(others.before);
            after.addAll(others.after);
            lateBefore.addAll(others.lateBefore);
            lateAfter.addAll(others.lateAfter);
        }

        private static double ratio(LatencyLearner learner, LatencySample truth) {
            return learner.model().orElseThrow().millis(truth.slice(), truth.batch(), truth.size()) / truth.millis();
        }

        /** Whether it takes longer than it is planned with. */
        private static boolean isLate(LatencyLearner learner, LatencySample truth) {
            return ratio(learner, truth) * (1 + learner.margin(truth.slice(), truth.batch(), truth.size())) < 1;
        }

        private void say() {
            System.out.printf(
                    "%-12s %3d points: median %.1f %%, mean %.1f %%, p90 %.1f %%, beyond margin %.1f %% after probes; %.1f, %.1f, %.1f, %.1f after serving%n",
                    name,
                    after.size(),
                    100 * quantile(before, .5),
                    100 * mean(before),
                    100 * quantile(before, .9),
                    100 * mean(lateBefore),
                    100 * quantile(after, .5),
                    100 * mean(after),
                    100 * quantile(after, .9),
                    100 * mean(lateAfter));
        }
    }

    private static LatencyLearner probed(LatencyTable table, LatencyPrior prior) {
        LatencyLearner learner = LatencyLearner.of(prior);
        for (LatencyTable.Row row :
                table.rows().stream().filter(fiveProbes(table)).toList()) {
            LatencySample sample = table.sample(row);
            learner = learner.probed(
                    ServedBatches.of(sample.slice(), sample.batch(), sample.size(), 30, sample.millis()));
        }
        return learner;
    }

    /** Serves on a profile, with random arrivals at half the rate of its largest batches. */
    private static LatencyLearner serving(LatencyLearner learner, LatencyTable table, MigProfile profile, long seed) {
        Random random = new Random(seed);
        BatchLatency truth =
                new MeasuredLatency(table).on(profile, table.largestInput()).orElseThrow();
        Slice slice = Slice.of(table.gpu(), profile);
        double perMilli = .5 * truth.largestBatch() / truth.millis(truth.largestBatch());
        LatencyLearner next = learner;
        List<ServedBatches> reading = new ArrayList<>();
        double now = 0;
        double arrival = 0;
        for (int i = 0; i < SERVED; i++) {
            now = Math.max(now, arrival);
            int batch = 0;
            while (arrival <= now && batch < truth.largestBatch()) {
                batch++;
                arrival -= Math.log(1 - random.nextDouble()) / perMilli;
            }
            double millis = truth.millis(batch) * Math.exp(NOISE * random.nextGaussian());
            now += millis;
            reading.add(ServedBatches.of(slice, batch, 1, 1, millis));
            if (reading.size() == READ_EVERY) {
                next = next.observed(reading);
                reading.clear();
            }
        }
        return next;
    }

    private static int largestMeasured(LatencyLearner learner, Slice slice) {
        return learner.state().bins().stream()
                .filter(bin -> bin.bin().slice().equals(slice) && bin.batches() >= 50)
                .mapToInt(bin -> bin.bin().batch())
                .max()
                .orElse(0);
    }

    /** Each profile serves by itself, so that what it teaches of the others is seen, too. */
    @Test
    void servingBringsErrorsBelowThreePerCent() {
        assumeThat(tables)
                .as("latency tables; set LENDSTREAM_DATA to the directory that has them")
                .exists();
        List<LatencyTable> all =
                LatencyTables.read(tables, MigGpu.named("A100-80GB").orElseThrow());
        Errors serving = new Errors("serving");
        Errors seen = new Errors("seen");
        Errors beyond = new Errors("beyond");
        Errors elsewhere = new Errors("elsewhere");
        int drifts = 0;
        for (LatencyTable table : all) {
            LatencyLearner probed = probed(
                    table,
                    LatencyPrior.of(all.stream()
                            .filter(other -> !other.equals(table))
                            .map(LatencyTable::samples)
                            .toList()));
            Errors ofModel = new Errors(table.model());
            List<MigProfile> profiles = table.rows().stream()
                    .map(LatencyTable.Row::profile)
                    .distinct()
                    .toList();
            for (MigProfile profile : profiles) {
                LatencyLearner served = serving(probed, table, profile, 1);
                drifts += served.state().drifted() ? 1 : 0;
                int measured = largestMeasured(served, Slice.of(table.gpu(), profile));
                for (LatencyTable.Row row : table.rows()) {
                    if (!fiveProbes(table).test(row)) {
                        boolean here = row.profile().equals(profile);
                        Errors which = !here ? elsewhere : row.batch() <= measured ? seen : beyond;
                        which.add(table.sample(row), probed, served);
                        if (here) {
                            ofModel.add(table.sample(row), probed, served);
                        }
                    }
                }
            }
            ofModel.say();
            serving.add(ofModel);
        }
        List.of(serving, seen, beyond, elsewhere).forEach(Errors::say);

        assertThat(all).hasSize(11);
        assertThat(drifts).as("false alarms").isZero();
        assertThat(quantile(serving.before, .5)).isGreaterThan(.03);
        assertThat(quantile(serving.after, .5)).isLessThan(.015);
        assertThat(mean(serving.after)).isLessThan(.03);
        assertThat(mean(serving.lateAfter)).isLessThan(.02);
        assertThat(quantile(seen.after, .9)).isLessThan(.03);
        assertThat(mean(beyond.after)).isLessThan(mean(beyond.before));
        assertThat(mean(elsewhere.after)).isLessThan(mean(elsewhere.before));
    }
}
