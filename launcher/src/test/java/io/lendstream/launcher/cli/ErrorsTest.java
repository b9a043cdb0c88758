package io.lendstream.launcher.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;

class ErrorsTest {
    private static final String HOSTILE = "node\u001b[2J\u009b1A\u0007 \u202egnp\uFEFF";

    @Command(name = "failing")
    private static final class Failing implements Runnable {
        @Override
        public void run() {
            throw new IllegalStateException(HOSTILE, new IllegalArgumentException("cause of " + HOSTILE));
        }
    }

    @Test
    void namesInAnErrorAndInItsStackTraceAreText() {
        StringWriter terminal = new StringWriter();

        new CommandLine(new Failing())
                .setErr(new PrintWriter(terminal))
                .setExecutionExceptionHandler(new Errors(() -> true))
                .execute();

        assertThat(terminal.toString())
                .contains("IllegalStateException: node\\u001b[2J\\u009b1A", "Caused by: ", "cause of node\\u001b[2J")
                .contains("\tat " + Failing.class.getName())
                .doesNotContain("\u001b", "\u009b", "\u0007", "\u202e", "\uFEFF");
    }
}
