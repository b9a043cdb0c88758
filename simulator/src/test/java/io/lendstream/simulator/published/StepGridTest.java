package io.lendstream.simulator.published;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StepGridTest {
    private static final int[] BATCHES = {4, 6, 8, 11, 12};

    /** Nodes and replicas of the published measurements of bert on more than four nodes, in their order. */
    private static final String LARGE =
            "6,6 8,8 12,12 16,16 16,20 12,14 12,16 16,24 8,10 6,7 6,8 8,12 12,20 16,28 6,10 8,14"
                    + " 6,12 8,16 12,24 16,32 12,28 16,40 6,14 8,20 12,32 6,16 8,24 16,48 12,40 16,56 6,20 8,28 6,24 8,32 12,48"
                    + " 16,64";

    @TempDir
    private Path folder;

    private final Map<Long, List<StepTable.Point>> placed = new LinkedHashMap<>();

    @BeforeEach
    void measure() throws IOException {
        for (int nodes = 1; nodes <= 4; nodes++) {
            for (int replicas = nodes; replicas <= 4 * nodes; replicas++) {
                long placement = 0;
                for (int node = 0; node < nodes; node++) {
                    placement = placement * 10 + (replicas + node) / nodes;
                }
                List<StepTable.Point> points = new ArrayList<>();
                for (int batch : BATCHES) {
                    points.add(point(nodes, replicas, batch));
                }
                placed.put(placement, points);
            }
        }
        StringBuilder large = new StringBuilder("num_nodes,num_replicas,local_bsz,step_time,sync_time\n");
        for (String size : LARGE.split(" ", -1)) {
            int nodes = Integer.parseInt(size.substring(0, size.indexOf(',')));
            int replicas = Integer.parseInt(size.substring(size.indexOf(',') + 1));
            for (int batch : BATCHES) {
                StepTable.Point point = point(nodes, replicas, batch);
                large.append("%s,%d,%s,%s%n".formatted(size, batch, point.seconds(), point.syncSeconds()));
            }
        }
        Files.writeString(folder.resolve("scalability.csv"), large);
    }

    /** Times that are linear in nodes, replicas and local batch. */
    private static StepTable.Point point(int nodes, int replicas, int batch) {
        return new StepTable.Point(
                batch, 1 + .5 * nodes + .25 * replicas + .125 * batch, .5 * nodes + .0625 * replicas);
    }

    @ParameterizedTest
    @CsvSource({"5, 5, 4", "5, 20, 12", "7, 19, 9", "9, 33, 5", "14, 27, 10", "16, 64, 11"})
    void timesThatAreLinearInThePlacementStaySo(int nodes, int replicas, int batch) {
        StepGrid grid = StepGrid.read(folder, "bert", PublishedSettings.Timing.POLLUX, placed);

        StepTable.Point between = grid.at(nodes, replicas, batch).orElseThrow();

        StepTable.Point expected = point(nodes, replicas, batch);
        assertThat(between.seconds()).isCloseTo(expected.seconds(), within(1e-9));
        assertThat(between.syncSeconds()).isCloseTo(expected.syncSeconds(), within(1e-9));
    }

    @Test
    void outsideOfTheGridNothingIsKnown() {
        StepGrid grid = StepGrid.read(folder, "bert", PublishedSettings.Timing.POLLUX, placed);

        assertThat(grid.at(5, 4, 12)).isEmpty();
    }

    @Test
    void tracesThatAreNotThePublishedOnesAreRefused() {
        placed.remove(1L);

        assertThatThrownBy(() -> StepGrid.read(folder, "bert", PublishedSettings.Timing.POLLUX, placed))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has 345 measurements")
                .hasMessageContaining("the published traces have 350");
    }
}
