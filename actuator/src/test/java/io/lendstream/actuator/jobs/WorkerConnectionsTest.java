package io.lendstream.actuator.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Who may connect to the node process. */
class WorkerConnectionsTest {
    private static Optional<String> refusal(String message, boolean isKnown) {
        return WorkerConnections.refusal(
                new Frames.Frame(MembershipFixture.json(message), ByteBuffer.allocate(0)), isKnown);
    }

    @Test
    void aWorkerThatIsExpectedIsWelcome() {
        assertThat(refusal("{'type': 'hello', 'version': 1, 'worker': 'w'}", true))
                .isEmpty();
    }

    @Test
    void aStrangerAndOneThatDoesNotSayHelloAreRefused() {
        assertThat(refusal("{'type': 'hello', 'version': 1, 'worker': 'w'}", false))
                .contains("no worker w with this token is expected here");
        assertThat(refusal("{'type': 'ready', 'version': 1, 'worker': 'w'}", true))
                .contains("no worker w with this token is expected here");
    }

    @Test
    void aWorkerOfAnotherVersionIsToldBothVersions() {
        assertThat(refusal("{'type': 'hello', 'version': 99, 'worker': 'w'}", true))
                .hasValueSatisfying(
                        why -> assertThat(why).contains("uses protocol version 99", "this node process uses 1;"));
        assertThat(refusal("{}", true))
                .hasValueSatisfying(why -> assertThat(why).contains("uses protocol version 0"));
    }
}
