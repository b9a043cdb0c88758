package io.lendstream.service.fake;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.service.ServiceCommand;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** The help of a service's command: what the service does, then its usage, then its options and an example. */
public final class HelpPage {
    private HelpPage() {}

    /** Checks the help of one service. */
    public static void mustBeginWith(String description, ServiceCommand command) {
        String help = of(command);

        assertThat(help).startsWith(description);
        assertThat(help)
                .containsSubsequence(
                        ".\n\nUsage: lendstream ",
                        " [OPTIONS]",
                        "\nOptions:\n",
                        "--bootstrap-server",
                        "Example",
                        "lendstream ");
    }

    private static String of(ServiceCommand command) {
        PrintStream stdout = System.out;
        var printed = new ByteArrayOutputStream();
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            assertThat(ServiceCommand.execute(command, "--help")).isZero();
        } finally {
            System.setOut(stdout);
        }
        return printed.toString(StandardCharsets.UTF_8);
    }
}
