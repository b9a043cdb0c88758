package io.lendstream.actuator.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RendezvousStoreTest {
    private final RendezvousStore store = new RendezvousStore();
    private final List<String> answers = new ArrayList<>();

    private List<String> ask(long epoch, String operation, String value) {
        var request = MembershipFixture.json(
                "{'epoch': %d, 'operation': '%s', 'keys': ['k'], 'timeoutMillis': 5}".formatted(epoch, operation));
        store.ask(request, ByteBuffer.wrap(value.getBytes(StandardCharsets.UTF_8)), 0, new EpochStore.Answer() {
            @Override
            public void value(byte[] answer) {
                answers.add(new String(answer, StandardCharsets.UTF_8));
            }

            @Override
            public void error(String why, boolean late) {
                answers.add(why + (late ? ", late" : ""));
            }
        });
        return answers;
    }

    @Test
    void onlyWorkersOfTheEpochInPreparationFindAStore() {
        assertThat(ask(1, "check", "")).containsExactly("the membership epoch is over");
        answers.clear();
        store.open(2);

        assertThat(ask(1, "check", "")).containsExactly("the membership epoch is over");
        answers.clear();
        ask(2, "set", "v");
        assertThat(ask(2, "get", "")).containsExactly("", "v");
    }

    @Test
    void theStoreOfTheNextEpochEndsThatOfTheEpochBefore() {
        store.open(1);
        ask(1, "get", "");
        assertThat(answers).isEmpty();

        store.open(2);

        assertThat(answers).containsExactly("the membership epoch is over");
    }

    @Test
    void waitsEndAfterTheirTime() {
        store.open(1);
        ask(1, "get", "");
        store.expire(4_999_999);
        assertThat(answers).isEmpty();

        store.expire(5_000_000);

        assertThat(answers).containsExactly("[k] was not set in time, late");
    }
}
