package io.lendstream.actuator.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class EpochStoreTest {
    private final EpochStore store = new EpochStore();
    private final List<String> answers = new ArrayList<>();

    @Test
    void whoWaitsForKeysIsAnsweredWhenTheLastOfThemIsSet() {
        ask("wait", List.of("a", "b"), "", 1000, 0);
        ask("get", List.of("b"), "", 1000, 0);
        ask("set", List.of("a"), "1", 0, 0);
        assertThat(answers).containsExactly("");

        ask("set", List.of("b"), "2", 0, 0);

        assertThat(answers).containsExactly("", "", "", "2");
    }

    @Test
    void addingCountsFromZeroAndMayBeWaitedFor() {
        ask("get", List.of("n"), "", 1000, 0);
        ask("add", List.of("n"), "2", 0, 0);
        ask("add", List.of("n"), "3", 0, 0);
        ask("check", List.of("n"), "", 0, 0);
        ask("check", List.of("n", "m"), "", 0, 0);

        assertThat(answers).containsExactly("2", "2", "5", "1", "0");
    }

    @Test
    void aWaitEndsAtItsTimeAndNotBefore() {
        ask("get", List.of("a"), "", 1000, 0);

        store.expire(999_999_999);
        assertThat(answers).isEmpty();
        store.expire(1_000_000_000);

        assertThat(answers).containsExactly("late: [a] was not set in time");
    }

    @Test
    void whenTheEpochIsOverEveryWaitFailsAtOnceAndSoDoesEveryRequest() {
        ask("get", List.of("a"), "", 1000, 0);

        store.end();
        ask("set", List.of("a"), "1", 0, 0);

        assertThat(answers).containsExactly("the membership epoch is over", "the membership epoch is over");
    }

    private void ask(String operation, List<String> keys, String value, long timeoutMillis, long nowNanos) {
        store.ask(
                operation,
                keys,
                value.getBytes(StandardCharsets.UTF_8),
                timeoutMillis,
                nowNanos,
                new EpochStore.Answer() {
                    @Override
                    public void value(byte[] answer) {
                        answers.add(new String(answer, StandardCharsets.UTF_8));
                    }

                    @Override
                    public void error(String why, boolean late) {
                        answers.add((late ? "late: " : "") + why);
                    }
                });
    }
}
