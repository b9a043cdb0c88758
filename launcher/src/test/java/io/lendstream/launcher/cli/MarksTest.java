package io.lendstream.launcher.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MarksTest {
    @Test
    void alarmsAreRedAndKeepTheirWord() {
        assertThat(Marks.line("ALARM: too late", true)).isEqualTo("\u001b[1;31mALARM\u001b[0m: too late");
        assertThat(Marks.line("ALARM: too late", false)).isEqualTo("ALARM: too late");
    }

    @Test
    void textFromOtherSourcesHasNoCodes() {
        assertThat(Marks.line("service \u001b[2J", false)).doesNotContain("\u001b");
    }
}
