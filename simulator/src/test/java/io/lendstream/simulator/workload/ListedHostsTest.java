package io.lendstream.simulator.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.afe.PauseCosts;
import io.lendstream.core.event.HostNeed;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.DomainId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ListedHostsTest {
    @TempDir
    private Path folder;

    private TrainingJob job(String cells) throws IOException {
        Path file = Files.writeString(
                folder.resolve("jobs.csv"),
                "job,submitSeconds,gpus,runSeconds,cpusPerGpu,hostGibPerGpu,pauseSeconds,resumeSeconds,resumeElsewhereSeconds,pausedGib\na,0,4,3600,%s\n"
                        .formatted(cells));
        return Workloads.load(file.toString(), Scene.of(new DomainId("test"), 1, 8, 8))
                .tasks()
                .get(0)
                .job();
    }

    @Test
    void aLineNamesTheNeed() throws IOException {
        assertThat(job("1.5,64,,,,").hostNeed()).isEqualTo(HostNeed.of(1500, 64L << 30));
        assertThat(job(",,,,,").hostNeed()).isEqualTo(HostNeed.USUAL);
    }

    @Test
    void aLineNamesThePauses() throws IOException {
        assertThat(job(",,8,4,20,32").traits().costs().pausing())
                .contains(new PauseCosts(
                        Duration.ofSeconds(8), Duration.ofSeconds(4), Duration.ofSeconds(20), 32L << 30));
        assertThat(job(",,8,4,,32").traits().costs().pausing())
                .contains(
                        new PauseCosts(Duration.ofSeconds(8), Duration.ofSeconds(4), Duration.ofSeconds(4), 32L << 30));
        assertThat(job(",,,4,20,32").traits().costs().pausing()).isEmpty();
    }

    @Test
    void amountsThatAreNoneAreRefused() {
        assertThatThrownBy(() -> job("0,,,,,")).hasMessageContaining("cpusPerGpu");
        assertThatThrownBy(() -> job(",,8,4,20,")).hasMessageContaining("pausedGib");
        assertThatThrownBy(() -> job(",,-1,4,20,1")).hasMessageContaining("pauseSeconds");
    }
}
