package io.lendstream.launcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.launcher.cli.UserError;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SeedListTest {
    @Test
    void aNumberIsThatManySeeds() {
        assertThat(SeedList.parse("3")).containsExactly(1L, 2L, 3L);
    }

    @Test
    void listsAndRangesAreTheSeedsThatTheyName() {
        assertThat(SeedList.parse("1,4,9")).containsExactly(1L, 4L, 9L);
        assertThat(SeedList.parse("3-5")).containsExactly(3L, 4L, 5L);
        assertThat(SeedList.parse("7, 3-5,4")).containsExactly(7L, 3L, 4L, 5L);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "x", "1,", "5-3", "-1", "1001", "1-2000", "1.5", "99999999999999999999"})
    void anythingElseIsBadUsage(String text) {
        assertThatThrownBy(() -> SeedList.parse(text))
                .isInstanceOf(UserError.class)
                .hasMessageStartingWith("--seeds is '" + text + "', but must");
    }
}
