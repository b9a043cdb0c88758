package io.lendstream.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.service.ServiceCommand;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SchedulerMainTest {
    private final PrintStream stderr = System.err;
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();

    @AfterEach
    void giveTheStreamBack() {
        System.setErr(stderr);
    }

    @Test
    void anUnknownPolicyStopsTheStartBeforeABrokerIsAsked() {
        System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));

        int exit = ServiceCommand.execute(new SchedulerMain(), "--set", "scheduler.policy=foo");

        assertThat(exit).isEqualTo(2);
        assertThat(said.toString(StandardCharsets.UTF_8))
                .contains(
                        " ERROR ServiceCommand scheduler.policy is foo, but there is no policy 'foo'; policies are [deepboot")
                .hasLineCount(1);
    }

    @Test
    void holdingSamplesForTooLongStopsTheStart() {
        System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));

        int exit = ServiceCommand.execute(
                new SchedulerMain(), "--set", "scheduler.node-stale-after=30s", "--set", "scheduler.hold-samples=16s");

        assertThat(exit).isEqualTo(2);
        assertThat(said.toString(StandardCharsets.UTF_8))
                .contains("scheduler.hold-samples is 16.0 s, but must be at least 0s and at most 15.0 s");
    }
}
