package io.lendstream.launcher.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.stack.StackSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class DemoOptionsTest {
    @Test
    void titlesHaveNoDirectories() {
        assertThat(options("day").title()).isEqualTo("day");
        assertThat(options("/home/me/traces/jobs.csv.gz,day").title()).isEqualTo("jobs.csv.gz,day");
    }

    private static DemoOptions options(String workload) {
        DomainId domain = new DomainId(Demo.DOMAIN);
        return new DemoOptions(
                Duration.ZERO,
                OptionalDouble.empty(),
                workload,
                Scene.of(domain, 1, 8, 8),
                new SimulatedNodes.Layout(domain, 4, 4, 2, 1),
                "deepboot",
                0,
                true,
                Path.of("out"),
                false,
                StackSettings.defaults());
    }
}
