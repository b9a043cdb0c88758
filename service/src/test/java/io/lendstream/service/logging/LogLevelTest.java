package io.lendstream.service.logging;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LogLevelTest {
    @Test
    void aLevelIsTakenInAnyCase() {
        assertThat(LogLevel.of("WARN")).isEqualTo("WARN");
        assertThat(LogLevel.of(" debug ")).isEqualTo("DEBUG");
        assertThat(LogLevel.warning("debug")).isEmpty();
    }

    @Test
    void withoutALevelItIsInfo() {
        assertThat(LogLevel.of("")).isEqualTo("INFO");
        assertThat(LogLevel.warning("")).isEmpty();
    }

    @Test
    void anUnknownLevelIsInfoWithAWarning() {
        assertThat(LogLevel.of("blah")).isEqualTo("INFO");
        assertThat(LogLevel.warning("blah"))
                .contains("LENDSTREAM_LOG is 'blah', but must be one of OFF, ERROR, WARN, INFO, DEBUG, TRACE, ALL; the"
                        + " level is INFO.");
    }
}
