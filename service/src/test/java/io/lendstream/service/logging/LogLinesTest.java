package io.lendstream.service.logging;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.read.ListAppender;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The configuration that services log with, and hostile names. */
class LogLinesTest {
    private static final String HOSTILE = "x\n2026-01-01T00:00:00Z ERROR Actuator all is lost\u001b[2J\u202e\u0000";

    private final LoggerContext context = new LoggerContext();

    @Test
    void aMessageIsOneLineWhateverTheNamesInIt() throws Exception {
        String line = logged("job {} is refused", HOSTILE);

        assertThat(line)
                .endsWith(
                        " WARN  Test job x\\n2026-01-01T00:00:00Z ERROR Actuator all is lost\\u001b[2J\\u202e\\u0000 is"
                                + " refused" + System.lineSeparator());
        assertThat(line.lines()).hasSize(1);
    }

    @Test
    void everyMessageOfAnExceptionIsOneLine() throws Exception {
        var cause = new IllegalArgumentException(HOSTILE);
        cause.addSuppressed(new IllegalStateException(HOSTILE));
        String lines = logged("refused", new IllegalStateException("about " + HOSTILE, cause));

        assertThat(lines).doesNotContain("\u001b", "\u202e", "\u0000");
        assertThat(lines.lines().filter(line -> line.startsWith("2026-01-01"))).isEmpty();
        assertThat(lines)
                .contains(
                        "java.lang.IllegalStateException: about x\\n2026",
                        "Caused by: java.lang.IllegalArgumentException: x\\n");
    }

    @Test
    void theLevelIsThatOfTheVariable() throws Exception {
        logged("refused", "");

        assertThat(context.getLogger("ROOT").getLevel())
                .hasToString(LogLevel.of(
                        Optional.ofNullable(System.getenv("LENDSTREAM_LOG")).orElse("")));
    }

    private String logged(String message, Object argument) throws Exception {
        var configurator = new JoranConfigurator();
        configurator.setContext(context);
        configurator.doConfigure(LogLinesTest.class.getResource("/logback.xml"));
        var root = context.getLogger("ROOT");
        var events = new ListAppender<ILoggingEvent>();
        events.setContext(context);
        events.start();
        root.addAppender(events);
        Encoder<ILoggingEvent> encoder = ((ConsoleAppender<ILoggingEvent>) root.getAppender("stderr")).getEncoder();
        root.detachAppender("stderr");
        if (argument instanceof Exception exception) {
            context.getLogger("io.lendstream.Test").warn(message, exception);
        } else {
            context.getLogger("io.lendstream.Test").warn(message, argument);
        }
        return new String(encoder.encode(events.list.get(0)), UTF_8);
    }
}
