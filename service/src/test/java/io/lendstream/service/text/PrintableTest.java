package io.lendstream.service.text;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PrintableTest {
    @ParameterizedTest
    @ValueSource(strings = {"", "chat", "a\tb", "Größe 3 °C → ☃", "\uD83D\uDE80 50 %s \\n"})
    void ordinaryTextStaysAsItIs(String text) {
        assertThat(Printable.line(text)).isEqualTo(text);
    }

    @Test
    void theFirstLineIsTheFirstWithText() {
        assertThat(Printable.firstLine("\n  first \r\nsecond")).isEqualTo("first");
        assertThat(Printable.firstLine("only")).isEqualTo("only");
        assertThat(Printable.firstLine(" \n ")).isEqualTo(" \n ");
        assertThat(Printable.firstLine("")).isEmpty();
    }

    @Test
    void whatATerminalWouldObeyIsShown() {
        assertThat(Printable.line("a\nb\r\nc")).isEqualTo("a\\nb\\r\\nc");
        assertThat(Printable.line("\u001b[2Jgone\u0000")).isEqualTo("\\u001b[2Jgone\\u0000");
        assertThat(Printable.line("\u009b31m\u007f\u0085")).isEqualTo("\\u009b31m\\u007f\\u0085");
        assertThat(Printable.line("\u202Egnp.exe\u2066\u200e")).isEqualTo("\\u202egnp.exe\\u2066\\u200e");
        assertThat(Printable.line("a\u2028b\u2029c\uFEFF")).isEqualTo("a\\u2028b\\u2029c\\ufeff");
        assertThat(Printable.line("\uD800x")).isEqualTo("\\ud800x");
        assertThat(Printable.line("\uDB40\uDC41")).isEqualTo("\\u{e0041}");
    }
}
