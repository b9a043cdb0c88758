package io.lendstream.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Collection;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class LendstreamMainTest {

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void withoutACommandItShowsThoseThereAre() {
        int code = run();

        assertThat(code).isEqualTo(2);
        assertThat(err.toString()).contains("Usage: lendstream", "demo", "No command given");
    }

    @Test
    void everyCommandsHelpHasUsageAndAnExample() {
        assertThat(leaves(LendstreamMain.commandLine())).isNotEmpty().allSatisfy(command -> {
            String help = command.getUsageMessage(CommandLine.Help.Ansi.OFF);
            assertThat(help).contains("Usage: " + command.getCommandSpec().qualifiedName());
            assertThat(help).contains("Example: " + command.getCommandSpec().qualifiedName());
        });
    }

    @Test
    void anUnknownCommandIsBadUsageInOneLine() {
        int code = run("tops");

        assertThat(code).isEqualTo(2);
        assertThat(err.toString().lines())
                .containsExactly("Unmatched argument at index 0: 'tops'; see lendstream --help.");
    }

    @Test
    void anUnknownOptionIsBadUsageInOneLine() {
        int code = run("demo", "--colour");

        assertThat(code).isEqualTo(2);
        assertThat(err.toString().lines()).containsExactly("Unknown option: '--colour'; see lendstream demo --help.");
    }

    @Test
    void aValueOutOfBoundsIsNamedWithItsBoundAndWayOut() {
        int code = run("topics", "create", "--partitions", "0");

        assertThat(code).isEqualTo(2);
        assertThat(err.toString().lines()).containsExactly("--partitions is 0, but must be at least 1.");
    }

    @Test
    void whereAnErrorComesFromIsShownOnlyWhenAskedFor() {
        run("topics", "create", "--partitions", "0", "--verbose");

        assertThat(err.toString()).contains("at io.lendstream.launcher.");
    }

    private int run(String... args) {
        return LendstreamMain.run(args, new PrintWriter(out), new PrintWriter(err));
    }

    /** Commands that do something, but not services: those show their own help, in their own process. */
    private static Stream<CommandLine> leaves(CommandLine command) {
        Collection<CommandLine> children = command.getSubcommands().values();
        if (!children.isEmpty()) {
            return children.stream().flatMap(LendstreamMainTest::leaves);
        }
        return command.getCommand() instanceof ServiceProcess ? Stream.of() : Stream.of(command);
    }
}
