package io.lendstream.service.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class NearestTest {
    private static final List<String> KNOWN = List.of("demo", "doctor", "freeze", "thaw", "top", "topics");

    @Test
    void continuationsComeBeforeNamesWithFewLettersChanged() {
        assertThat(Nearest.all("to", KNOWN, 3)).startsWith("top", "topics");
        assertThat(Nearest.all("tops", KNOWN, 3)).containsExactly("top", "topics");
        assertThat(Nearest.all("tops", KNOWN, 1)).containsExactly("top");
    }

    @Test
    void aNameThatIsFarFromAllHasNone() {
        assertThat(Nearest.all("frob", KNOWN, 3)).isEmpty();
        assertThat(Nearest.to("frob", KNOWN)).isEmpty();
    }
}
