package io.lendstream.actuator.jobs;

import static io.lendstream.actuator.jobs.ExampleJob.BATCHING;
import static io.lendstream.actuator.jobs.ExampleJob.ID;
import static io.lendstream.actuator.jobs.ExampleJob.change;
import static io.lendstream.actuator.jobs.ExampleJob.slots;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An elastic job of processes that speak the protocol but train nothing; they need no PyTorch. */
class ElasticJobTest extends InJobDirectory {
    private JobProgram program() {
        return JobProgram.of(JobProgram.Mode.AFE, WorkerMain.command(), state);
    }

    private List<OsProcess> workersIn(String device) {
        return OsProcess.carrying("CUDA_VISIBLE_DEVICES", device).stream()
                .filter(processes()::contains)
                .toList();
    }

    @Test
    void aJobGrowsShrinksComesOverALossAndStops() throws Exception {
        try (var host = JobHost.open(state, heard)) {
            host.start(ID, program(), slots("0"), BATCHING, change(1));
            heard.await("applied 1");
            host.resize(ID, slots("0,1"), BATCHING, change(2));
            heard.await("applied 2");
            workersIn("0").forEach(OsProcess::kill);
            heard.await("recovered without gpu0");
            heard.awaitUntil(() -> workersIn("0").size() == 2, "a new worker, and the shell that waits for it");
            host.resize(ID, slots("1"), BATCHING, change(3));
            heard.await("released gpu0 by 3");
            heard.await("applied 3");
            assertThat(host.running().get(0).bound()).isEqualTo(slots("1"));
            host.stop(ID, change(4));
            heard.await("exited 0");
        }

        assertThat(heard.lines())
                .contains("bound gpu0 by 1", "bound gpu1 by 2", "released gpu1 by 4")
                .noneMatch(line -> line.startsWith("failed"));
        assertThat(heard.reports()).extracting(StepReport::replicas).containsOnly(1);
        assertThat(processes()).isEmpty();
    }

    @Test
    void aWorkerOfAnotherVersionIsRefused() throws Exception {
        try (var host = JobHost.open(state, heard);
                var channel = SocketChannel.open(UnixDomainSocketAddress.of(state.resolve("jobs.sock")))) {
            assertThat(host.running()).isEmpty();
            Frames.write(channel, MembershipFixture.json("{'type': 'hello', 'version': 99}"), new byte[0]);

            Frames.Frame answer = Frames.read(channel);

            assertThat(answer.type()).isEqualTo("refused");
            assertThat(answer.message().path("why").asText())
                    .contains("uses protocol version 99", "this node process uses 1;");
        }
    }
}
