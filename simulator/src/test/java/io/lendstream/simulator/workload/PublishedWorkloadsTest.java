package io.lendstream.simulator.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.lendstream.core.goodput.Batch;
import io.lendstream.core.goodput.GoodputModel;
import io.lendstream.core.id.DomainId;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reads the published workloads where they are available: in LENDSTREAM_DATA, or in shared/data beside the project. */
class PublishedWorkloadsTest {
    private final Path data = Optional.ofNullable(System.getenv("LENDSTREAM_DATA"))
            .map(Path::of)
            .orElse(Path.of("../../shared/data"))
            .resolve("deepboot");

    @BeforeEach
    void needsTheData() {
        assumeThat(Files.isDirectory(data))
                .as("published workloads in %s; set LENDSTREAM_DATA to the directory that has them", data)
                .isTrue();
    }

    private Workload load(String name) {
        Scene scene = Scene.of(new DomainId("test"), 1, 32, 32).withProfiles(data.resolve("traces"));
        return Workloads.load(data.resolve("workload").resolve(name).toString(), scene);
    }

    @Test
    void small() {
        Workload small = load("small.csv");

        assertThat(small.tasks()).hasSize(160);
        assertThat(small.loads()).hasSize(6);
        assertThat(small.loads().stream()
                        .mapToInt(load ->
                                ((Demand.Requests) load.demand()).requests().size())
                        .sum())
                .isEqualTo(3200);
        assertThat(small.lastTrainingArrival()).contains(small.start().plusSeconds(27_695));
        TreeMap<String, Double> totals = new TreeMap<>();
        small.tasks()
                .forEach(task ->
                        totals.put(task.job().application(), task.truth().totalProgress()));
        assertThat(totals.get("bert")).isEqualTo(14_774);
        assertThat(totals.get("ncf")).isEqualTo(194_174);
        assertThat(totals.get("yolov3")).isBetween(103_443.9, 103_444.1);
    }

    @Test
    void fittedModelsComeCloseToMeasuredGoodput() {
        Workload training = load("pure_train.csv");

        for (TrainingTask task : training.tasks()) {
            if (task.job().scaling().maxGpus() == 1) {
                continue;
            }
            GoodputModel model = new GoodputModel(
                    task.job().traits().profile().throughput(),
                    task.job().traits().profile().noise(),
                    task.job().traits().batch());
            for (List<Integer> gpus : List.of(List.of(1), List.of(4), List.of(4, 4), List.of(4, 4, 4, 4))) {
                GpusByNode placement = GpusByNode.of(gpus);
                Batch batch =
                        model.best(placement.nodes(), placement.replicas()).batch();
                double fitted =
                        model.iterationSeconds(placement.nodes(), placement.replicas(), new Batch(batch.local(), 0));
                double measured =
                        task.truth().stepTime(placement, batch.local()).seconds();
                assertThat(fitted / measured)
                        .as("%s on %s", task.job().application(), gpus)
                        .isBetween(0.6, 1.6);
            }
        }
    }
}
