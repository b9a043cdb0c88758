package io.lendstream.actuator.adoption;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GlobTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "train.py | train.py | true",
                "train.py | trainxpy | false",
                "train.py | python train.py | false",
                "*train.py | python train.py | true",
                "*train.py* | python train.py --x | true",
                "a*a | a | false",
                "a*a | aa | true",
                "a*b*c | a-b-c | true",
                "a*b*c | a-c-b | false",
                "a*bc*c | abc | false",
                "** | anything | true",
                "[a-z]?.* | [a-z]?.x | true",
                "[a-z]* | x | false",
            })
    void onlyTheStarStandsForOtherText(String pattern, String text, boolean matches) {
        assertThat(new Glob(pattern).matches(text)).isEqualTo(matches);
    }

    @Test
    void manyStarsTakeNoLongTime() {
        var glob = new Glob("*a".repeat(1000) + "*b*");

        Assertions.assertTimeout(
                Duration.ofSeconds(2),
                () -> assertThat(glob.matches("a".repeat(200_000))).isFalse());
    }
}
