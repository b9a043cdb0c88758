package io.lendstream.core.id;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class KindIdTest {
    private static final Pattern MEMORY = Pattern.compile("(\\d{1,5})-?GB", Pattern.CASE_INSENSITIVE);
    private static final String LETTERS = "018-GgBbx";

    @Test
    void theMemoryIsThatOfTheLastNumberOfGib() {
        assertThat(new KindId("A100-SXM4-80GB").memoryBytes()).contains(80L << 30);
        assertThat(new KindId("H100-80-gb-HBM3").memoryBytes()).contains(80L << 30);
        assertThat(new KindId("40GB-or-80GB").memoryBytes()).contains(80L << 30);
        assertThat(new KindId("L4").memoryBytes()).isEmpty();
        assertThat(new KindId("GB200").memoryBytes()).isEmpty();
    }

    @Test
    void allNamesAreReadAsByAPattern() {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 20_000; i++) {
            StringBuilder name = new StringBuilder("k");
            for (int length = random.nextInt(12); length > 0; length--) {
                name.append(LETTERS.charAt(random.nextInt(LETTERS.length())));
            }
            name.append('k');
            assertThat(new KindId(name.toString()).memoryBytes())
                    .as(name.toString())
                    .isEqualTo(byPattern(name.toString()));
        }
    }

    private static Optional<Long> byPattern(String name) {
        Optional<Long> bytes = Optional.empty();
        Matcher memory = MEMORY.matcher(name);
        while (memory.find()) {
            bytes = Optional.of(Long.parseLong(memory.group(1)) << 30);
        }
        return bytes;
    }
}
